//! How the executor asks and tells (SPEC §3). The window, the terminal and tests implement these.

use std::sync::Arc;

use super::clock::Clock;
use super::control::ControlHandle;
use crate::risk::Policy;
use crate::run::{AnsweredBy, ConfirmationRequest, Decision, RunEvent};

/// What an executor needs besides the evidence.
pub struct ExecutorDeps {
    /// What the person has settled in advance.
    pub policy: Policy,
    /// The wall clock and the monotonic clock.
    pub clock: Arc<dyn Clock>,
    /// Asks a person.
    pub confirmation: Box<dyn ConfirmationCallback>,
    /// Progress callback.
    pub progress: Arc<dyn ProgressCallback>,
    /// Pause, resume, cancel and stop.
    pub control: ControlHandle,
}

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
    /// once *Stop now* was requested; the executor checks that first.
    fn request_confirmation(&self, request: &ConfirmationRequest) -> Decision;

    /// Who gave the latest answer.
    fn provenance(&self) -> Provenance {
        Provenance { by: AnsweredBy::Test, note: String::new() }
    }
}

/// Receives the events of runs and loops.
pub trait ProgressCallback: Send + Sync {
    /// Called on the executor's thread, in order.
    fn on_event(&self, event: &RunEvent);
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

/// Drops every event; for tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopProgress;

impl ProgressCallback for NoopProgress {
    fn on_event(&self, _event: &RunEvent) {}
}
