//! Why a code engine could not answer or refused a replacement (SPEC §6).

use std::path::PathBuf;

use crate::code::CodeError;
use crate::plan::Code;

/// What went wrong, with what a person needs to put it right. Other programs' words are kept.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum EngineError {
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
    #[error("{} does not know {file}", path.display())]
    NotIndexed { path: PathBuf, file: String },
}

impl EngineError {
    /// The stable code.
    pub(in super::super) fn code(&self) -> Code {
        match self {
            Self::NoGrammar { .. }
            | Self::NotText { .. }
            | Self::Codegraph { .. }
            | Self::NotIndexed { .. } => Code::CodeEngine,
            Self::Missing { .. } => Code::FileNotFound,
            Self::Replacement { .. } | Self::Plan { .. } => Code::BadArgument,
            Self::NoCodegraph => Code::NoCodegraph,
            Self::Code { source, .. } => match source {
                // A name that means several definitions is not found as one; the same cure, a more
                // exact name, may come from whoever wrote the plan.
                CodeError::NotFound { .. } | CodeError::Ambiguous { .. } => Code::SymbolNotFound,
                CodeError::UnknownKind { .. } | CodeError::EmptyReplacement => Code::BadArgument,
                CodeError::Stopped => Code::Cancelled,
                CodeError::TooLarge { .. } => Code::CodeEngine,
                CodeError::TooMany { .. } => Code::Limit,
                CodeError::Shared { .. } => Code::Splice,
                CodeError::Syntax { what: "the file", .. } => Code::CodeEngine,
                CodeError::Syntax { .. } => Code::Splice,
            },
        }
    }

    /// What to do next, as a sentence.
    pub(in super::super) fn next(&self) -> &'static str {
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
            Self::NoCodegraph => {
                "Run `magellan watch --root . --db codegraph.db --scan-initial`, or choose the embedded engine."
            }
            Self::Codegraph { .. } | Self::NotIndexed { .. } => {
                "Let magellan write it anew, or choose the embedded engine."
            }
            Self::Code { source, .. } => match source {
                CodeError::NotFound { .. } => "Check the symbol's name.",
                CodeError::Ambiguous { .. } => {
                    "Name one of them in full, such as Type::method, or add its kind."
                }
                CodeError::UnknownKind { .. } => "Correct the kind in the plan.",
                CodeError::EmptyReplacement => "Write the whole new definition into it.",
                CodeError::Stopped => "Run the plan again when you want it to be done.",
                CodeError::TooLarge { .. } | CodeError::TooMany { .. } => "Use file_write for it.",
                CodeError::Shared { .. } => "Use file_write for it.",
                CodeError::Syntax { what: "the file", .. } => "Correct the file first.",
                CodeError::Syntax { .. } => "Correct the replacement.",
            },
        }
    }
}
