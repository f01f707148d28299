//! Why a batch of edits was not made (SPEC §6, §9).

use crate::authorization::FileState;
use crate::plan::{Code, Digest};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum BatchError {
    #[error("{path} is to be {expected} and is {found}")]
    Conflict { path: String, expected: Digest, found: FileState },
    #[error("what {path} is to hold is not available")]
    NoContent { path: String },
    #[error("{} not as before: {}. The batch was to be taken back, because {why}", are(.files), .files.join(", "))]
    NotRestored { files: Vec<String>, why: String },
}

fn are(files: &[String]) -> String {
    match files.len() {
        1 => "1 file is".to_owned(),
        count => format!("{count} files are"),
    }
}

impl BatchError {
    /// The stable code.
    pub(in super::super) fn code(&self) -> Code {
        match self {
            Self::Conflict { .. } => Code::Conflict,
            Self::NoContent { .. } | Self::NotRestored { .. } => Code::WriteFailed,
        }
    }

    /// What to do next, as a sentence.
    pub(in super::super) fn next(&self) -> &'static str {
        match self {
            Self::Conflict { .. } => {
                "See what changed the file; then make the plan again for what it holds now."
            }
            Self::NoContent { .. } => "Take this file out of it.",
            Self::NotRestored { .. } => {
                "Put them back by hand: what they were is in the evidence of this step."
            }
        }
    }
}
