//! Why a path could not be used, read or written (SPEC §6).

use std::io;

use crate::authorization::{Change, FileState};
use crate::plan::Code;
use crate::run::{ErrorInfo, StopSignal};

use super::Kind;

/// Maximum total size of the input files of a plan that its review reads: 4 GiB.
pub const INPUT_BYTES: u64 = 4 << 30;

/// Whether a path was to be read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Access {
    Read,
    Write,
}

/// Why a path could not be used, read or written. Paths are written as in the plan; the system's messages are
/// kept verbatim.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum WorkspaceError {
    #[error("cannot open the folder {path}: {source}")]
    OpenRoot { path: String, source: io::Error },
    #[error("{path:?} is no usable path: {reason}")]
    BadPath { path: String, reason: &'static str },
    #[error("{path} leads outside the workspace")]
    Outside { path: String },
    #[error("{path} leads into a folder of Countersign itself, which no tool reads or writes")]
    OwnFolder { path: String },
    #[error("{path} is sensitive, and planners are not shown it")]
    Hidden { path: String },
    #[error(
        "{path} changed while it was replaced, and {other} beside it holds what somebody else wrote: {why}"
    )]
    KeptBeside { path: String, other: String, why: String },
    #[error(
        "the files that this plan works on have more than {INPUT_BYTES} bytes together, the limit of a review; \
         {path} exceeds it"
    )]
    TooMuchInput { path: String },
    #[error("more than {limit} {what} would be read, the limit of a review")]
    ReviewLimit { what: &'static str, limit: u64 },
    #[error("cannot read {path}: it does not exist")]
    NotFound { path: String },
    #[error("cannot read {path}: {source}")]
    ReadFailed { path: String, source: io::Error },
    #[error("cannot write {path}: {source}")]
    WriteFailed { path: String, source: io::Error },
    #[error("{path} is {kind}, not a file")]
    NotAFile { path: String, kind: Kind, access: Access },
    #[error("{path} has more than {limit} bytes")]
    TooLarge { path: String, limit: u64, access: Access },
    #[error("cannot write {path}: its folder does not exist")]
    FolderMissing { path: String },
    #[error("cannot create {path}: it exists already")]
    AlreadyExists { path: String },
    #[error("{}", stale_text(path, *approved, *now))]
    Stale { path: String, approved: Option<FileState>, now: FileState },
    #[error("stopped before the end; nothing was changed")]
    Cancelled,
    #[error("the answer has more than {limit} bytes")]
    OutputLimit { limit: u64 },
}

fn stale_text(path: &str, approved: Option<FileState>, now: FileState) -> String {
    let what = format!("file {path}");
    let approved = approved.map_or_else(|| "not covered".to_owned(), |state| state.to_string());
    Change { what, approved, now: now.to_string() }.brief()
}

/// Fails if the person has stopped the step or cancelled the review.
///
/// # Errors
/// [`WorkspaceError::Cancelled`].
pub(crate) fn check_cancelled(stop: &StopSignal) -> Result<(), WorkspaceError> {
    if stop.is_set() { Err(WorkspaceError::Cancelled) } else { Ok(()) }
}

impl ErrorInfo for WorkspaceError {
    fn code(&self) -> Code {
        match self {
            Self::BadPath { .. } => Code::BadArgument,
            Self::Outside { .. } | Self::OwnFolder { .. } | Self::Hidden { .. } => {
                Code::OutsideWorkspace
            }
            Self::OpenRoot { .. } | Self::NotFound { .. } | Self::ReadFailed { .. } => {
                Code::ReadFailed
            }
            Self::NotAFile { access, .. } | Self::TooLarge { access, .. } => match access {
                Access::Read => Code::ReadFailed,
                Access::Write => Code::WriteFailed,
            },
            Self::WriteFailed { .. } | Self::FolderMissing { .. } | Self::AlreadyExists { .. } => {
                Code::WriteFailed
            }
            Self::Stale { .. } => Code::Stale,
            Self::KeptBeside { .. } => Code::Conflict,
            Self::TooMuchInput { .. } | Self::ReviewLimit { .. } => Code::Limit,
            Self::Cancelled => Code::Cancelled,
            Self::OutputLimit { .. } => Code::OutputLimit,
        }
    }

    fn is_about_the_plan(&self) -> bool {
        matches!(self, Self::BadPath { .. } | Self::Outside { .. } | Self::OwnFolder { .. })
    }

    fn next(&self) -> String {
        match self {
            Self::OpenRoot { .. } => "Choose a workspace folder that exists and can be read.",
            Self::BadPath { .. } => "Correct the path in the plan.",
            Self::Outside { .. } => {
                "Use a path inside the workspace, or add its folder in the settings."
            }
            Self::OwnFolder { .. } => {
                "Use a path outside the folders of settings, key and evidence."
            }
            Self::Hidden { .. } => "Plan without it, or let a step of a signed plan read it.",
            Self::KeptBeside { .. } => "Compare the two files, and keep what you want of each.",
            Self::TooMuchInput { .. } => "Split the plan into several plans.",
            Self::ReviewLimit { .. } => {
                "Split the plan into several plans, name the file of each symbol, or choose a smaller workspace."
            }
            Self::NotFound { .. } => "Check the path, or create the file first.",
            Self::ReadFailed { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied => "Allow your user to read it.",
                _ => "Check that the file can be read.",
            },
            Self::WriteFailed { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    "Allow your user to write in its folder."
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "Free space where the file belongs."
                }
                _ => "Check that its folder can be written to.",
            },
            Self::NotAFile { .. } => "Name a regular file.",
            Self::TooLarge { .. } => "Use a smaller file.",
            Self::FolderMissing { .. } => "Create the folder first, or use file_create.",
            Self::AlreadyExists { .. } => "Use file_write to replace it, or choose another path.",
            Self::Stale { .. } => "Look at the plan again and authorize it as things are now.",
            Self::Cancelled => "Run the plan again when you want it to be done.",
            Self::OutputLimit { .. } => "Narrow the pattern or the root.",
        }
        .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind::{PermissionDenied, StorageFull};

    use super::*;

    #[test]
    fn system_errors_have_their_own_advice() {
        let next = |kind: io::ErrorKind| {
            let error = WorkspaceError::WriteFailed { path: "f".to_owned(), source: kind.into() };
            assert_eq!(error.code(), Code::WriteFailed);
            error.next()
        };
        assert!(next(PermissionDenied).contains("Allow"));
        assert!(next(StorageFull).contains("space"));
    }
}
