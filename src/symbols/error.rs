//! Why a code engine could not answer or refused a replacement (SPEC §6).

use std::path::PathBuf;

use crate::code::{CodeError, ParsedText};
use crate::plan::Code;
use crate::run::ErrorInfo;
use crate::workspace::WorkspaceError;
use crate::workspace::scan::SearchError;

/// The errors of the code engines. Messages of other programs are kept verbatim.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum SymbolsError {
    #[error("{path} cannot be read as code: no grammar is there for files of this name")]
    NoGrammar { path: String },
    #[error("{path} cannot be read as code: it is not UTF-8 text")]
    NotText { path: String },
    #[error("{path}: {source}")]
    Code { path: String, source: CodeError },
    #[error("{what} {path} does not exist")]
    Missing { what: &'static str, path: String },
    #[error("the replacement {path} cannot be used: {reason}")]
    Replacement { path: String, reason: &'static str },
    #[error("the splice plan {path} cannot be used: {message}")]
    Plan { path: String, message: String },
    #[error("there is no codegraph.db in the workspace or above it")]
    NoCodegraph,
    #[error("{} cannot be used: {message}", path.display())]
    Codegraph { path: PathBuf, message: String },
    #[error("the program splice was not found {place}")]
    NoProgram { place: String },
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error("{} does not know {file}", path.display())]
    NotIndexed { path: PathBuf, file: String },
}

impl ErrorInfo for SymbolsError {
    fn code(&self) -> Code {
        match self {
            Self::NoGrammar { .. }
            | Self::NotText { .. }
            | Self::Codegraph { .. }
            | Self::NotIndexed { .. } => Code::CodeEngine,
            Self::Missing { .. } => Code::FileNotFound,
            Self::Replacement { .. } | Self::Plan { .. } => Code::BadArgument,
            Self::NoCodegraph => Code::NoCodegraph,
            Self::NoProgram { .. } => Code::Splice,
            Self::Workspace(error) => error.code(),
            Self::Code { source, .. } => match source {
                // An ambiguous name has the code of a missing one, because the remedy is the same: the
                // author of the plan gives a more exact name.
                CodeError::NotFound { .. } | CodeError::Ambiguous { .. } => Code::SymbolNotFound,
                CodeError::UnknownKind { .. } | CodeError::EmptyReplacement => Code::BadArgument,
                CodeError::Stopped => Code::Cancelled,
                CodeError::TooMany { .. } | CodeError::TooManyInReview { .. } => Code::Limit,
                CodeError::TooLarge { .. } | CodeError::Syntax { what: ParsedText::File, .. } => {
                    Code::CodeEngine
                }
                CodeError::Shared { .. } | CodeError::Syntax { .. } => Code::Splice,
            },
        }
    }

    fn next(&self) -> String {
        match self {
            Self::NoGrammar { .. } => {
                "Use file_write for it; the engine reads Rust, Python, JavaScript, TypeScript, Go, C, C++ and Java."
            }
            Self::NotText { .. } => "Name a source file in UTF-8.",
            Self::Missing { .. } => "Check the path, or create the file in an earlier step.",
            Self::Replacement { .. } => "Write the whole new definition into it, in UTF-8.",
            Self::Plan { .. } => {
                "Correct it: {\"steps\": [{\"file\", \"symbol\", \"with\", \"kind\"?}]}."
            }
            Self::NoProgram { .. } => {
                "Install it with `cargo install --locked splice`, or choose the embedded engine."
            }
            Self::Workspace(error) => return error.next(),
            Self::NoCodegraph => {
                "Run `magellan watch --root . --db codegraph.db --scan-initial`, or choose the embedded engine."
            }
            Self::Codegraph { .. } | Self::NotIndexed { .. } => {
                "Let magellan write it again, or choose the embedded engine."
            }
            Self::Code { source, .. } => match source {
                CodeError::NotFound { .. } => "Check the symbol's name.",
                CodeError::Ambiguous { .. } => {
                    "Name one of them in full, such as Type::method, or add its kind."
                }
                CodeError::UnknownKind { .. } => "Correct the kind in the plan.",
                CodeError::EmptyReplacement => "Write the whole new definition into it.",
                CodeError::Stopped => "Run the plan again when you want it to be done.",
                CodeError::TooLarge { .. }
                | CodeError::TooMany { .. }
                | CodeError::TooManyInReview { .. }
                | CodeError::Shared { .. } => "Use file_write for it.",
                CodeError::Syntax { what: ParsedText::File, .. } => "Correct the file first.",
                CodeError::Syntax { .. } => "Correct the replacement.",
            },
        }
        .to_owned()
    }

    fn is_about_the_plan(&self) -> bool {
        self.handed_on().is_some_and(ErrorInfo::is_about_the_plan)
    }

    fn handed_on(&self) -> Option<&dyn ErrorInfo> {
        match self {
            Self::Workspace(error) => Some(error),
            _ => None,
        }
    }
}

impl From<SymbolsError> for SearchError {
    fn from(error: SymbolsError) -> Self {
        match error {
            SymbolsError::Workspace(error) => error.into(),
            error => Self::Problem(error.to_string()),
        }
    }
}
