//! Why a replacement was not made, or was rolled back (SPEC §6).

use crate::authorization::FileState;
use crate::plan::Code;
use crate::run::ErrorInfo;

use crate::tools::ToolError;

/// The errors of a replacement. The messages of other programs are kept verbatim.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum SpliceError {
    #[error("splice: {message}")]
    Refused { code: Code, message: String },
    #[error("splice failed: {message}")]
    Failed { message: String },
    #[error(
        "cargo check reports {errors} new {}; {path} was put back\n{rendered}",
        if *errors == 1 { "error" } else { "errors" }
    )]
    NewErrors { path: String, errors: usize, rendered: String },
    #[error(
        "splice changed {path} to {now} instead of {shown}, which was shown; the file was put back"
    )]
    OtherResult { path: String, shown: FileState, now: FileState },
    #[error(
        "{path} was not put back, because somebody else changed it meanwhile: it is {now} now. It was to be put back, because {why}"
    )]
    ChangedMeanwhile { path: String, now: FileState, why: String },
    #[error("{path} could not be put back: {source}. It was to be put back, because {why}")]
    NotPutBack { path: String, why: String, source: Box<ToolError> },
}

impl ErrorInfo for SpliceError {
    fn code(&self) -> Code {
        match self {
            Self::Failed { .. } => Code::Splice,
            Self::Refused { code, .. } => *code,
            Self::NewErrors { .. } => Code::CargoCheck,
            Self::OtherResult { .. } | Self::ChangedMeanwhile { .. } => Code::Conflict,
            Self::NotPutBack { .. } => Code::WriteFailed,
        }
    }

    fn next(&self) -> String {
        match self {
            Self::Refused { .. } => "Correct the reported problem, or choose the embedded engine.",
            Self::Failed { .. } => "Read the output of splice, or choose the embedded engine.",
            Self::NewErrors { .. } => "Correct the replacement.",
            Self::OtherResult { .. } => "Choose the embedded engine for this step.",
            Self::ChangedMeanwhile { .. } => {
                "Look at the file: its content before the step and what was found in it are in the evidence of this step."
            }
            Self::NotPutBack { .. } => {
                "Put it back by hand: its earlier content is in the evidence of this step."
            }
        }
        .to_owned()
    }
}
