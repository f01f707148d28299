//! Determines the files that an operation restores, and their target states.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::HistoryError;
use crate::plan::HistoryOperation;
use crate::run::{
    CheckpointName, FileEffect, FileForecast, FileReversal, History, is_git_path, reversals,
};
use crate::workspace::Overlay;

/// The files that an operation restores, and the executions that it reverses.
pub(super) struct Restoration {
    /// The executions that the operation reverses; for `redo`, those of the undo steps. Empty for a restored
    /// checkpoint.
    pub(super) reverses: BTreeSet<Uuid>,
    pub(super) files: Vec<FileReversal>,
    /// The position in the history of the last change that is reversed; 0 if none is.
    pub(super) last: i64,
    /// Files in `.git`, which stay unchanged.
    pub(super) left_out: Vec<String>,
}

/// Determines what an operation that changes files would do. For other operations the result is empty.
///
/// # Errors
/// A name that is invalid or unknown, nothing to reverse, only files in `.git`, or a preview that depends on a
/// change of an earlier step.
pub(super) fn restoration(
    history: &History,
    overlay: &Overlay,
    operation: &HistoryOperation,
) -> Result<Restoration, HistoryError> {
    let named = |name: &str| name.parse::<CheckpointName>();
    let (entries, reverses) = match operation {
        HistoryOperation::Undo { checkpoint: Some(name) } => {
            (history.to_undo(Some(&named(name)?))?, true)
        }
        // The last change is unknown until the earlier steps are recorded.
        _ if overlay.edited => return Err(HistoryError::AfterChange),
        HistoryOperation::Undo { checkpoint: None } => (history.to_undo(None)?, true),
        HistoryOperation::Redo => (history.to_redo()?, true),
        HistoryOperation::RestoreCheckpoint { checkpoint } => {
            (history.since(&named(checkpoint)?)?, false)
        }
        HistoryOperation::ListEntries
        | HistoryOperation::ListCheckpoints
        | HistoryOperation::Diff { .. } => (Vec::new(), false),
    };
    let reversed = entries.iter().filter(|_| reverses).map(|entry| entry.execution_id);
    let reverses: BTreeSet<Uuid> = reversed.collect();
    let (left_out, files): (Vec<_>, Vec<_>) =
        reversals(&entries).into_iter().partition(|file| is_git_path(&file.path));
    if files.is_empty() && !left_out.is_empty() {
        return Err(HistoryError::OnlyGit);
    }
    Ok(Restoration {
        reverses,
        files,
        last: entries.last().map_or(0, |entry| entry.position),
        left_out: left_out.into_iter().map(|file| file.path).collect(),
    })
}

/// A change without its contents.
pub(super) fn forecast(effect: &FileEffect) -> FileForecast {
    FileForecast {
        path: effect.path.clone(),
        before: effect.before,
        after: effect.after,
        modes: effect.modes,
    }
}
