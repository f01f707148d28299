//! The recorded changes of a workspace, and which of them an undo, a redo or a revert takes back (SPEC §9,
//! `history`). Pure.
//!
//! The history is append-only. Taking a change back is a change of its own that lists the executions it takes back. A
//! change counts as undone while a change that takes it back is in effect, so undoing an undo restores the change;
//! *redo* is the undo of an undo. Later work is detected by contents only: a file must have the content that the
//! recorded changes left, whoever changed it since.

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
    pub place: i64,
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
    /// The executions that this step took back.
    pub takes_back: BTreeSet<Uuid>,
    /// Whether the outcome is recorded. If not, each of `files` is either as before or as predicted.
    pub is_recorded: bool,
}

impl HistoryEntry {
    /// Whether the entry belongs to this run, execution or attempt.
    pub fn is_part_of(&self, name: &CheckpointName) -> bool {
        match name {
            CheckpointName::Run(id) => self.run_id == *id,
            CheckpointName::Execution(id) => self.execution_id == *id,
            CheckpointName::Attempt(attempt) => self.attempt == Some(*attempt),
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

/// How one file is restored when changes are taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WayBack {
    /// The file, by its canonical path.
    pub path: String,
    /// The state before the first of the changes.
    pub target: FileState,
    /// The states that the last of the changes may have left: two if it was interrupted, else one.
    pub left: Vec<FileState>,
    /// The mode that is restored, and the mode that the last of the changes left.
    pub modes: Modes,
    /// The first change before which the file was not as the previous change had left it: somebody else had changed
    /// the file in between.
    pub gap: Option<Uuid>,
}

/// Why there is nothing to take back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum NoWay {
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
    /// For each entry, whether it is in effect: no later entry that is in effect takes it back.
    pub fn standing(&self) -> Vec<bool> {
        self.standing_without(|_| false)
    }

    /// As [`Self::standing`], but what the `ignored` entries took back counts as not taken back.
    fn standing_without(&self, ignored: impl Fn(&HistoryEntry) -> bool) -> Vec<bool> {
        let mut undone = BTreeSet::new();
        let mut standing: Vec<bool> = Vec::with_capacity(self.entries.len());
        for entry in self.entries.iter().rev() {
            let stands = !undone.contains(&entry.execution_id);
            if stands && !ignored(entry) {
                undone.extend(entry.takes_back.iter().copied());
            }
            standing.push(stands);
        }
        standing.reverse();
        standing
    }

    /// For each entry, whether it is an undo: it takes back at least one entry that is no undo itself.
    fn undoing(&self) -> Vec<bool> {
        let mut undoing: BTreeMap<Uuid, bool> = BTreeMap::new();
        let mut all = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            let is_undo = entry
                .takes_back
                .iter()
                .any(|taken| !undoing.get(taken).copied().unwrap_or_default());
            undoing.insert(entry.execution_id, is_undo);
            all.push(is_undo);
        }
        all
    }

    /// What an undo takes back: the last change that is in effect, or everything that has this name.
    ///
    /// # Errors
    /// When nothing is left to take back.
    pub fn to_undo(&self, name: Option<&CheckpointName>) -> Result<Vec<&HistoryEntry>, NoWay> {
        let Some(name) = name else {
            let last = self.entries.iter().zip(self.standing()).rev().find(|(entry, stands)| {
                *stands && entry.takes_back.is_empty() && entry.is_recorded
            });
            return last.map(|(entry, _)| vec![entry]).ok_or(NoWay::NothingToUndo);
        };
        let named = |entry: &HistoryEntry| entry.is_part_of(name);
        if !self.entries.iter().any(named) {
            return Err(self.unknown(name));
        }
        // What the named entries took back among themselves counts as part of their changes.
        let standing = self.standing_without(named);
        let both = self.entries.iter().zip(standing);
        let all: Vec<_> =
            both.filter(|(entry, stands)| *stands && named(entry)).map(|it| it.0).collect();
        if all.is_empty() { Err(NoWay::Undone { name: name.to_string() }) } else { Ok(all) }
    }

    /// What a redo takes back: the last undo that is in effect, unless a change was made after it.
    ///
    /// # Errors
    /// When there is no such undo.
    pub fn to_redo(&self) -> Result<Vec<&HistoryEntry>, NoWay> {
        self.entries
            .iter()
            .zip(self.standing())
            .zip(self.undoing())
            .rev()
            .take_while(|((entry, _), _)| !entry.takes_back.is_empty())
            .find(|((_, stands), is_undo)| *stands && *is_undo)
            .map(|((entry, _), _)| vec![entry])
            .ok_or(NoWay::NothingToRedo)
    }

    /// All changes since this moment.
    ///
    /// # Errors
    /// When nothing has this name.
    pub fn since(&self, name: &CheckpointName) -> Result<Vec<&HistoryEntry>, NoWay> {
        let place = self.place(name)?;
        Ok(self.entries.iter().filter(|entry| entry.place >= place).collect())
    }

    /// The position of a moment among all records.
    ///
    /// # Errors
    /// When nothing has this name.
    pub fn place(&self, name: &CheckpointName) -> Result<i64, NoWay> {
        let named = self.checkpoints.iter().find(|checkpoint| checkpoint.name == *name);
        let first = || match name {
            CheckpointName::Execution(id) => {
                self.entries.iter().find(|entry| entry.execution_id == *id).map(|it| it.place)
            }
            _ => None,
        };
        named.map(|it| it.place).or_else(first).ok_or_else(|| self.unknown(name))
    }

    /// The state of a file at this position; `None` if no recorded change contains it, or only the outcome of an
    /// interrupted step would.
    pub fn state_at(&self, path: &str, place: i64) -> Option<FileState> {
        let of = |entry: &'_ HistoryEntry| {
            let mut files = entry.files.iter().filter(|file| file.path == path);
            let first = files.next()?;
            let last = files.next_back().unwrap_or(first);
            Some((first.before, entry.is_recorded.then_some(last.after)))
        };
        let later = self.entries.iter().filter(|entry| entry.place >= place).find_map(of);
        let earlier = || {
            let before = self.entries.iter().rev().filter(|entry| entry.place < place);
            before.filter_map(of).next().and_then(|(_, after)| after)
        };
        later.map(|(before, _)| before).or_else(earlier)
    }

    /// The last entry after `place` that left the file in this state.
    pub fn left_by(&self, path: &str, state: FileState, place: i64) -> Option<&HistoryEntry> {
        self.entries.iter().rev().filter(|entry| entry.place > place).find(|entry| {
            let last = entry.files.iter().rfind(|file| file.path == path);
            last.is_some_and(|file| file.after == state)
        })
    }

    fn unknown(&self, name: &CheckpointName) -> NoWay {
        let text = name.to_string();
        if self.checkpoints.iter().any(|checkpoint| checkpoint.name == *name) {
            NoWay::NoChange { name: text }
        } else {
            NoWay::Unknown { name: text }
        }
    }
}

impl WayBack {
    /// The recorded mode that the restored file gets. It applies to a file that is created again, and to a file that
    /// still has the mode that the changes gave it. A mode that somebody set since is kept, and so is the mode of a
    /// file whose mode was never changed.
    pub fn recorded_mode(&self, is_there: bool, now: Option<FileMode>) -> Option<FileMode> {
        let Modes { before, after: left } = self.modes;
        let is_ours = left.is_some() && left != before && now.is_none_or(|now| Some(now) == left);
        before.filter(|_| !is_there || is_ours)
    }
}

/// How to take these changes back, file by file. `entries` are in their order, the oldest first.
pub fn way_back(entries: &[&HistoryEntry]) -> Vec<WayBack> {
    let mut ways: BTreeMap<&str, WayBack> = BTreeMap::new();
    for entry in entries {
        for file in &entry.files {
            let way = ways.entry(&file.path).or_insert_with(|| WayBack {
                path: file.path.clone(),
                target: file.before,
                left: vec![file.before],
                modes: Modes::kept(file.modes.before),
                gap: None,
            });
            if !way.left.contains(&file.before) {
                way.gap.get_or_insert(entry.execution_id);
            }
            // If somebody changed the mode in between, or no earlier change recorded one, this mode is the one to
            // restore.
            let is_theirs = way.modes.after.is_some_and(|left| Some(left) != file.modes.before);
            if file.modes.before.is_some() && (is_theirs || way.modes.before.is_none()) {
                way.modes.before = file.modes.before;
            }
            way.modes.after = file.modes.after;
            way.left = vec![file.after];
            if !entry.is_recorded && file.before != file.after {
                way.left.push(file.before);
            }
        }
    }
    ways.into_values().collect()
}

/// Whether a path leads into Git's own files, or is the file that names their folder: this module restores none of
/// them.
pub fn is_git_path(path: &str) -> bool {
    // Some file systems ignore case.
    path.split(['/', '\\']).any(|name| name.eq_ignore_ascii_case(".git"))
}

#[cfg(test)]
mod tests;
