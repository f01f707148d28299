//! The preview of a simulation (SPEC §2). Makes no copy and runs nothing; the changes of edits and steps are
//! computed as if they were made in the workspace.

use std::collections::BTreeMap;

use crate::plan::{Edit, MutateBatch, Simulation, ToolCall, VerifyScope};
use crate::run::{Predicted, Preview, text};
use crate::tools::{ProjectedToolbox, ToolError, batch, program};
use crate::workspace::Overlay;

/// The preview of a simulation.
///
/// # Errors
/// A fault of the plan itself, a function that cannot be run, a file that cannot be read, or a stop.
pub(in super::super) fn preview(
    projected: ProjectedToolbox<'_>,
    simulation: &Simulation,
) -> Result<Preview, ToolError> {
    let (mut preview, after) = match simulation {
        Simulation::Edits { edits, .. } => preview_edits(projected, edits)?,
        Simulation::Steps { steps, .. } => preview_steps(projected, steps)?,
        Simulation::Function { function, inputs, trace_enabled } => (
            preview_function(projected, function, inputs, *trace_enabled)?,
            projected.overlay.clone(),
        ),
    };
    if preview.would_fail() {
        return Ok(preview);
    }
    let verify = match simulation {
        Simulation::Edits { verify, .. } | Simulation::Steps { verify, .. } => *verify,
        Simulation::Function { .. } => None,
    };
    match verify.map(|scope| verification(projected.after(&after), scope)).transpose()? {
        Some(verification) if verification.would_fail() => {
            return Ok(Preview { changes: preview.changes, ..verification });
        }
        Some(verification) => {
            let runs = verification.summary.trim_end_matches('.');
            let runs = runs.strip_suffix(" in the workspace folder").unwrap_or(runs);
            preview.summary = format!("{}, and {} there.", preview.summary, lowercase_first(runs));
            preview.predicted = preview.predicted.max(Predicted::Partial);
            preview.notes.extend(verification.notes);
        }
        None => preview.summary.push('.'),
    }
    let limits = projected.toolbox.simulations.limits;
    preview.notes.push(format!(
        "The copy has the files that git does not ignore and those that the plan names, without .git; at most {} \
         files and folders, {} and {}. It is removed afterwards.",
        limits.names,
        text::size(limits.bytes),
        text::duration(limits.time),
    ));
    if simulation.runs_code() {
        preview.notes.push(
            "Nothing of the target folder is used: everything is built from scratch beside the copy, which takes \
             as long as a first build."
                .to_owned(),
        );
    }
    Ok(preview)
}

fn lowercase_first(sentence: &str) -> String {
    let mut chars = sentence.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_lowercase).collect();
    format!("{first}{}", chars.as_str())
}

/// The preview of the verification.
fn verification(projected: ProjectedToolbox<'_>, scope: VerifyScope) -> Result<Preview, ToolError> {
    Ok(projected.preview_with_effects(&ToolCall::Verify { scope })?.0)
}

/// The edits as a batch without expected hashes.
pub(super) fn as_batch(edits: &[Edit]) -> MutateBatch {
    MutateBatch { edits: edits.to_vec(), expected_hashes: BTreeMap::new(), dry_run: false }
}

/// The preview of the edits, and the overlay after them.
fn preview_edits(
    projected: ProjectedToolbox<'_>,
    edits: &[Edit],
) -> Result<(Preview, Overlay), ToolError> {
    let mut edits = MutateBatch { dry_run: true, ..as_batch(edits) };
    let (preview, _) = batch::preview(projected, &edits)?;
    let mut after = projected.overlay.clone();
    if preview.would_fail() {
        return Ok((preview, after));
    }
    edits.dry_run = false;
    projected.toolbox.project(&ToolCall::MutateBatch(edits), &mut after)?;
    let summary = match preview.changes.len() {
        0 => "Tries edits on a copy of the workspace, which change nothing".to_owned(),
        1 => "Tries the change of 1 file on a copy of the workspace".to_owned(),
        count => format!("Tries the changes of {count} files on a copy of the workspace"),
    };
    Ok((Preview { summary, ..preview }, after))
}

/// The preview of the steps, and the overlay after them.
fn preview_steps(
    projected: ProjectedToolbox<'_>,
    steps: &[ToolCall],
) -> Result<(Preview, Overlay), ToolError> {
    let mut after = projected.overlay.clone();
    let mut predicted = Predicted::Exact;
    let mut notes = Vec::new();
    let mut failure = None;
    for (index, step) in steps.iter().enumerate() {
        let (preview, _) = projected.after(&after).preview_with_effects(step)?;
        notes.push(format!("Step {}, {}: {}", index + 1, step.tool().name(), preview.summary));
        if let Some(why) = preview.why_it_fails() {
            let why = why.trim_end_matches('.');
            let why = format!("step {} ({}): {why}", index + 1, step.tool().name());
            failure = Some(Preview::failure(why, Vec::new()));
            break;
        }
        // Of the tools that a simulation allows, only a check is unpredictable, and it edits no source file. So the
        // preview is at worst partial.
        predicted = match preview.predicted {
            Predicted::Exact => predicted,
            _ => Predicted::Partial,
        };
        projected.toolbox.project(step, &mut after)?;
    }
    let mut changes = projected.toolbox.projected(&after).changes_since(projected.overlay)?;
    changes.retain(|change| change.before != change.after);
    let count = match steps.len() {
        1 => "1 step".to_owned(),
        count => format!("{count} steps"),
    };
    let preview = failure.unwrap_or_else(|| {
        let summary = format!("Runs {count} on a copy of the workspace");
        Preview::exact(summary, Vec::new(), Vec::new())
    });
    Ok((Preview { predicted, changes, notes, ..preview }, after))
}

fn preview_function(
    projected: ProjectedToolbox<'_>,
    function: &str,
    inputs: &[String],
    traces: bool,
) -> Result<Preview, ToolError> {
    let call = program::function_call(function, inputs, traces);
    let run = program::preview(projected, &call)?;
    let mut notes = vec![format!(
        "Where there is no binary or example of this name, the test of this name is run: `{}`.",
        program::test_command_line(function, inputs)
    )];
    notes.extend(run.notes);
    if traces {
        notes.push("RUST_BACKTRACE=full is set.".to_owned());
    }
    let summary = format!("Builds {function} on a copy of the workspace and runs it there");
    Ok(Preview::unpredictable(summary, notes))
}
