//! The error of a tool: any error of the modules it uses or of the tool itself (SPEC §6).

use std::error::Error;
use std::fmt;
use std::ops::Deref;

use crate::plan::Code;
use crate::run::ErrorInfo;

/// Why a tool failed. Paths are written as in the plan; messages of the system are kept verbatim.
pub struct ToolError(Box<dyn ErrorInfo>);

impl<E: ErrorInfo> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

impl ToolError {
    /// The error of type `E`, if this error is one or wraps one.
    pub fn get<E: ErrorInfo>(&self) -> Option<&E> {
        let mut error = &*self.0;
        while let Some(inner) = error.handed_on() {
            error = inner;
        }
        let error: &(dyn Error + 'static) = error;
        error.downcast_ref()
    }
}

/// Gives access to the methods of [`ErrorInfo`].
impl Deref for ToolError {
    type Target = dyn ErrorInfo;

    fn deref(&self) -> &Self::Target {
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

/// A call that Countersign cannot execute, whatever the state of the files.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct Unsupported {
    /// The message: the call that cannot be executed, and why.
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
