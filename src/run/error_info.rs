//! What every error that ends a step can say besides its message.

use crate::plan::Code;

use super::Failure;

/// An error with its stable code and what to do about it (SPEC §6).
pub trait ErrorInfo: std::error::Error + Send + Sync + 'static {
    /// The stable code.
    fn code(&self) -> Code;

    /// What to do next, as a sentence.
    fn next(&self) -> String;

    /// Whether the plan itself is at fault, in whatever state the workspace is.
    fn is_about_the_plan(&self) -> bool {
        false
    }

    /// The error of a lower room that this one only hands on.
    fn handed_on(&self) -> Option<&dyn ErrorInfo> {
        None
    }

    /// The error as the records keep it.
    fn failure(&self) -> Failure {
        Failure { code: self.code(), message: self.to_string(), next: self.next() }
    }
}
