//! The attempts of a loop as it remembers them: the one under way, and those that ended.

use uuid::Uuid;

use crate::evidence::{EvidenceError, PlannerTrace};
use crate::plan::ShownPlan;
use crate::run::{AnsweredBy, AttemptRecord, Happened, StepResult};

/// An attempt under way.
pub(super) struct CurrentAttempt {
    pub(super) attempt_id: Uuid,
    /// What is known of it so far.
    pub(super) record: AttemptRecord,
    /// The planner's process, once it has ended.
    pub(super) trace: Option<PlannerTrace>,
    /// Its plan, once there is one, also a rejected one.
    pub(super) plan: Option<ShownPlan>,
    /// What its steps left behind.
    pub(super) results: Vec<StepResult>,
    /// The files that its plan writes.
    pub(super) files: Vec<String>,
}

/// An attempt that ended.
pub(super) struct PastAttempt {
    pub(super) attempt: CurrentAttempt,
    pub(super) happened: Happened,
    /// What happened, in words.
    pub(super) reason: String,
}

impl PastAttempt {
    /// Whether its plan was run and did not reach its end, or its end was not good.
    pub(super) fn ran_and_failed(&self) -> bool {
        self.attempt.record.run_id.is_some()
            && matches!(self.happened, Happened::ActionFailed { .. } | Happened::VerifyFailed)
    }
}

/// How an attempt ended.
#[derive(Debug)]
pub(super) struct AttemptEnding {
    pub(super) happened: Happened,
    /// In words.
    pub(super) message: String,
    /// The action at which it ended, from 0.
    pub(super) action_index: Option<usize>,
    /// Whether a verification has passed.
    pub(super) verified: bool,
}

impl AttemptEnding {
    pub(super) fn new(happened: Happened, message: impl Into<String>) -> Self {
        Self { happened, message: message.into(), action_index: None, verified: false }
    }

    pub(super) fn stopped(by: Option<AnsweredBy>) -> Self {
        let place = match by {
            Some(AnsweredBy::Window) => " in the window",
            Some(AnsweredBy::Terminal) => " at the terminal",
            Some(AnsweredBy::CommandLine | AnsweredBy::Test) | None => "",
        };
        Self::new(Happened::Stopped, format!("a person stopped the loop{place}"))
    }
}

/// Why a phase of an attempt has no value: the attempt ends there, or the evidence failed.
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

impl From<EvidenceError> for Halt {
    fn from(error: EvidenceError) -> Self {
        Self::Evidence(error)
    }
}
