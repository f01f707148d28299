//! The errors of the inbox, each with a way to mend it.

use std::io;
use std::path::{Path, PathBuf};

use super::{MAX_BYTES, MAX_PROPOSALS, MAX_REMOVED, MAX_TEXT};
use crate::plan::{Code, Finding, Severity};
use crate::run::Failure;

/// Why the inbox cannot be used, or does not accept something.
#[derive(Debug, thiserror::Error)]
pub enum InboxError {
    /// The folder cannot be created or opened.
    #[error("the inbox cannot be opened: {source} ({})", path.display())]
    Folder {
        /// The error of the system.
        source: io::Error,
        /// The folder.
        path: PathBuf,
    },
    /// The program has files of its own there.
    #[error("the inbox {} is a folder of this program's own files", path.display())]
    Own {
        /// The folder.
        path: PathBuf,
    },
    /// Others could put plans into the folder, or change those in it.
    #[error("the inbox {} is not private: {what}", path.display())]
    NotPrivate {
        /// The folder.
        path: PathBuf,
        /// What others may do.
        what: String,
        /// The command that mends it.
        command: String,
    },
    /// The bytes are no plan that could be authorized.
    #[error("it is no valid plan: {}", first_error(findings))]
    NoPlan {
        /// The name of the format, if it is one of another program.
        format: Option<&'static str>,
        /// All findings; at least one is an error.
        findings: Vec<Finding>,
    },
    /// The inbox has no room.
    #[error("the inbox is full: it has {what}")]
    Full {
        /// What has reached its limit.
        what: String,
    },
    /// The plan cannot run there.
    #[error("{} cannot be the workspace: {why}", path.display())]
    Workspace {
        /// The named folder.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// A text is too long.
    #[error("{what} is longer than {MAX_TEXT} characters")]
    Long {
        /// What the text is.
        what: &'static str,
    },
    /// The proposal cannot be written, or nothing be removed.
    #[error("the inbox cannot be changed: {source} ({})", path.display())]
    Write {
        /// The error of the system.
        source: io::Error,
        /// The folder.
        path: PathBuf,
    },
    /// Nothing in the inbox has this id or name.
    #[error("the inbox has nothing with the id or the name {handle:?}")]
    NotFound {
        /// What was named.
        handle: String,
    },
    /// Several things have ids that begin so.
    #[error("{count} ids in the inbox begin with {handle:?}")]
    Ambiguous {
        /// What was named.
        handle: String,
        /// The number of ids.
        count: usize,
    },
}

impl InboxError {
    /// The limit of the number of things.
    pub(super) fn full_of_things() -> Self {
        Self::Full { what: format!("{MAX_PROPOSALS} entries") }
    }

    /// The limit of their size.
    pub(super) fn full_of_bytes() -> Self {
        Self::Full { what: format!("more than {} MiB of plans", MAX_BYTES >> 20) }
    }

    /// The limit of what was removed.
    pub(super) fn full_of_removed() -> Self {
        Self::Full { what: format!("{MAX_REMOVED} entries that were removed") }
    }

    pub(super) fn folder(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Folder { source: source.into(), path: path.to_owned() }
    }

    pub(super) fn write(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Write { source: source.into(), path: path.to_owned() }
    }

    /// What to do next.
    pub fn next(&self) -> String {
        match self {
            Self::Folder { .. } => {
                "See that the folder can be read and written, or name another one in the settings: inbox.".to_owned()
            }
            Self::Own { .. } => "Name another folder in the settings: inbox.".to_owned(),
            Self::NotPrivate { command, .. } => format!("Mend it with: {command}"),
            Self::NoPlan { .. } => "Correct the plan, then propose it again.".to_owned(),
            Self::Full { .. } => {
                "Decide about the plans in it, or remove some: countersign inbox list, countersign inbox remove ID. \
                 What was removed is in the folder `removed` of the inbox, and can be deleted there."
                    .to_owned()
            }
            Self::Workspace { .. } => "Name another folder: --workspace DIR.".to_owned(),
            Self::Long { .. } => "Shorten it.".to_owned(),
            Self::Write { .. } => "See that the disk has room and the folder can be written to.".to_owned(),
            Self::NotFound { .. } | Self::Ambiguous { .. } => {
                "`countersign inbox list` prints the ids.".to_owned()
            }
        }
    }

    /// The error in the form of all failures.
    pub fn failure(&self) -> Failure {
        let code = match self {
            Self::Folder { .. } => Code::ReadFailed,
            Self::Own { .. } | Self::NotPrivate { .. } => Code::NotAuthorized,
            Self::NoPlan { findings, .. } => {
                let error = findings.iter().find(|it| it.severity == Severity::Error);
                error.map_or(Code::InvalidPlan, |it| it.code)
            }
            Self::Full { .. } | Self::Long { .. } => Code::Limit,
            Self::Workspace { .. } | Self::Ambiguous { .. } => Code::BadValue,
            Self::Write { .. } => Code::WriteFailed,
            Self::NotFound { .. } => Code::FileNotFound,
        };
        Failure { code, message: self.to_string(), next: self.next() }
    }
}

fn first_error(findings: &[Finding]) -> &str {
    let error = findings.iter().find(|it| it.severity == Severity::Error);
    error.map_or("", |error| &error.message)
}
