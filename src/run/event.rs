//! The one vocabulary of screen and log (SPEC §3): what the journal tells once it is committed, what replay yields,
//! and what is told only live, such as output while it arrives.

use serde::Serialize;
use uuid::Uuid;

use super::attempt::{AttemptRecord, PlannerReport};
use super::confirm::{Answer, ConfirmationRequest, Control};
use super::difference::PlanDifference;
use super::host::Host;
use super::result::{Failure, Outcome, RunStatus, StepResult};
use super::stop_reason::StopReason;
use crate::plan::{Code, Digest};

/// Which of a child's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Stream {
    Stdout,
    Stderr,
}

/// Why a step is skipped that nobody was asked about (SPEC §1.2).
pub const WITH_ITS_COMMAND: &str = "the command that it verifies was skipped";

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum RunEvent {
    /// The authorization is consumed and the first record is durable.
    RunStarted {
        /// The run.
        run_id: Uuid,
        /// The plan.
        plan_id: String,
        /// How many steps it has.
        step_count: usize,
        /// When, in Unix milliseconds.
        timestamp_ms: i64,
    },
    /// The host of the run is reached; nothing of the plan was sent to it yet.
    HostReached {
        /// Who and what it is.
        host: Box<Host>,
    },
    /// A step begins, before its precondition is checked.
    StepStarted {
        /// The step.
        step_id: String,
        /// Its place, from 0.
        step_index: usize,
        /// The tool, as the plan names it.
        tool_name: String,
        /// The arguments in one short line, for instance the path.
        about: String,
        /// When, in Unix milliseconds.
        timestamp_ms: i64,
    },
    /// A piece of output, in order of arrival.
    StepOutput {
        /// The step.
        step_id: String,
        /// Which output.
        stream: Stream,
        /// The text.
        chunk: String,
    },
    /// Output was dropped here because it came faster than the window takes it; the evidence has all of it.
    OutputLeftOut {
        /// The step.
        step_id: String,
        /// How many bytes.
        bytes: u64,
    },
    /// The command of the step has printed nothing for a while; told once per pause.
    StepQuiet {
        /// The step.
        step_id: String,
        /// For how long, in milliseconds.
        quiet_ms: u64,
    },
    /// The step succeeded.
    StepCompleted {
        /// What became of it.
        result: Box<StepResult>,
    },
    /// The step failed, was denied or cancelled, or its precondition did not hold.
    StepFailed {
        /// What became of it.
        result: Box<StepResult>,
    },
    /// A person left the step out, or did it by hand.
    StepSkipped {
        /// What became of it.
        result: Box<StepResult>,
        /// Why, in the person's words, or [`WITH_ITS_COMMAND`]; may be empty.
        reason: String,
    },
    /// The run waits for a person.
    ConfirmationNeeded {
        /// What they are asked.
        request: Box<ConfirmationRequest>,
    },
    /// The person answered.
    ConfirmationDecided {
        /// The step.
        step_id: String,
        /// The answer.
        answer: Answer,
    },
    /// The run waits at a step boundary.
    Paused,
    /// The run continues.
    Resumed,
    /// A person requested a control; its effect comes later.
    ControlRequested {
        /// What they asked for.
        control: Control,
    },
    /// What steps had left running behind their walls was ended with the run.
    LeftRunning {
        /// The names of the processes.
        processes: Vec<String>,
    },
    /// Every step was reached and none failed.
    RunCompleted {
        /// How many steps.
        step_count: usize,
    },
    /// The run ended at a failure.
    RunFailed {
        /// The code of the failure.
        code: Code,
        /// What happened.
        message: String,
    },
    /// A person ended the run.
    RunCancelled {
        /// What they asked for.
        reason: Control,
        /// How many steps had ended.
        completed_steps: usize,
    },
    /// A bounded loop begins (SPEC §10); the first record of it is durable.
    LoopStarted {
        /// The loop.
        loop_id: Uuid,
        /// What it is to reach.
        goal: String,
        /// Who makes the plans, as the person named it.
        planner: String,
        /// The workspace folder.
        workspace: String,
        /// How often the planner is asked at most.
        max_attempts: u32,
        /// The class of plans that was authorized in advance; by this id it can be taken back.
        class_id: Option<Uuid>,
        /// When, in Unix milliseconds.
        timestamp_ms: i64,
    },
    /// An attempt begins.
    AttemptStarted {
        /// Which one, from 1.
        attempt: u32,
        /// Of so many.
        max_attempts: u32,
        /// When, in Unix milliseconds.
        timestamp_ms: i64,
    },
    /// The planner is asked.
    PlannerStarted {
        /// What runs, as the person named it.
        planner: String,
    },
    /// A piece of what the planner prints to its standard error.
    PlannerOutput {
        /// The text.
        chunk: String,
    },
    /// The planner has answered, or did not.
    PlannerAnswered {
        /// What.
        report: Box<PlannerReport>,
        /// The digest of the plan's exact bytes, where there is a plan.
        plan_digest: Option<Digest>,
    },
    /// The plan is another one than that of the attempt before.
    PlanRevised {
        /// What happened to the one before.
        reason: String,
        /// How they differ.
        difference: Box<PlanDifference>,
    },
    /// The plan has the steps of one that already ran and failed in this loop; it does not run.
    NoProgress {
        /// The attempt in which it did.
        failed_in: u32,
    },
    /// The plan of the attempt waits for its own authorization.
    AuthorizationNeeded {
        /// The loop.
        loop_id: Uuid,
        /// The attempt, from 1.
        attempt: u32,
        /// The digest of its exact bytes.
        plan_digest: Digest,
        /// What of it is outside the authorization class; empty without one.
        outside: Vec<String>,
    },
    /// It was given or refused.
    AuthorizationDecided {
        /// Whether it may run.
        approved: bool,
        /// By whom, and why, in a sentence.
        how: String,
    },
    /// The actions succeeded; the loop's own verification begins, as a run of its own.
    VerifyStarted,
    /// The attempt has ended; its record is durable.
    AttemptEnded {
        /// What became of it.
        record: Box<AttemptRecord>,
    },
    /// Another attempt begins, and few are left.
    BudgetWarning {
        /// How many, that one included.
        attempts_left: u32,
    },
    /// The loop has ended.
    LoopEnded {
        /// Why.
        stop_reason: Box<StopReason>,
    },
}

impl RunEvent {
    /// The end of a step. `note` is what the person said who decided about it.
    pub fn step_ended(result: Box<StepResult>, note: Option<String>) -> Self {
        match result.outcome {
            Outcome::Succeeded => Self::StepCompleted { result },
            Outcome::Skipped | Outcome::DoneByHand => {
                // Only a verification is skipped without anybody being asked.
                let reason = note.unwrap_or_else(|| WITH_ITS_COMMAND.to_owned());
                Self::StepSkipped { result, reason }
            }
            Outcome::Failed
            | Outcome::Denied
            | Outcome::PreconditionFailed
            | Outcome::Cancelled => Self::StepFailed { result },
        }
    }

    /// The end of a run after so many steps, with the names of the processes that were ended with it.
    pub fn run_ended(ending: RunEnding, completed: usize, left_running: Vec<String>) -> Vec<Self> {
        let left =
            (!left_running.is_empty()).then_some(Self::LeftRunning { processes: left_running });
        let ended = match ending {
            RunEnding::Completed => Self::RunCompleted { step_count: completed },
            RunEnding::Failed(Failure { code, message, .. }) => Self::RunFailed { code, message },
            RunEnding::Cancelled(reason) => {
                Self::RunCancelled { reason, completed_steps: completed }
            }
        };
        left.into_iter().chain([ended]).collect()
    }
}

/// How a run ended, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnding {
    /// Every step was reached and none failed.
    Completed,
    /// A step failed, was denied, or its precondition did not hold.
    Failed(Failure),
    /// A person asked for it.
    Cancelled(Control),
}

impl RunEnding {
    /// Its status.
    pub const fn status(&self) -> RunStatus {
        match self {
            Self::Completed => RunStatus::Completed,
            Self::Failed(_) => RunStatus::Failed,
            Self::Cancelled(_) => RunStatus::Cancelled,
        }
    }
}
