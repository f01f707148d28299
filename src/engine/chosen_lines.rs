//! Chooses lines of what a step would change (SPEC §13 *Revisions*), and writes the choice back in the form of the step.
//! Read-only.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::history_source::open_tools;
use crate::authorization::FileState;
use crate::evidence::EvidenceLocation;
use crate::plan::{Edit, MutateBatch, RevisionError, ShownPlan, ToolCall, edits_text};
use crate::risk::Policy;
use crate::run::{DeselectedLines, FileChange, FileEffect, StopSignal};
use crate::tools::{ToolError, Toolbox};
use crate::workspace::Overlay;

/// The lines of one file that a person does not want.
#[derive(Debug, Clone)]
pub struct ChosenLines {
    /// The change as the person saw it.
    pub shown: FileChange,
    /// The lines that are not wanted.
    pub deselected: DeselectedLines,
}

/// What becomes of a step of which lines were chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChosenStep {
    /// This argument gets another value: a text, or JSON for a list of edits.
    Argument(&'static str, String),
    /// Nothing of it is wanted.
    LeftOut,
}

/// Chooses lines of what a step would change after the steps before it.
///
/// # Errors
/// The workspace cannot be read, or after a stop; and where the choice cannot be said by such a step: then nothing is
/// guessed.
pub fn choose_lines(
    plan: &ShownPlan,
    workspace: &Path,
    policy: &Policy,
    evidence: Option<&EvidenceLocation>,
    step_index: usize,
    chosen: &[ChosenLines],
    stop: &Arc<StopSignal>,
) -> Result<ChosenStep, ToolError> {
    let toolbox = open_tools(workspace, policy, evidence, stop)?;
    let mut overlay = Overlay::default();
    for step in plan.steps.iter().take(step_index) {
        toolbox.check_cancelled()?;
        if let Some(call) = &step.call {
            // An error of an earlier step is shown with that step.
            let _ = toolbox.project(call, &mut overlay);
        }
    }
    let no_lines = |why| RevisionError::NoLines { number: step_index + 1, why };
    let call = plan.steps.get(step_index).and_then(|step| step.call.as_ref());
    let call = as_change(call.ok_or_else(|| no_lines("the step has errors"))?);
    let effects = effects_of(&toolbox, &overlay, &call)?;
    let mut wanted = BTreeMap::new();
    for choice in chosen.iter().filter(|it| !it.deselected.is_empty()) {
        let (path, text) = wanted_text(choice, &effects)?;
        wanted.insert(path, text);
    }
    if wanted.is_empty() {
        return Err(no_lines("no line was deselected").into());
    }
    let (result, new_call) = match &call {
        ToolCall::FileWrite { path, .. } | ToolCall::FileCreate { path, .. } => {
            let (_, text) = wanted.iter().next().ok_or_else(|| no_lines("it changes no file"))?;
            let before = effects.first().and_then(|it| it.before_bytes.as_deref());
            if text.as_bytes() == before.unwrap_or_default() {
                return Ok(ChosenStep::LeftOut);
            }
            let (path, contents) = (path.clone(), text.clone());
            let new_call = match &call {
                ToolCall::FileCreate { .. } => ToolCall::FileCreate { path, contents },
                _ => ToolCall::FileWrite { path, contents },
            };
            (ChosenStep::Argument("contents", text.clone()), new_call)
        }
        ToolCall::MutateBatch(batch) => {
            let changes = changed_edits(&toolbox, batch, &effects, &wanted)?;
            let left = |(index, edit): (usize, &Edit)| match changes.get(&index) {
                None => Some(edit.clone()),
                Some(other) => other.clone(),
            };
            let edits: Vec<Edit> = batch.edits.iter().enumerate().filter_map(left).collect();
            if edits.is_empty() {
                return Ok(ChosenStep::LeftOut);
            }
            let text = edits_text(plan, step_index_in_file(plan, step_index), &changes)?;
            let batch = MutateBatch { edits, ..batch.clone() };
            (ChosenStep::Argument("edits", text), ToolCall::MutateBatch(batch))
        }
        _ => {
            return Err(
                no_lines("it is done as a whole: leave it out, or change its arguments").into()
            );
        }
    };
    is_as_wanted(&effects_of(&toolbox, &overlay, &new_call)?, &effects, &wanted)?;
    Ok(result)
}

/// The index by which a revision knows a step.
fn step_index_in_file(plan: &ShownPlan, position: usize) -> usize {
    plan.steps.get(position).map_or(position, |step| step.step_index)
}

/// The call with the effects that the person sees: a dry run as if it were none.
fn as_change(call: &ToolCall) -> ToolCall {
    match call {
        ToolCall::MutateBatch(batch) => {
            ToolCall::MutateBatch(MutateBatch { dry_run: false, ..batch.clone() })
        }
        other => other.clone(),
    }
}

fn effects_of(
    toolbox: &Toolbox,
    overlay: &Overlay,
    call: &ToolCall,
) -> Result<Vec<FileEffect>, ToolError> {
    let (_, effects) = toolbox.after(overlay).preview_with_effects(call)?;
    Ok(effects)
}

fn lines_error(file: &str, why: impl ToString) -> ToolError {
    RevisionError::Lines { file: file.to_owned(), why: why.to_string() }.into()
}

/// The file of a choice, and the content that it is to get.
fn wanted_text(
    choice: &ChosenLines,
    effects: &[FileEffect],
) -> Result<(String, String), ToolError> {
    let ChosenLines { shown, deselected } = choice;
    let failed = |why: &dyn ToString| lines_error(&shown.path, why.to_string());
    let effect = effects.iter().find(|effect| effect.path == shown.path);
    let effect = effect
        .filter(|effect| effect.before == shown.before && effect.after == shown.after)
        .ok_or_else(|| failed(&"it has changed since it was shown; look at the step again"))?;
    let [before, after] = [&effect.before_bytes, &effect.after_bytes]
        .map(|bytes| std::str::from_utf8(bytes.as_deref().unwrap_or_default()));
    let (Ok(before), Ok(after)) = (before, after) else {
        return Err(failed(&"it is no text, so that it has no lines to choose from"));
    };
    let whole = DeselectedLines::default().apply(before, &shown.diff);
    if whole.map_err(|error| failed(&error))? != after {
        return Err(failed(&"it has changed since it was shown; look at the step again"));
    }
    let text = deselected.apply(before, &shown.diff).map_err(|error| failed(&error))?;
    if effect.after == FileState::Absent && !text.is_empty() && text != before {
        return Err(failed(&"a file is deleted as a whole or not at all"));
    }
    Ok((shown.path.clone(), text))
}

/// The edits of a batch that change, and those that are left out, so that the files get these contents.
fn changed_edits(
    toolbox: &Toolbox,
    batch: &MutateBatch,
    effects: &[FileEffect],
    wanted: &BTreeMap<String, String>,
) -> Result<BTreeMap<usize, Option<Edit>>, ToolError> {
    let mut changes = BTreeMap::new();
    for (file, text) in wanted {
        let is_about = |edit: &Edit| {
            edit.paths().any(|path| toolbox.key_of(path).is_ok_and(|key| key == *file))
        };
        let edits: Vec<(usize, &Edit)> =
            batch.edits.iter().enumerate().filter(|(_, edit)| is_about(edit)).collect();
        let effect = effects.iter().find(|effect| effect.path == *file);
        let before = effect.and_then(|effect| effect.before_bytes.as_deref());
        let before = before.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let (Some((first, edit)), rest) = (edits.first(), edits.get(1..).unwrap_or_default())
        else {
            return Err(lines_error(file, "no edit of the step names it"));
        };
        let is_whole = |(_, edit): &&(usize, &Edit)| {
            matches!(edit, Edit::Rename { .. } | Edit::Delete { .. } | Edit::Splice { .. })
        };
        let is_unchanged =
            *text == before.clone().unwrap_or_default() && (before.is_some() || text.is_empty());
        if is_unchanged {
            // A rename also concerns the file with its other name.
            if let Some((_, edit)) =
                edits.iter().find(|(_, edit)| matches!(edit, Edit::Rename { .. }))
            {
                return Err(whole(file, edit));
            }
            changes.extend(edits.iter().map(|(index, _)| (*index, None)));
            continue;
        }
        if let Some((_, edit)) = edits.iter().find(is_whole) {
            return Err(whole(file, edit));
        }
        let path = edit.paths().next().unwrap_or_default().to_owned();
        let new = match (&before, edit) {
            (_, Edit::Write { .. }) => Edit::Write { path, contents: text.clone() },
            (None, _) => Edit::Create { path, contents: text.clone() },
            (Some(before), _) => Edit::patch(&path, before, text),
        };
        changes.insert(*first, Some(new));
        changes.extend(rest.iter().map(|(index, _)| (*index, None)));
    }
    Ok(changes)
}

fn whole(file: &str, edit: &Edit) -> ToolError {
    lines_error(file, format!("its {} is done as a whole: change the edits instead", edit.op()))
}

/// Checks that the new step would do exactly what was chosen.
fn is_as_wanted(
    new: &[FileEffect],
    old: &[FileEffect],
    wanted: &BTreeMap<String, String>,
) -> Result<(), ToolError> {
    let after = |path: &str| {
        let effect = new.iter().find(|effect| effect.path == path);
        match effect {
            Some(effect) => effect.after_bytes.as_deref(),
            // A file without an effect stays as it is.
            None => old.iter().find(|it| it.path == path).and_then(|it| it.before_bytes.as_deref()),
        }
    };
    let differs = |effect: &&FileEffect| {
        let now = after(&effect.path);
        match wanted.get(&effect.path) {
            Some(text) => now.unwrap_or_default() != text.as_bytes(),
            None => now != effect.after_bytes.as_deref(),
        }
    };
    let is_new = |effect: &&FileEffect| old.iter().all(|it| it.path != effect.path);
    match old.iter().find(differs).or_else(|| new.iter().find(is_new)) {
        Some(effect) => {
            Err(lines_error(&effect.path, "an edit of this kind cannot say what you chose"))
        }
        None => Ok(()),
    }
}
