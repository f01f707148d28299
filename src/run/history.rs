//! The recorded changes of a workspace, and which of them an undo, a redo or a revert reverses (SPEC §9, `history`).
//! Pure.
//!
//! The history is append-only. A reversal is a change itself and lists the executions that it reverses. A change counts
//! as undone while a change that reverses it is in effect, so undoing an undo restores the change; *redo* is the undo
//! of an undo. Later work is detected by contents only: a file must have the content that the recorded changes left,
//! whoever changed it since.

mod checkpoint;

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::{FileForecast, FileMode, Modes};
use crate::authorization::FileState;

pub use checkpoint::{Attempt, Checkpoint, CheckpointName, NoCheckpoint};

/// A step that changed files, or that was interrupted when it was about to change them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// The execution.
    pub execution_id: Uuid,
    /// The run of the execution.
    pub run_id: Uuid,
    /// The attempt of a loop that the run belongs to.
    pub attempt: Option<Attempt>,
    /// The position among all records: a later record has a greater one.
    pub position: i64,
    /// Start of the step, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// The step.
    pub step_id: String,
    /// The tool.
    pub tool_name: String,
    /// The arguments in one short line.
    pub about: String,
    /// The changes of its files, in order; a step may change a file several times.
    pub files: Vec<FileForecast>,
    /// The executions that this step reversed.
    pub reverses: BTreeSet<Uuid>,
    /// Whether the outcome is recorded. If not, the step was interrupted, and each of `files` is either as before or as
    /// predicted.
    pub is_recorded: bool,
}

impl HistoryEntry {
    /// Whether the entry belongs to this run, execution, attempt or loop.
    pub fn is_part_of(&self, name: &CheckpointName) -> bool {
        match name {
            CheckpointName::Run(id) => self.run_id == *id,
            CheckpointName::Execution(id) => self.execution_id == *id,
            CheckpointName::Attempt(attempt) => self.attempt == Some(*attempt),
            CheckpointName::Loop(id) => self.attempt.is_some_and(|attempt| attempt.loop_id == *id),
        }
    }
}

/// The recorded changes of one workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// The changes, the oldest first.
    pub entries: Vec<HistoryEntry>,
    /// The named moments, the oldest first.
    pub checkpoints: Vec<Checkpoint>,
}

/// How one file is restored when changes are reversed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReversal {
    /// The file, by its canonical path.
    pub path: String,
    /// The state before the first of the changes.
    pub target: FileState,
    /// The states that the last of the changes may have left: two if it was interrupted, else one.
    pub left: Vec<FileState>,
    /// As `before`, the mode to restore; as `after`, the mode that the last of the changes left.
    pub modes: Modes,
    /// The first change before which the file was not in a state that the previous change may have left: somebody else
    /// had changed the file in between.
    pub gap: Option<Uuid>,
}

/// Why there is nothing to reverse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum UndoError {
    #[error("nothing is known of {name} in this workspace")]
    Unknown { name: String },
    #[error("{name} changed no file that is recorded")]
    NoChange { name: String },
    #[error("the changes of {name} are undone already")]
    Undone { name: String },
    #[error("there is no change to undo")]
    NothingToUndo,
    #[error("there is no undone change to redo")]
    NothingToRedo,
}

impl History {
    /// For each entry, whether it is in effect: no later entry that is in effect reverses it.
    pub fn in_effect(&self) -> Vec<bool> {
        self.in_effect_without(|_| false)
    }

    /// As [`Self::in_effect`], but what the `ignored` entries reverse counts as not reversed.
    fn in_effect_without(&self, ignored: impl Fn(&HistoryEntry) -> bool) -> Vec<bool> {
        let mut undone = BTreeSet::new();
        let mut all: Vec<bool> = Vec::with_capacity(self.entries.len());
        for entry in self.entries.iter().rev() {
            let in_effect = !undone.contains(&entry.execution_id);
            if in_effect && !ignored(entry) {
                undone.extend(entry.reverses.iter().copied());
            }
            all.push(in_effect);
        }
        all.reverse();
        all
    }

    /// For each entry, whether it is an undo: it reverses at least one entry that is no undo itself.
    fn undos(&self) -> Vec<bool> {
        let mut undos: BTreeMap<Uuid, bool> = BTreeMap::new();
        let mut all = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            let is_undo = entry
                .reverses
                .iter()
                .any(|reversed| !undos.get(reversed).copied().unwrap_or_default());
            undos.insert(entry.execution_id, is_undo);
            all.push(is_undo);
        }
        all
    }

    /// The entries that an undo reverses: without a name, the last entry that is in effect, is no reversal and has a
    /// recorded outcome; with a name, all its entries that are in effect.
    ///
    /// # Errors
    /// No such entry is left.
    pub fn to_undo(&self, name: Option<&CheckpointName>) -> Result<Vec<&HistoryEntry>, UndoError> {
        let Some(name) = name else {
            let entries = self.entries.iter().zip(self.in_effect());
            let last = entries.rev().find(|(entry, in_effect)| {
                *in_effect && entry.reverses.is_empty() && entry.is_recorded
            });
            return last.map(|(entry, _)| vec![entry]).ok_or(UndoError::NothingToUndo);
        };
        let named = |entry: &HistoryEntry| entry.is_part_of(name);
        if !self.entries.iter().any(named) {
            return Err(self.unknown(name));
        }
        // Reversals among the named entries are part of their changes and are reversed with them.
        let entries = self.entries.iter().zip(self.in_effect_without(named));
        let all = entries.filter(|(entry, in_effect)| *in_effect && named(entry));
        let all: Vec<_> = all.map(|(entry, _)| entry).collect();
        if all.is_empty() { Err(UndoError::Undone { name: name.to_string() }) } else { Ok(all) }
    }

    /// The entry that a redo reverses: the last undo that is in effect, unless a change was made after it.
    ///
    /// # Errors
    /// There is no such undo.
    pub fn to_redo(&self) -> Result<Vec<&HistoryEntry>, UndoError> {
        self.entries
            .iter()
            .zip(self.in_effect())
            .zip(self.undos())
            .rev()
            .take_while(|((entry, _), _)| !entry.reverses.is_empty())
            .find(|((_, in_effect), is_undo)| *in_effect && *is_undo)
            .map(|((entry, _), _)| vec![entry])
            .ok_or(UndoError::NothingToRedo)
    }

    /// All changes since this moment.
    ///
    /// # Errors
    /// Nothing has this name.
    pub fn since(&self, name: &CheckpointName) -> Result<Vec<&HistoryEntry>, UndoError> {
        let position = self.position(name)?;
        Ok(self.entries.iter().filter(|entry| entry.position >= position).collect())
    }

    /// The position of a moment among all records.
    ///
    /// # Errors
    /// Nothing has this name.
    pub fn position(&self, name: &CheckpointName) -> Result<i64, UndoError> {
        let named = self.checkpoints.iter().find(|checkpoint| checkpoint.begins(name));
        let first = || match name {
            CheckpointName::Execution(id) => {
                self.entries.iter().find(|entry| entry.execution_id == *id).map(|it| it.position)
            }
            _ => None,
        };
        named.map(|it| it.position).or_else(first).ok_or_else(|| self.unknown(name))
    }

    /// The state of a file at this position; `None` if no recorded change shows it, because none contains the file or
    /// the last one before the position was interrupted.
    pub fn state_at(&self, path: &str, position: i64) -> Option<FileState> {
        let of = |entry: &'_ HistoryEntry| {
            let mut files = entry.files.iter().filter(|file| file.path == path);
            let first = files.next()?;
            let last = files.next_back().unwrap_or(first);
            Some((first.before, entry.is_recorded.then_some(last.after)))
        };
        let later = self.entries.iter().filter(|entry| entry.position >= position).find_map(of);
        let earlier = || {
            let before = self.entries.iter().rev().filter(|entry| entry.position < position);
            before.filter_map(of).next().and_then(|(_, after)| after)
        };
        later.map(|(before, _)| before).or_else(earlier)
    }

    /// The last entry after `position` that left the file in this state.
    pub fn left_by(&self, path: &str, state: FileState, position: i64) -> Option<&HistoryEntry> {
        self.entries.iter().rev().filter(|entry| entry.position > position).find(|entry| {
            let last = entry.files.iter().rfind(|file| file.path == path);
            last.is_some_and(|file| file.after == state)
        })
    }

    /// The error for a name without entries.
    fn unknown(&self, name: &CheckpointName) -> UndoError {
        let text = name.to_string();
        if self.checkpoints.iter().any(|checkpoint| checkpoint.begins(name)) {
            UndoError::NoChange { name: text }
        } else {
            UndoError::Unknown { name: text }
        }
    }
}

impl FileReversal {
    /// The recorded mode that the restored file gets. It applies to a file that is created again, and to a file that
    /// still has the mode that the changes gave it. A mode that somebody set since is kept, and so is the mode of a
    /// file whose mode was never changed.
    pub fn recorded_mode(&self, is_there: bool, now: Option<FileMode>) -> Option<FileMode> {
        let Modes { before, after: left } = self.modes;
        let is_ours = left.is_some() && left != before && now.is_none_or(|now| Some(now) == left);
        before.filter(|_| !is_there || is_ours)
    }
}

/// How to reverse these changes, file by file. `entries` are in order, the oldest first.
pub fn reversals(entries: &[&HistoryEntry]) -> Vec<FileReversal> {
    let mut reversals_by_path: BTreeMap<&str, FileReversal> = BTreeMap::new();
    for entry in entries {
        for file in &entry.files {
            let reversal = reversals_by_path.entry(&file.path).or_insert_with(|| FileReversal {
                path: file.path.clone(),
                target: file.before,
                left: vec![file.before],
                modes: Modes::kept(file.modes.before),
                gap: None,
            });
            if !reversal.left.contains(&file.before) {
                reversal.gap.get_or_insert(entry.execution_id);
            }
            // If somebody changed the mode in between, or no earlier change recorded one, this mode is the one to
            // restore.
            let is_theirs =
                reversal.modes.after.is_some_and(|left| Some(left) != file.modes.before);
            if file.modes.before.is_some() && (is_theirs || reversal.modes.before.is_none()) {
                reversal.modes.before = file.modes.before;
            }
            reversal.modes.after = file.modes.after;
            reversal.left = vec![file.after];
            if !entry.is_recorded && file.before != file.after {
                reversal.left.push(file.before);
            }
        }
    }
    reversals_by_path.into_values().collect()
}

/// Whether a path is `.git` or leads into it. Such files are never restored.
pub fn is_git_path(path: &str) -> bool {
    // Some file systems ignore case.
    path.split(['/', '\\']).any(|name| name.eq_ignore_ascii_case(".git"))
}

#[cfg(test)]
mod tests;
