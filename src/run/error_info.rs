//! What every error that can end a step provides besides its message.

use crate::plan::{Code, RevisionError};

use super::Failure;

/// An error with a stable code and advice on what to do next (SPEC §6).
pub trait ErrorInfo: std::error::Error + Send + Sync + 'static {
    /// The stable code.
    fn code(&self) -> Code;

    /// What to do next, as a sentence.
    fn next(&self) -> String;

    /// Whether the plan itself is wrong, whatever the state of the workspace.
    fn is_about_the_plan(&self) -> bool {
        false
    }

    /// Whether the tool found the call impossible before it changed anything, for another reason than a file whose
    /// content is not the expected one, which is a conflict (SPEC §9).
    fn is_refusal(&self) -> bool {
        false
    }

    /// The wrapped error of a lower module, if this error adds nothing to it.
    fn handed_on(&self) -> Option<&dyn ErrorInfo> {
        None
    }

    /// The error in the form in which it is recorded.
    fn failure(&self) -> Failure {
        Failure { code: self.code(), message: self.to_string(), next: self.next() }
    }
}

impl ErrorInfo for RevisionError {
    fn code(&self) -> Code {
        match self {
            Self::NotJson => Code::NotJson,
            _ => Code::BadValue,
        }
    }

    fn next(&self) -> String {
        match self {
            Self::Value { .. } => "Correct the JSON, or keep the value as it was.",
            Self::Lines { .. } | Self::NoLines { .. } => {
                "Choose other lines, edit the arguments of the step, or leave it out."
            }
            _ => "Change something else, or leave the step out.",
        }
        .to_owned()
    }
}
