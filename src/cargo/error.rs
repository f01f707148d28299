//! Why a check failed: cargo reached no verdict, or reported errors (SPEC §6).

use crate::plan::Code;
use crate::process::ProcessError;
use crate::run::ErrorInfo;
use crate::workspace::WorkspaceError;

/// Why cargo reached no verdict, or reported errors.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum CargoError {
    #[error("no Cargo.toml at {path} or above it in the workspace")]
    NoProject { path: String },
    #[error("cargo check reported {errors} {}: {first}", if *errors == 1 { "error" } else { "errors, the first" })]
    Reported { errors: usize, first: String },
    #[error("cargo check {status}\n{output}")]
    Failed { status: String, output: String },
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

impl ErrorInfo for CargoError {
    fn code(&self) -> Code {
        match self {
            Self::NoProject { .. } => Code::NoCargoProject,
            Self::Reported { .. } | Self::Failed { .. } => Code::CargoCheck,
            Self::Process(error) => error.code(),
            Self::Workspace(error) => error.code(),
        }
    }

    fn next(&self) -> String {
        match self {
            Self::NoProject { .. } => "Name a folder or a file of a Cargo project.",
            Self::Reported { .. } => "Correct the code, then run the plan again.",
            Self::Failed { .. } => "Correct what cargo names, then run the plan again.",
            Self::Process(error) => return error.next(),
            Self::Workspace(error) => return error.next(),
        }
        .to_owned()
    }

    fn is_about_the_plan(&self) -> bool {
        self.handed_on().is_some_and(ErrorInfo::is_about_the_plan)
    }

    fn handed_on(&self) -> Option<&dyn ErrorInfo> {
        match self {
            Self::Process(error) => Some(error),
            Self::Workspace(error) => Some(error),
            _ => None,
        }
    }
}
