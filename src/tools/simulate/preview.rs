//! What a simulation would do, for the person who decides (SPEC §2). No copy is made for it and nothing is
//! run; what edits and steps would make of the files is computed as for the workspace itself.

use crate::plan::{Edit, MutateBatch, Simulation, ToolCall, VerifyScope};
use crate::run::{FileChange, Predicted, Preview};

use super::super::place::Last;
use super::super::{
    Access, Overlay, StopSignal, ToolError, Toolbox, batch, diff, file, preview as previews,
    program, words,
};

/// The preview.
///
/// # Errors
/// A path that cannot be used or leads outside; a stop.
pub(in super::super) fn preview(
    toolbox: &Toolbox,
    simulation: &Simulation,
    overlay: &Overlay,
    stop: &StopSignal,
) -> Result<Preview, ToolError> {
    let (mut preview, left) = match simulation {
        Simulation::Edits { edits, .. } => of_edits(toolbox, edits, overlay, stop)?,
        Simulation::Steps { steps, .. } => of_steps(toolbox, steps, overlay, stop)?,
        Simulation::Function { function, inputs, trace_enabled } => {
            (of_function(toolbox, overlay, function, inputs, *trace_enabled)?, overlay.clone())
        }
    };
    if preview.would_fail() {
        return Ok(preview);
    }
    let verify = match simulation {
        Simulation::Edits { verify, .. } | Simulation::Steps { verify, .. } => *verify,
        Simulation::Function { .. } => None,
    };
    match verify.map(|scope| verified(toolbox, &left, scope)).transpose()? {
        Some(verified) if verified.would_fail() => {
            return Ok(Preview { changes: preview.changes, ..verified });
        }
        Some(verified) => {
            let runs = verified.summary.trim_end_matches('.');
            let runs = runs.strip_suffix(" in the workspace folder").unwrap_or(runs);
            preview.summary = format!("{}, and {} there.", preview.summary, lower(runs));
            preview.predicted = preview.predicted.max_doubt(Predicted::Partial);
            preview.notes.extend(verified.notes);
        }
        None => preview.summary.push('.'),
    }
    let limits = toolbox.simulations.limits;
    preview.notes.push(format!(
        "The copy has the files that git would know and those that the plan names, without .git; at most {} files and folders, {} and {}. It is removed afterwards.",
        limits.names,
        words::size(limits.bytes),
        words::duration(limits.time),
    ));
    if simulation.runs_code() {
        preview.notes.push(
            "Nothing of the target folder is used: everything is built anew beside the copy, which takes as long as a first build."
                .to_owned(),
        );
    }
    Ok(preview)
}

fn lower(sentence: &str) -> String {
    let mut chars = sentence.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_lowercase).collect();
    format!("{first}{}", chars.as_str())
}

/// What the verification would run, where the copy is as `left` says.
fn verified(toolbox: &Toolbox, left: &Overlay, scope: VerifyScope) -> Result<Preview, ToolError> {
    match program::preview(toolbox, left, &ToolCall::Verify { scope }) {
        Err(error) if !error.is_about_the_plan() => Ok(Preview {
            predicted: Predicted::Exact,
            summary: format!("{}{error}.", Preview::WOULD_FAIL),
            changes: Vec::new(),
            notes: vec![error.next()],
        }),
        verified => verified,
    }
}

fn of_edits(
    toolbox: &Toolbox,
    edits: &[Edit],
    overlay: &Overlay,
    stop: &StopSignal,
) -> Result<(Preview, Overlay), ToolError> {
    let mut batch = MutateBatch {
        edits: edits.to_vec(),
        expected_hashes: std::collections::BTreeMap::new(),
        dry_run: true,
    };
    let (preview, _) = batch::foresee(toolbox, &batch, overlay, stop)?;
    let mut left = overlay.clone();
    if preview.would_fail() {
        return Ok((preview, left));
    }
    batch.dry_run = false;
    left.apply(toolbox, &ToolCall::MutateBatch(batch))?;
    let summary = match preview.changes.len() {
        0 => "Tries edits on a copy of the workspace, which change nothing".to_owned(),
        1 => "Tries the change of 1 file on a copy of the workspace".to_owned(),
        count => format!("Tries the changes of {count} files on a copy of the workspace"),
    };
    Ok((Preview { summary, ..preview }, left))
}

fn of_steps(
    toolbox: &Toolbox,
    steps: &[ToolCall],
    overlay: &Overlay,
    stop: &StopSignal,
) -> Result<(Preview, Overlay), ToolError> {
    let mut left = overlay.clone();
    let mut predicted = Predicted::Exact;
    let mut notes = Vec::new();
    let mut fails = None;
    for (index, step) in steps.iter().enumerate() {
        let (preview, _) = previews::foresee(toolbox, step, &left, stop)?;
        notes.push(format!("Step {}, {}: {}", index + 1, step.tool().name(), preview.summary));
        if preview.would_fail() {
            let why = preview.summary.trim_start_matches(Preview::WOULD_FAIL);
            fails = Some(format!(
                "{}step {} ({}): {why}",
                Preview::WOULD_FAIL,
                index + 1,
                step.tool().name()
            ));
            break;
        }
        // A step whose own effect is nothing but its check leaves the files as they are.
        predicted = match preview.predicted {
            Predicted::Exact => predicted,
            _ => Predicted::Partial,
        };
        left.apply(toolbox, step)?;
    }
    let changes = changes(toolbox, overlay, &left)?;
    let count = match steps.len() {
        1 => "1 step".to_owned(),
        count => format!("{count} steps"),
    };
    let summary = fails.unwrap_or_else(|| format!("Runs {count} on a copy of the workspace"));
    Ok((Preview { predicted, summary, changes, notes }, left))
}

/// What is in `left` against what is there before.
fn changes(
    toolbox: &Toolbox,
    before: &Overlay,
    left: &Overlay,
) -> Result<Vec<FileChange>, ToolError> {
    let mut changes = Vec::new();
    for (path, after) in left.files() {
        let place = toolbox.roots.resolve(path, Last::Follow)?;
        let then = previews::content(&place, before, path, Access::Read)?;
        if then.as_deref() == after {
            continue;
        }
        changes.push(FileChange {
            path: path.to_owned(),
            before: file::state_of_bytes(then.as_deref()),
            after: file::state_of_bytes(after),
            diff: diff::diff(then.as_deref(), after),
        });
    }
    Ok(changes)
}

fn of_function(
    toolbox: &Toolbox,
    overlay: &Overlay,
    function: &str,
    inputs: &[String],
    traces: bool,
) -> Result<Preview, ToolError> {
    let call = program::function_call(function, inputs, traces);
    let run = program::preview(toolbox, overlay, &call)?;
    let mut notes = vec![format!(
        "Where there is no binary or example of this name, the test of this name is run: `{}`.",
        program::function_test(function, inputs)
    )];
    notes.extend(run.notes);
    if traces {
        notes.push("RUST_BACKTRACE=full is set.".to_owned());
    }
    Ok(Preview {
        predicted: Predicted::Unpredictable,
        summary: format!("Builds {function} on a copy of the workspace and runs it there"),
        changes: Vec::new(),
        notes,
    })
}
