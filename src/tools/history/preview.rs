//! The preview of an operation (SPEC §2). Only reads files.

use super::effects::{Comparison, compare_with_records};
use super::records::history;
use super::targets::{Restoration, restoration};
use super::{Conflict, HistoryError};
use crate::authorization::FileState;
use crate::plan::HistoryOperation;
use crate::run::{ErrorInfo as _, FileEffect, FileMode, Preview};
use crate::tools::changes::{earlier_step_note, file_change, too_large_note};
use crate::tools::tool::{PreviewWithEffects, read_only};
use crate::tools::{ProjectedToolbox, ToolError};
use crate::workspace::Last;

/// The preview of an operation and its changes of files.
///
/// # Errors
/// Why the operation would fail. Conflicts with later work are not an error: the preview shows them.
pub(in super::super) fn preview(
    projected: ProjectedToolbox<'_>,
    operation: &HistoryOperation,
) -> Result<PreviewWithEffects, ToolError> {
    let history = history(projected)?;
    let read_only_summary = match operation {
        HistoryOperation::ListEntries => Some("Lists what recorded steps changed here.".to_owned()),
        HistoryOperation::ListCheckpoints => {
            Some("Lists the checkpoints to which files can be restored.".to_owned())
        }
        HistoryOperation::Diff { from, to } => {
            let to = to.as_deref().unwrap_or("now");
            Some(format!("Compares the files at {from} with the files at {to}."))
        }
        _ => None,
    };
    if let Some(summary) = read_only_summary {
        return Ok(read_only(summary, Vec::new()));
    }
    let restoration = restoration(&history, projected.overlay, operation)?;
    let comparison = match compare_with_records(projected, &history, &restoration)? {
        Ok(comparison) => comparison,
        Err(conflicts) => return Ok((refused(conflicts), Vec::new())),
    };
    let notes = notes(projected, &restoration, &comparison)?;
    let effects = comparison.effects;
    let changes = effects.iter().map(file_change).collect();
    Ok((Preview::exact(summary(operation, &restoration, effects.len()), changes, notes), effects))
}

/// The preview of a refused operation: the later work that it would overwrite, as diffs.
fn refused(conflicts: Vec<Conflict>) -> Preview {
    let mut notes: Vec<String> = match conflicts.as_slice() {
        [_] => Vec::new(),
        many => many.iter().map(|conflict| format!("{}.", conflict.sentence())).collect(),
    };
    let changes: Vec<_> =
        conflicts.iter().filter_map(|conflict| conflict.difference.clone()).collect();
    if !changes.is_empty() {
        notes.push("The difference shows the later work; no file would change.".to_owned());
    }
    let count = conflicts.len();
    let error = HistoryError::Conflict { conflicts };
    notes.push(error.next());
    let why = match count {
        1 => error.to_string(),
        many => format!("{many} files hold later work"),
    };
    Preview { changes, ..Preview::failure(why, notes) }
}

fn summary(operation: &HistoryOperation, restoration: &Restoration, files: usize) -> String {
    let files = match files {
        0 => return "This step changes nothing: the files are as they were already.".to_owned(),
        1 => "1 file".to_owned(),
        many => format!("{many} files, all or none,"),
    };
    match operation {
        HistoryOperation::Redo => {
            format!("Redoes the undone changes of {files}.").replace(",.", ".")
        }
        HistoryOperation::RestoreCheckpoint { checkpoint } => {
            format!("Restores {files} as they were at {checkpoint}.")
                .replace("file as they were", "file as it was")
        }
        _ => {
            let count = restoration.reverses.len();
            let steps = if count == 1 { "1 step".to_owned() } else { format!("{count} steps") };
            format!("Undoes what {steps} did to {files}.").replace(",.", ".")
        }
    }
}

fn notes(
    projected: ProjectedToolbox<'_>,
    restoration: &Restoration,
    comparison: &Comparison,
) -> Result<Vec<String>, ToolError> {
    let mut notes: Vec<String> = Vec::new();
    for path in &restoration.left_out {
        notes.push(format!("{path} stays as it is: nothing here touches .git."));
    }
    let modes = comparison.modes();
    for effect in &comparison.effects {
        let path = &effect.path;
        let is_from_earlier_step = projected.overlay.get(path).is_some();
        if is_from_earlier_step {
            notes.push(earlier_step_note(path));
        } else if effect.before == FileState::Absent && !modes.contains_key(path) {
            notes.push(format!(
                "{path} is created again, without an execute bit: its mode is not recorded."
            ));
        }
        let recorded = comparison.recorded_modes.get(path);
        notes.extend(recorded.into_iter().flat_map(|recorded| mode_notes(effect, *recorded)));
        if !is_from_earlier_step
            && effect.before != FileState::Absent
            && effect.after != FileState::Absent
        {
            let place = projected.toolbox.resolve(path, Last::Follow)?;
            notes.extend(place.notes(path, recorded.is_none())?);
        }
        notes.extend(too_large_note(effect));
    }
    Ok(notes)
}

/// Notes on a file that gets a recorded mode.
fn mode_notes(effect: &FileEffect, recorded: FileMode) -> Vec<String> {
    let path = &effect.path;
    let mode = recorded.plain();
    let before = effect.modes.before.map(FileMode::is_executable);
    let note = match (effect.before, before, mode.is_executable()) {
        (FileState::Absent, _, true) => Some(format!("{path} is restored with its execute bit.")),
        (FileState::Absent, _, false) => None,
        (_, Some(false), true) => Some(format!("{path} gets its execute bit back.")),
        (_, Some(true), false) => Some(format!("{path} loses the execute bit that it got.")),
        _ => Some(format!("{path} gets its mode back, {mode}.")),
    };
    let without = (mode != recorded)
        .then(|| format!("{path} does not get its set-user-ID, set-group-ID or sticky bit back."));
    note.into_iter().chain(without).collect()
}
