//! Why a simulation failed (SPEC §6, §9).

use std::io;

use crate::plan::Code;
use crate::run::{ErrorInfo, text};
use crate::tools::ToolError;

/// The errors of a simulation.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum SimulationError {
    #[error("cannot make a folder for the simulation in {folder}: {source}")]
    NoScratch { folder: String, source: io::Error },
    #[error("cannot copy {path} for the simulation: {source}")]
    Copy { path: String, source: io::Error },
    #[error(
        "the workspace has more than {limit} files and folders that git does not ignore; more is not copied for \
         a simulation"
    )]
    TooMany { limit: u64 },
    #[error(
        "the files of the workspace that git does not ignore have more than {}; more is not copied for a simulation",
        text::size(*.limit)
    )]
    TooLarge { limit: u64 },
    #[error("copying the workspace took more than {after} and was ended")]
    TooSlow { after: String },
    #[error("step {} ({tool}): {source}", .index + 1)]
    Step { index: usize, tool: &'static str, source: Box<ToolError> },
}

impl ErrorInfo for SimulationError {
    /// The stable code; for a failed step, the code of its own error.
    fn code(&self) -> Code {
        match self {
            Self::NoScratch { .. }
            | Self::Copy { .. }
            | Self::TooMany { .. }
            | Self::TooLarge { .. } => Code::WriteFailed,
            Self::TooSlow { .. } => Code::TimedOut,
            Self::Step { source, .. } => source.code(),
        }
    }

    fn next(&self) -> String {
        match self {
            Self::NoScratch { .. } => {
                "Allow your user to write there, or free space on its disk.".to_owned()
            }
            Self::Copy { .. } => "Free space where the copy is made.".to_owned(),
            Self::TooMany { .. } | Self::TooLarge { .. } => {
                "Name what need not be copied in a .gitignore, or open a smaller folder as the workspace."
                    .to_owned()
            }
            Self::TooSlow { .. } => "See whether its disk is busy, then run the plan again.".to_owned(),
            Self::Step { source, .. } => source.next(),
        }
    }
}
