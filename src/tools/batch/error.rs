//! Why a batch of edits was not applied (SPEC §6, §9).

use serde_json::{Value, json};

use super::PatchError;
use crate::authorization::FileState;
use crate::plan::{Code, Digest};
use crate::run::ErrorInfo;
use crate::tools::ToolError;
use crate::tools::tool::set_field;

/// The errors of a batch.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum BatchError {
    #[error("{path} is to be {expected} and is {found}")]
    Conflict { path: String, expected: Digest, found: FileState },
    #[error("the files that the batch is about have together more than {limit} bytes")]
    TooMuch { limit: u64 },
    #[error("{path} is a link: name the file that it leads to")]
    Link { path: String },
    #[error("{path} is not UTF-8 text")]
    NotText { path: String },
    #[error("{path}: the text to replace {}", occurrences(*.times, .hint))]
    Text { path: String, times: usize, hint: &'static str },
    #[error("{path}: {source}")]
    Patch { path: String, source: PatchError },
    #[error("the batch was refused, and no file was changed: {}", list_faults(.faults))]
    Refused { faults: Vec<Fault> },
    #[error("the new content of {path} is not available")]
    NoContent { path: String },
    #[error("{} not as before: {}. The batch was to be undone, because {why}", count_files(.files), .files.join(", "))]
    NotRestored { files: Vec<String>, why: String },
}

/// Maximum number of occurrences of a text that are counted.
pub(super) const MAX_TIMES: usize = 100;
/// Maximum number of faults in the message. The result of the step has all of them.
const MAX_FAULTS: usize = 5;

fn occurrences(times: usize, hint: &str) -> String {
    match times {
        0 => format!("does not occur{hint}; it must occur exactly once"),
        MAX_TIMES => {
            format!("occurs {MAX_TIMES} times or more; it must occur exactly once")
        }
        times => format!("occurs {times} times; it must occur exactly once"),
    }
}

fn list_faults(faults: &[Fault]) -> String {
    let sentences: Vec<String> = faults.iter().take(MAX_FAULTS).map(Fault::sentence).collect();
    let more = match faults.len().saturating_sub(MAX_FAULTS) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{}{more}", sentences.join("; "))
}

fn count_files(files: &[String]) -> String {
    match files.len() {
        1 => "1 file is".to_owned(),
        count => format!("{count} files are"),
    }
}

/// An edit that cannot be applied, or a file without the content that the batch expects.
#[derive(Debug)]
pub struct Fault {
    /// The index of the edit, from 0, and its `op`; `None` for a file without the expected content.
    pub edit: Option<(usize, &'static str)>,
    /// The file, as the plan names it.
    pub path: String,
    /// The error of the edit or of the file.
    pub error: Box<ToolError>,
}

impl Fault {
    /// The fault, as a clause of the message.
    pub(super) fn sentence(&self) -> String {
        match self.edit {
            Some((index, op)) => format!("edit {} ({op}): {}", index + 1, self.error),
            None => self.error.to_string(),
        }
    }

    /// The fault as part of the result of the step.
    pub(super) fn json(&self) -> Value {
        let mut row = json!({
            "path": self.path,
            "code": self.error.code(),
            "message": self.error.to_string(),
        });
        if let Some((index, op)) = self.edit {
            set_field(&mut row, "edit_index", index);
            set_field(&mut row, "op", op);
        }
        row
    }
}

impl ErrorInfo for BatchError {
    /// The stable code. A batch that is refused because of a file without the expected content is a conflict.
    fn code(&self) -> Code {
        let is_conflict = |fault: &Fault| fault.error.code() == Code::Conflict;
        match self {
            Self::Conflict { .. } => Code::Conflict,
            Self::Refused { faults } if faults.iter().any(is_conflict) => Code::Conflict,
            Self::TooMuch { .. }
            | Self::Link { .. }
            | Self::NotText { .. }
            | Self::Text { .. }
            | Self::Patch { .. }
            | Self::Refused { .. }
            | Self::NoContent { .. }
            | Self::NotRestored { .. } => Code::WriteFailed,
        }
    }

    fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. }) && self.code() != Code::Conflict
    }

    fn next(&self) -> String {
        match self {
            Self::Conflict { .. } => {
                "See what changed the file; then make the plan again for its present content."
            }
            Self::Refused { .. } if self.code() == Code::Conflict => {
                "See what changed these files; then make the plan again for their present contents."
            }
            Self::TooMuch { .. } => "Split the batch into several batches.",
            Self::Link { .. }
            | Self::NotText { .. }
            | Self::Text { .. }
            | Self::Patch { .. }
            | Self::Refused { .. } => {
                "Correct these edits in the plan; each edit is applied to the result of the earlier ones."
            }
            Self::NoContent { .. } => "Remove this file from the batch.",
            Self::NotRestored { .. } => {
                "Restore these files by hand: their earlier content is in the evidence of this step."
            }
        }
        .to_owned()
    }
}
