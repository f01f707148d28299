//! The recorded changes of one file, from the oldest to the newest (SPEC §8, §9). Pure data.

use serde::{Serialize, Serializer};

use super::{Diff, FileChange, ListedExecution, Modes};
use crate::authorization::FileState;
use crate::plan::words::words;

words! {
    /// Why a recorded change has no difference of lines.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum NoDifference {
        /// A person purged one of the contents.
        Purged = "purged",
        /// One of the contents contains a secret.
        Secret = "secret",
        /// One of the contents was never stored.
        NotStored = "not_stored",
        /// The differences of all changes together are too long.
        LeftOut = "left_out",
    }
}

impl NoDifference {
    /// The reason as a sentence.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Purged => "No difference: a content was purged.",
            Self::Secret => {
                "Not shown here: a content contains a secret. The execution has the difference without it."
            }
            Self::NotStored => "No difference: a content was not stored.",
            Self::LeftOut => {
                "Left out, because the differences together are too long. The execution has it."
            }
        }
    }
}

/// One recorded change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange {
    /// The execution that changed the file.
    pub listed: ListedExecution,
    /// The title of its plan, or the plan's id.
    pub plan_name: String,
    /// The workspace of the file. A path names another file in each workspace.
    pub workspace: String,
    /// The state of the file before.
    pub before: FileState,
    /// The state after. If the execution was interrupted, this is what it was about to write.
    pub after: FileState,
    /// The permission bits before and after.
    pub modes: Modes,
    /// Whether the file was no longer as the previous recorded change had left it: somebody else had changed it.
    pub changed_between: bool,
    /// The difference between the two contents, or why there is none.
    pub difference: Result<FileChange, NoDifference>,
}

impl RecordedChange {
    /// What happened to the file: `created`, `deleted`, `changed` or, if only its mode changed, `mode changed`.
    pub fn word(&self) -> &'static str {
        match (self.before, self.after) {
            (before, after) if before == after => "mode changed",
            (FileState::Absent, _) => "created",
            (_, FileState::Absent) => "deleted",
            _ => "changed",
        }
    }

    /// The change of the mode as octal numbers, if it changed: `644 to 755`.
    pub fn mode_change(&self) -> Option<String> {
        let Modes { before, after } = self.modes;
        let (before, after) = before.zip(after).filter(|(before, after)| before != after)?;
        Some(format!("{before} to {after}"))
    }

    /// The numbers of added and removed lines; `None` without a difference of lines.
    pub fn line_counts(&self) -> Option<(usize, usize)> {
        match &self.difference {
            Ok(FileChange { diff: Diff::Text { added, removed, .. }, .. }) => {
                Some((*added, *removed))
            }
            _ => None,
        }
    }
}

impl Serialize for RecordedChange {
    /// `difference` and `no_difference` are two fields, of which one is null.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            #[serde(flatten)]
            listed: &'a ListedExecution,
            plan_name: &'a str,
            workspace: &'a str,
            change: &'static str,
            before: FileState,
            after: FileState,
            before_mode: Option<String>,
            after_mode: Option<String>,
            changed_between: bool,
            difference: Option<&'a Diff>,
            no_difference: Option<NoDifference>,
        }
        let mode = |mode: Option<super::FileMode>| mode.map(|mode| mode.to_string());
        Fields {
            listed: &self.listed,
            plan_name: &self.plan_name,
            workspace: &self.workspace,
            change: self.word(),
            before: self.before,
            after: self.after,
            before_mode: mode(self.modes.before),
            after_mode: mode(self.modes.after),
            changed_between: self.changed_between,
            difference: self.difference.as_ref().ok().map(|it| &it.diff),
            no_difference: self.difference.as_ref().err().copied(),
        }
        .serialize(serializer)
    }
}

/// The recorded changes of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileHistory {
    /// The changes, the oldest first.
    pub changes: Vec<RecordedChange>,
    /// The number of older changes that are left out.
    pub left_out: usize,
}
