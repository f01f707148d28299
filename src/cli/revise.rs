//! `revise`: prints a plan with other arguments, without some steps, or with a part of what its steps change. Nothing is
//! run, and nothing but the plan is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::documents::finding_line;
use super::inputs::{Ask, twice};
use super::opening::{ReadPlan, evidence_location, policy};
use super::output::{Output, quoted_in_line, say};
use super::refusal::Refusal;
use super::{Exit, args};
use crate::engine::{ChosenLines, ChosenStep, choose_lines, preview_step};
use crate::evidence::EvidenceLocation;
use crate::plan::{
    Digest, Finding, RevisedPart, Revision, RevisionError, ShownPlan, ShownStep, StepPlace, limits,
    parse, quoted,
};
use crate::risk::{Policy, is_at_or_below};
use crate::run::{DeselectedLines, ErrorInfo as _, hunks};
use crate::tools::Toolbox;

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    base_digest: Digest,
    digest: Digest,
    plan: Option<Value>,
    changes: &'a [RevisedPart],
    /// The ids of steps that were left out because they need one that was.
    also_left_out: &'a [String],
    difference: &'a str,
    findings: &'a [Finding],
}

/// Prints the revised plan, which can be checked and run like any other, and on stderr what differs.
pub(super) fn revise(command: &args::Revise, out: &mut Output) -> Result<Exit, Refusal> {
    let folder = command.workspace.workspace.as_deref();
    let as_it_is = (&args::Inputs::default(), Ask::AsGiven);
    let read = ReadPlan::file(&command.plan, folder, &args::CommandChoices::default(), as_it_is)?;
    let workspace = read.folder().to_owned();
    let base = match read.into_plan() {
        Ok(plan) => plan,
        Err(findings) => return Err(Refusal::invalid_plan(findings)),
    };
    let mut revision = Revision::default();
    let mut leave_out = BTreeSet::new();
    let mut named = Named::default();
    if !command.hunks.is_empty() {
        let (policy, evidence) = (policy()?, evidence_location(&command.common.folder).ok());
        let files = Files { workspace: &workspace, policy: &policy, evidence: evidence.as_ref() };
        for text in &command.hunks {
            let id = text.rsplit_once('=').map_or(text.as_str(), |(id, _)| id);
            if let Some(step) = step(&base, id)? {
                named.whole(step, text)?;
                named.0.insert((step, String::new()));
            }
            files.choose(&base, text, &mut revision, &mut leave_out)?;
        }
    }
    let mut given = BTreeMap::new();
    for it in &command.input {
        if given.insert(it.name.clone(), it.value.clone()).is_some() {
            return Err(twice("--input", &it.name));
        }
    }
    revision.fill_in(&base, &given).map_err(refused)?;
    for text in &command.set {
        let (step, name, value) = argument_value(&base, text, "--set")?;
        named.argument(step, name, text)?;
        revision.set_argument(&base, step, name, Some(value)).map_err(refused)?;
    }
    for text in &command.set_file {
        let (step, name, file) = argument_value(&base, text, "--set-file")?;
        named.argument(step, name, text)?;
        let value = text_of(file)?;
        revision.set_argument(&base, step, name, Some(&value)).map_err(refused)?;
    }
    for text in &command.unset {
        let (step, name) = step_and_rest(&base, text)?.ok_or_else(|| unknown_step(text))?;
        named.argument(step, name, text)?;
        revision.set_argument(&base, step, name, None).map_err(refused)?;
    }
    for text in &command.leave_out {
        let step = step(&base, text)?.ok_or_else(|| unknown_step(text))?;
        named.whole(step, text)?;
        leave_out.insert(step);
    }
    let more = match leave_out.is_empty() {
        true => Vec::new(),
        false => revision.leave_out(&base, &leave_out).map_err(refused)?,
    };
    let revised = revision.apply(&base).map_err(refused)?;
    let parts = revision.parts(&base).map_err(refused)?;
    let parsed = parse(&revised);
    let is_valid = parsed.is_valid();
    let id = |index: usize| {
        base.steps.iter().find(|it| it.step_index == index).map(|it| it.step_id.clone())
    };
    let also_left_out: Vec<String> = more.iter().filter_map(|it| id(it.step)).collect();
    if let Some(file) = &command.out {
        let (policy, evidence) = (policy()?, evidence_location(&command.common.folder).ok());
        write_new(file, &revised, &policy, evidence.as_ref())?;
    }
    let difference = Revision::text_difference(&base.source, &revised);
    if out.json() {
        out.document(&Document {
            base_digest: base.digest,
            digest: parsed.digest,
            plan: serde_json::from_slice(&revised).ok(),
            changes: &parts,
            also_left_out: &also_left_out,
            difference: &difference,
            findings: &parsed.findings,
        });
    } else {
        for part in &parts {
            say(&quoted_in_line(&format!("{}.", part.sentence())));
        }
        for id in &also_left_out {
            say(&quoted_in_line(&format!("{id} is left out, too: it needs a step that is.")));
        }
        if parts.is_empty() {
            say("Nothing differs.");
        }
        difference.lines().for_each(|line| say(&quoted(line)));
        parsed.findings.iter().for_each(|finding| say(&finding_line(finding)));
        if command.out.is_none() {
            out.plan(&revised);
        }
    }
    Ok(if is_valid { Exit::Done } else { Exit::InvalidPlan })
}

/// The steps and arguments that flags have named, so that none of two requests about one is dropped. A step whose hunks
/// are chosen has an entry without a name.
#[derive(Default)]
struct Named(BTreeSet<(usize, String)>);

impl Named {
    fn argument(&mut self, step: usize, name: &str, text: &str) -> Result<(), Refusal> {
        let is_new = self.0.insert((step, name.to_owned()));
        if is_new && !self.0.contains(&(step, String::new())) {
            Ok(())
        } else {
            Err(contradiction(text))
        }
    }

    /// A step that is left out, or whose hunks are chosen.
    fn whole(&mut self, step: usize, text: &str) -> Result<(), Refusal> {
        let is_named = self.0.iter().any(|(other, _)| *other == step);
        if is_named { Err(contradiction(text)) } else { Ok(()) }
    }
}

fn contradiction(text: &str) -> Refusal {
    let message = format!("{text:?} is about an argument or a step that another flag changes");
    Refusal::usage(message, "Name each argument once, and no argument of a step that is left out.")
}

/// The text of a file that becomes an argument.
fn text_of(file: &str) -> Result<String, Refusal> {
    let limit = limits::PLAN_BYTES as u64;
    let unusable = |why: String| {
        Refusal::usage(format!("{file} cannot be an argument: {why}"), "Name another file.")
    };
    let mut text = String::new();
    let read = File::open(file).and_then(|it| it.take(limit + 1).read_to_string(&mut text));
    match read {
        Err(error) => Err(unusable(error.to_string())),
        Ok(_) if text.len() as u64 > limit => {
            Err(unusable("it is larger than a plan may be".to_owned()))
        }
        Ok(_) => Ok(text),
    }
}

fn refused(error: RevisionError) -> Refusal {
    Refusal::usage(error.to_string(), &error.next())
}

fn unknown_step(text: &str) -> Refusal {
    let message = format!("{text:?} names no step of the plan");
    Refusal::usage(message, "Name a step by its id, or by its number from 1, as `check` lists it.")
}

/// The step with this id, else with this number. In a faulty plan several steps may have the id; none of them is meant then.
fn step(plan: &ShownPlan, text: &str) -> Result<Option<usize>, Refusal> {
    let mut by_id = plan.steps.iter().filter(|step| step.step_id == text);
    let first = by_id.next();
    if let (Some(first), Some(second)) = (first, by_id.next()) {
        let place = |step: &ShownStep| match step.place {
            StepPlace::Action(at) => format!("step {} (/actions/{at})", step.step_index + 1),
            StepPlace::Step(at) | StepPlace::Command(at) | StepPlace::Verification(at) => {
                format!("step {} (/steps/{at})", step.step_index + 1)
            }
        };
        let message = format!("{text:?} is the id of {} and of {}", place(first), place(second));
        return Err(Refusal::usage(
            message,
            "Name the step by its number from 1, as `check` lists it.",
        ));
    }
    let number = || text.parse::<usize>().ok()?.checked_sub(1);
    let found = first.or_else(|| plan.steps.get(number()?));
    Ok(found.map(|step| step.step_index))
}

/// The step with which a text begins, and what follows the dot after it. An id may contain dots.
fn step_and_rest<'t>(plan: &ShownPlan, text: &'t str) -> Result<Option<(usize, &'t str)>, Refusal> {
    let by_id = plan.steps.iter().filter_map(|step| {
        let rest = text.strip_prefix(step.step_id.as_str())?.strip_prefix('.')?;
        Some((step.step_id.as_str(), rest))
    });
    let number = || {
        let (number, rest) = text.split_once('.')?;
        let index = number.parse::<usize>().ok()?.checked_sub(1)?;
        Some((plan.steps.get(index)?.step_index, rest))
    };
    match by_id.min_by_key(|(_, rest)| rest.len()) {
        Some((id, rest)) => Ok(step(plan, id)?.map(|step| (step, rest))),
        None => Ok(number()),
    }
}

/// The step, the argument and the value in a text.
fn argument_value<'t>(
    plan: &ShownPlan,
    text: &'t str,
    option: &str,
) -> Result<(usize, &'t str, &'t str), Refusal> {
    let (step, rest) = step_and_rest(plan, text)?.ok_or_else(|| unknown_step(text))?;
    let (name, value) = rest.split_once('=').ok_or_else(|| {
        let message = format!("{option} {text:?} has no `=`");
        Refusal::usage(message, "Write STEP.ARGUMENT=VALUE.")
    })?;
    Ok((step, name, value))
}

/// Writes a file that must not exist, and not in a folder of this program: a plan there could be taken for one of the inbox,
/// or a file for a setting.
fn write_new(
    file: &Path,
    bytes: &[u8],
    policy: &Policy,
    evidence: Option<&EvidenceLocation>,
) -> Result<(), Refusal> {
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(toolbox) = Toolbox::open(folder, policy) {
        let folders = evidence.into_iter().flat_map(EvidenceLocation::folders);
        let toolbox = toolbox.without_folders(folders);
        if toolbox.own_folders().iter().any(|own| {
            let folder = toolbox.workspace().to_string_lossy();
            is_at_or_below(&folder, &own.to_string_lossy())
        }) {
            let message = format!("{} is in a folder of Countersign's own", file.display());
            return Err(Refusal::usage(message, "Name a file in another folder."));
        }
    }
    let written = File::create_new(file).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| {
        let message = format!("{} cannot be written: {error}", file.display());
        Refusal::usage(message, "Name a file that does not exist, in a folder that does.")
    })
}

/// The files that the steps of a plan change.
struct Files<'a> {
    workspace: &'a Path,
    policy: &'a Policy,
    evidence: Option<&'a EvidenceLocation>,
}

impl Files<'_> {
    /// Keeps only the named hunks of a step.
    fn choose(
        &self,
        plan: &ShownPlan,
        text: &str,
        revision: &mut Revision,
        leave_out: &mut BTreeSet<usize>,
    ) -> Result<(), Refusal> {
        let (id, numbers) = text.rsplit_once('=').ok_or_else(|| {
            Refusal::usage(format!("--hunks {text:?} has no `=`"), "Write STEP=1,3.")
        })?;
        let index = step(plan, id)?.ok_or_else(|| unknown_step(id))?;
        let wrong =
            |why: &str| Refusal::usage(format!("--hunks {text:?} {why}"), "Write STEP=1,3.");
        let mut kept = BTreeSet::new();
        for number in numbers.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            let hunk = number.parse::<usize>().ok().filter(|it| *it > 0);
            if !kept.insert(hunk.ok_or_else(|| wrong("does not name hunks by numbers"))?) {
                return Err(wrong(&format!("names hunk {number} twice")));
            }
        }
        let position = plan.steps.iter().position(|step| step.step_index == index);
        let position = position.unwrap_or(index);
        let Self { workspace, policy, evidence } = self;
        let stop = Arc::default();
        let preview = preview_step(plan, workspace, policy, *evidence, position, &stop)?;
        let mut first = 1;
        let mut chosen = Vec::new();
        for shown in preview.changes {
            let count = hunks(&shown.diff).count();
            let here = (0..count).filter(|hunk| kept.contains(&(first + hunk))).collect();
            let deselected = DeselectedLines::except_hunks(&shown.diff, &here);
            first += count;
            chosen.push(ChosenLines { shown, deselected });
        }
        if let Some(hunk) = kept.iter().find(|hunk| **hunk >= first) {
            let message = format!("step {id} has {} hunks, and no hunk {hunk}", first - 1);
            return Err(Refusal::usage(message, "See the hunks with `simulate`."));
        }
        if chosen.iter().all(|choice| choice.deselected.is_empty()) && first > 1 {
            return Ok(());
        }
        match choose_lines(plan, workspace, policy, *evidence, position, &chosen, &stop)? {
            ChosenStep::LeftOut => drop(leave_out.insert(index)),
            ChosenStep::Argument(name, text) => {
                revision.set_argument(plan, index, name, Some(&text)).map_err(refused)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_named_by_ids_with_dots_or_by_numbers() {
        let text = r#"{"plan_id": "p", "intent": "READ", "steps": [
            {"step_id": "a", "tool": "file_read", "arguments": {"path": "x"}},
            {"step_id": "a.b", "tool": "file_read", "arguments": {"path": "x"}},
            {"step_id": "1", "tool": "file_read", "arguments": {"path": "x"}}
        ]}"#;
        let plan = parse(text.as_bytes()).into_shown().unwrap();
        for (text, expected) in [
            ("a.path=1=2", Some((0, "path", "1=2"))),
            ("a.b.path=", Some((1, "path", ""))),
            ("1.path=x.y", Some((2, "path", "x.y"))),
            ("2.path=x", Some((1, "path", "x"))),
            ("4.path=x", None),
            ("0.path=x", None),
            ("b.path=x", None),
            ("a.path", None),
        ] {
            assert_eq!(argument_value(&plan, text, "--set").ok(), expected, "{text}");
        }
        let named = ["a", "a.b", "1", "3", "4", ""].map(|text| step(&plan, text).ok().flatten());
        assert_eq!(named, [Some(0), Some(1), Some(2), Some(2), None, None]);
    }
}
