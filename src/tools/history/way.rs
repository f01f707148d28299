//! Determines the files that an operation restores, and their target states.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::plan::HistoryOperation;
use crate::run::{
    CheckpointName, FileEffect, FileForecast, FileReversal, History, is_git_path, reversals,
};

use crate::workspace::Overlay;

use super::error::HistoryError;

/// The files that an operation restores, and the executions that it reverses.
pub(super) struct Intended {
    /// The executions that the operation reverses; for `redo`, those of the undo steps. Empty for a restored
    /// checkpoint.
    pub(super) reverses: BTreeSet<Uuid>,
    pub(super) ways: Vec<FileReversal>,
    /// The position in the records of the last change that is reversed.
    pub(super) last: i64,
    /// Files in `.git`, which stay unchanged.
    pub(super) left_out: Vec<String>,
}

/// Determines what an operation that changes files would do. For other operations the result is empty.
pub(super) fn intended(
    history: &History,
    overlay: &Overlay,
    operation: &HistoryOperation,
) -> Result<Intended, HistoryError> {
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
    let taken = entries.iter().filter(|_| reverses).map(|entry| entry.execution_id);
    let reverses: BTreeSet<Uuid> = taken.collect();
    let (left_out, ways): (Vec<_>, Vec<_>) =
        reversals(&entries).into_iter().partition(|way| is_git_path(&way.path));
    if ways.is_empty() && !left_out.is_empty() {
        return Err(HistoryError::OnlyGit);
    }
    Ok(Intended {
        reverses,
        ways,
        last: entries.last().map_or(0, |entry| entry.position),
        left_out: left_out.into_iter().map(|way| way.path).collect(),
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
