//! Why a tool could not do its work: any error of the rooms below or of the tool itself (SPEC §6).

use std::error::Error;
use std::fmt;

use crate::plan::Code;
use crate::run::{ErrorInfo, Failure};

/// Why a tool could not do its work. Paths are as the plan gives them; the system's own words are kept.
pub struct ToolError(Box<dyn ErrorInfo>);

impl<E: ErrorInfo> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

impl ToolError {
    /// The error itself, where it is of this type, also when another one only hands it on.
    pub fn get<E: ErrorInfo>(&self) -> Option<&E> {
        let mut error = &*self.0;
        while let Some(inner) = error.handed_on() {
            error = inner;
        }
        let error: &(dyn Error + 'static) = error;
        error.downcast_ref()
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.0.code()
    }

    /// What to do next, as a sentence.
    pub fn next(&self) -> String {
        self.0.next()
    }

    /// Whether the plan itself is at fault, in whatever state the workspace is.
    pub fn is_about_the_plan(&self) -> bool {
        self.0.is_about_the_plan()
    }

    /// The error as the records keep it.
    pub fn failure(&self) -> Failure {
        self.0.failure()
    }

    /// For whatever takes any error with its code.
    pub(super) fn info(&self) -> &dyn ErrorInfo {
        &*self.0
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for ToolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// What the present state of the program does not allow.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct Unsupported {
    /// What is not possible, and why.
    pub what: String,
}

impl ErrorInfo for Unsupported {
    fn code(&self) -> Code {
        Code::UnknownTool
    }

    fn next(&self) -> String {
        "Take it out of the plan.".to_owned()
    }

    fn is_about_the_plan(&self) -> bool {
        true
    }
}
