//! The attempts of a loop in memory: the current one, and those that ended.

use uuid::Uuid;

use crate::engine::NotRecorded;
use crate::evidence::{EvidenceError, PlannerTrace};
use crate::plan::ShownPlan;
use crate::run::{AnsweredBy, AttemptRecord, Happened, StepResult};

/// The current attempt.
pub(super) struct CurrentAttempt {
    pub(super) attempt_id: Uuid,
    /// The record, as far as it is known.
    pub(super) record: AttemptRecord,
    /// The input and output of the planner's process, once it has ended.
    pub(super) trace: Option<PlannerTrace>,
    /// The plan, once there is one; rejected plans included.
    pub(super) plan: Option<ShownPlan>,
    /// The results of the plan's steps.
    pub(super) results: Vec<StepResult>,
    /// The files that the plan writes.
    pub(super) files: Vec<String>,
}

/// An attempt that ended.
pub(super) struct PastAttempt {
    pub(super) attempt: CurrentAttempt,
    pub(super) happened: Happened,
    /// What happened, as a sentence.
    pub(super) reason: String,
}

impl PastAttempt {
    /// Whether the plan ran and failed, or its verification did.
    pub(super) fn ran_and_failed(&self) -> bool {
        self.attempt.record.run_id.is_some()
            && matches!(self.happened, Happened::ActionFailed { .. } | Happened::VerifyFailed)
    }
}

/// How an attempt ended.
#[derive(Debug)]
pub(super) struct AttemptEnding {
    pub(super) happened: Happened,
    /// The ending as a sentence.
    pub(super) message: String,
    /// The index of the action at which it ended, from 0.
    pub(super) action_index: Option<usize>,
    /// Whether a verification passed that meets the loop's order.
    pub(super) verified: bool,
}

impl AttemptEnding {
    pub(super) fn new(happened: Happened, message: impl Into<String>) -> Self {
        Self { happened, message: message.into(), action_index: None, verified: false }
    }

    pub(super) fn stopped(by: Option<AnsweredBy>) -> Self {
        let interface = match by {
            Some(AnsweredBy::Window) => " in the window",
            Some(AnsweredBy::Terminal) => " at the terminal",
            Some(AnsweredBy::CommandLine | AnsweredBy::Test) | None => "",
        };
        Self::new(Happened::Stopped, format!("a person stopped the loop{interface}"))
    }
}

/// Why an attempt cannot continue: it has ended, or the evidence failed.
pub(super) enum Halt {
    Ended(AttemptEnding),
    Evidence(EvidenceError),
}

impl Halt {
    pub(super) fn new(happened: Happened, message: impl Into<String>) -> Self {
        Self::Ended(AttemptEnding::new(happened, message))
    }
}

impl From<AttemptEnding> for Halt {
    fn from(ending: AttemptEnding) -> Self {
        Self::Ended(ending)
    }
}

impl From<NotRecorded> for Halt {
    fn from(error: NotRecorded) -> Self {
        match error {
            NotRecorded::Evidence(error) => Self::Evidence(error),
            error => Self::new(Happened::NotAuthorized, error.to_string()),
        }
    }
}

impl From<EvidenceError> for Halt {
    fn from(error: EvidenceError) -> Self {
        Self::Evidence(error)
    }
}
