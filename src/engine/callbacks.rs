//! How the executor asks and tells (SPEC §3). The window, the terminal and tests implement these.

use crate::plan::Step;
use crate::run::{AnsweredBy, ConfirmationRequest, Decision, RunEvent, StepResult, Stream};

/// Who gave an answer, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// Who.
    pub by: AnsweredBy,
    /// Why, in the person's words; may be empty.
    pub note: String,
}

/// Asks a person.
pub trait ConfirmationCallback: Send + Sync {
    /// Blocks until a person has decided, without timeout. It must also return, with any decision,
    /// once *Stop now* was asked for; the executor looks at that first.
    fn request_confirmation(&self, request: &ConfirmationRequest) -> Decision;

    /// Who gave the latest answer.
    fn provenance(&self) -> Provenance {
        Provenance { by: AnsweredBy::Test, note: String::new() }
    }
}

/// Hears what happens. All methods are called on the executor's thread, in order.
pub trait ProgressCallback: Send + Sync {
    /// Everything, in the one vocabulary of screen and log.
    fn on_event(&self, _event: &RunEvent) {}

    /// A step begins, before its precondition is checked.
    fn on_step_start(&self, _step: &Step) {}

    /// A piece of output, in order of arrival.
    fn on_step_output(&self, _step: &Step, _stream: Stream, _chunk: &str) {}

    /// A step succeeded.
    fn on_step_complete(&self, _result: &StepResult) {}

    /// A step failed, was denied or cancelled, or its precondition did not hold.
    fn on_step_failed(&self, _result: &StepResult) {}

    /// A person left a step out or did it by hand.
    fn on_step_skipped(&self, _result: &StepResult, _reason: &str) {}
}

/// Approves everything; for tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct AutoApprove;

impl ConfirmationCallback for AutoApprove {
    fn request_confirmation(&self, _request: &ConfirmationRequest) -> Decision {
        Decision::Approve
    }
}

/// Denies everything; for tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct AutoDeny;

impl ConfirmationCallback for AutoDeny {
    fn request_confirmation(&self, _request: &ConfirmationRequest) -> Decision {
        Decision::Cancel
    }
}

/// Hears nothing; for tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopProgress;

impl ProgressCallback for NoopProgress {}
