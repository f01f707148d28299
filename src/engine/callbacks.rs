//! The traits through which the executor asks a person and reports progress (SPEC §3). The window, the terminal and
//! tests implement them.

use std::sync::Arc;

use super::{Clock, ControlHandle};
use crate::risk::Policy;
use crate::run::{AnsweredBy, AskSecret, ConfirmationRequest, Decision, RunEvent, TerminalPort};

/// What an executor needs besides the evidence.
pub struct ExecutorDeps {
    /// The person's settings.
    pub policy: Policy,
    /// The wall clock and the monotonic clock.
    pub clock: Arc<dyn Clock>,
    /// Shows questions to a person and returns the answers.
    pub confirmation: Box<dyn ConfirmationCallback>,
    /// Receives the events of the runs.
    pub progress: Arc<dyn ProgressCallback>,
    /// The controls: pause, resume, cancel and stop.
    pub control: ControlHandle,
    /// The terminal of the person, for steps that ask for one; `None` where there is none.
    pub terminal: Option<TerminalPort>,
    /// Asks the person for passwords, passphrases and codes; `None` where nobody can be asked.
    pub secrets: Option<Arc<dyn AskSecret>>,
    /// Asks the person for the passphrase of the key that signs; `None` where nobody can be asked.
    pub passphrase: Option<Arc<dyn AskSecret>>,
}

/// The origin of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// The interface through which the answer came.
    pub by: AnsweredBy,
    /// The person's reason; may be empty.
    pub note: String,
}

/// Shows questions to a person.
pub trait ConfirmationCallback: Send + Sync {
    /// Blocks without a timeout until a person has decided. After *Stop now* it must return too, with any decision:
    /// the executor checks for the stop first.
    fn request_confirmation(&self, request: &ConfirmationRequest) -> Decision;

    /// The origin of the latest answer.
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
