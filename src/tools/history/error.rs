//! Why an operation of `history` changed nothing (SPEC §6, §9).

use serde_json::{Value, json};
use uuid::Uuid;

use crate::authorization::FileState;
use crate::plan::Code;
use crate::run::{ErrorInfo, FileChange, NoCheckpoint, UndoError};

use crate::tools::NotAvailable;
use crate::workspace::file::hash;

/// A file that holds later work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The canonical path of the file.
    pub path: String,
    /// The state in which the recorded changes left the file.
    pub left: FileState,
    /// The present state of the file.
    pub now: FileState,
    /// The later execution that left the file in state `now`; `None` if no recorded one did.
    pub changed_by: Option<Uuid>,
    /// If the file was changed between two of the recorded changes and this is not recorded: the execution of the
    /// second one.
    pub gap: Option<Uuid>,
    /// The difference from `left` to `now`, or from the target state to `now` if `left` and `now` are equal.
    /// `None` if the old content is not available.
    pub difference: Option<FileChange>,
}

impl Conflict {
    /// The conflict, as a sentence without its full stop.
    pub(super) fn sentence(&self) -> String {
        let Self { path, gap, changed_by, .. } = self;
        match (gap, changed_by) {
            (Some(step), _) => {
                format!("{path} was changed by somebody else before execution {step} changed it")
            }
            (None, Some(step)) => format!("{path} was changed later by execution {step}"),
            (None, None) => format!("{path} was changed later, by no recorded step"),
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "path": self.path,
            "left": hash(self.left),
            "now": hash(self.now),
            "changed_by": self.changed_by,
            "reason": self.sentence(),
            "difference": self.difference.as_ref().map(FileChange::unified),
        })
    }
}

/// The errors of `history`.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum HistoryError {
    #[error(transparent)]
    NoCheckpoint(#[from] NoCheckpoint),
    #[error(transparent)]
    UndoError(#[from] UndoError),
    #[error("what was recorded cannot be read: {why}")]
    Unreadable { why: String },
    #[error(
        "{}",
        all(.files.iter().map(|(path, why)| format!("the earlier content of {path} is not available: {why}")))
    )]
    NotAvailable { files: Vec<(String, NotAvailable)> },
    #[error("{}", all(.conflicts.iter().map(Conflict::sentence)))]
    Conflict { conflicts: Vec<Conflict> },
    #[error("{path} is {what} now")]
    InTheWay { path: String, what: String },
    #[error("only files in .git were changed, which nothing here touches")]
    OnlyGit,
    #[error("an earlier step of this plan changes files, and its changes are not recorded yet")]
    AfterChange,
}

fn all(sentences: impl Iterator<Item = String>) -> String {
    sentences.collect::<Vec<_>>().join("; ")
}

impl ErrorInfo for HistoryError {
    fn code(&self) -> Code {
        match self {
            Self::NoCheckpoint { .. } => Code::BadArgument,
            Self::UndoError { .. } | Self::NotAvailable { .. } | Self::OnlyGit => {
                Code::FileNotFound
            }
            Self::Unreadable { .. } => Code::ReadFailed,
            Self::Conflict { .. } | Self::InTheWay { .. } | Self::AfterChange => Code::Conflict,
        }
    }

    fn next(&self) -> String {
        match self {
            Self::NoCheckpoint { .. } => "Correct the name in the plan.",
            Self::UndoError(
                UndoError::Undone { .. } | UndoError::NothingToUndo | UndoError::NothingToRedo,
            ) => "Nothing is left to do.",
            Self::UndoError(UndoError::Unknown { .. } | UndoError::NoChange { .. }) => {
                "Find the run or step that changed the files in the evidence, and revert that one."
            }
            Self::Unreadable { .. } => "See that the evidence folder can be read.",
            Self::NotAvailable { .. } => "Restore these files by hand.",
            Self::Conflict { .. } => "Undo the later changes first, or correct the files by hand.",
            Self::InTheWay { .. } => "Move it away, then try again.",
            Self::OnlyGit => "Undo the change with Git, or by hand.",
            Self::AfterChange => "Put this step into a plan of its own.",
        }
        .to_owned()
    }
}
