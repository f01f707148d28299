//! The one vocabulary of screen and log (SPEC §3).

use serde::Serialize;
use uuid::Uuid;

use super::confirm::{Answer, ConfirmationRequest, Control};
use super::host::Host;
use super::result::{RunStatus, StepResult};
use crate::plan::Code;

/// Which of a child's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Stream {
    Stdout,
    Stderr,
}

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
    /// Output that came faster than a screen takes it stood here; the evidence gets it all the same.
    OutputLeftOut {
        /// The step.
        step_id: String,
        /// How many bytes.
        bytes: u64,
    },
    /// The command of the step has printed nothing for a while; told once each time.
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
        /// Why, in the person's words; may be empty.
        reason: String,
    },
    /// The run waits for a person.
    ConfirmationNeeded {
        /// What they are asked.
        request: Box<ConfirmationRequest>,
    },
    /// They answered.
    ConfirmationDecided {
        /// The step.
        step_id: String,
        /// The answer.
        answer: Answer,
    },
    /// The run waits at a step boundary.
    Paused,
    /// It goes on.
    Resumed,
    /// A person asked for something that takes effect later.
    ControlRequested {
        /// What they asked for.
        control: Control,
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
}

impl RunEvent {
    /// The status that this event gives to the run, when it is the last one.
    pub fn ends_with(&self) -> Option<RunStatus> {
        match self {
            Self::RunCompleted { .. } => Some(RunStatus::Completed),
            Self::RunFailed { .. } => Some(RunStatus::Failed),
            Self::RunCancelled { .. } => Some(RunStatus::Cancelled),
            _ => None,
        }
    }
}
