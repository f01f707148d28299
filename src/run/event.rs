//! The events of runs and loops (SPEC §3). The journal sends most of them after a commit, and replay yields the same;
//! others exist only live, such as output while it arrives.

use serde::Serialize;
use uuid::Uuid;

use super::{
    Answer, AttemptRecord, ConfirmationRequest, Control, Failure, Host, HostResult, LookRecord,
    LookScope, Outcome, PlanDifference, PlannerReport, RunStatus, StepResult, StopReason,
    TerminalSize,
};
use crate::plan::{Code, Digest};

/// The two output streams of a child process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Stream {
    Stdout,
    Stderr,
}

/// The reason that is recorded when a verification is skipped without a question (SPEC §1.2).
pub const SKIPPED_WITH_COMMAND: &str = "the command that it verifies was skipped";

/// Something that happened in a run or in a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum RunEvent {
    /// The authorization is consumed and the first record is durable.
    RunStarted {
        /// The run.
        run_id: Uuid,
        /// The plan.
        plan_id: String,
        /// The number of its steps.
        step_count: usize,
        /// The time of the start, in Unix milliseconds.
        timestamp_ms: i64,
    },
    /// The connection to the run's host is open. Nothing of the plan was sent to it yet.
    HostReached {
        /// The host.
        host: Box<Host>,
    },
    /// A plan for several hosts begins.
    HostsKnown {
        /// The hosts.
        hosts: Vec<String>,
    },
    /// A step begins on one of several hosts.
    HostStarted {
        /// The host.
        host: String,
        /// The index of the step, from 0.
        step_index: usize,
    },
    /// A step ended on one of several hosts, or was not run there.
    HostEnded {
        /// The result.
        result: Box<HostResult>,
    },
    /// A step begins, before its precondition is checked.
    StepStarted {
        /// The step.
        step_id: String,
        /// The index of the step, from 0.
        step_index: usize,
        /// The tool, as the plan names it.
        tool_name: String,
        /// The arguments in one short line, for instance the path.
        about: String,
        /// The time of the start, in Unix milliseconds.
        timestamp_ms: i64,
    },
    /// The program of the step is about to run in a terminal, into which the person can type. What the terminal shows
    /// follows as the output of the step; what is typed is no event.
    TerminalOpened {
        /// The step.
        step_id: String,
        /// The size of the terminal.
        size: TerminalSize,
    },
    /// A piece of a step's output, in order of arrival.
    StepOutput {
        /// The step.
        step_id: String,
        /// The stream that it was written to.
        stream: Stream,
        /// The text.
        chunk: String,
    },
    /// Output was dropped from the display here, because it came faster than the window can show it. The evidence
    /// holds all of it.
    OutputLeftOut {
        /// The step.
        step_id: String,
        /// The number of dropped bytes.
        bytes: u64,
    },
    /// The command of the step has printed nothing for a while. Sent once per pause.
    StepQuiet {
        /// The step.
        step_id: String,
        /// The length of the pause so far, in milliseconds.
        quiet_ms: u64,
    },
    /// The step succeeded.
    StepCompleted {
        /// The result of the step.
        result: Box<StepResult>,
    },
    /// The step failed, was denied or cancelled, or its precondition did not hold.
    StepFailed {
        /// The result of the step.
        result: Box<StepResult>,
    },
    /// The step was skipped, or a person did it by hand.
    StepSkipped {
        /// The result of the step.
        result: Box<StepResult>,
        /// The person's reason, which may be empty, or [`SKIPPED_WITH_COMMAND`].
        reason: String,
    },
    /// The run waits for a person.
    ConfirmationNeeded {
        /// The question.
        request: Box<ConfirmationRequest>,
    },
    /// The person answered the question.
    ConfirmationDecided {
        /// The step.
        step_id: String,
        /// The answer with its origin.
        answer: Answer,
    },
    /// The run waits at a step boundary.
    Paused,
    /// The run continues.
    Resumed,
    /// A person requested a control. It takes effect later.
    ControlRequested {
        /// The requested control.
        control: Control,
    },
    /// Processes that steps had left running behind their walls were ended with the run.
    LeftRunning {
        /// The names of the processes.
        processes: Vec<String>,
    },
    /// Every step was reached and none failed.
    RunCompleted {
        /// The number of steps.
        step_count: usize,
    },
    /// The run ended with a failure.
    RunFailed {
        /// The code of the failure.
        code: Code,
        /// The message of the failure.
        message: String,
    },
    /// A person ended the run.
    RunCancelled {
        /// The control that they requested.
        reason: Control,
        /// The number of steps that had ended.
        completed_steps: usize,
    },
    /// A bounded loop begins (SPEC §10). Its first record is durable.
    LoopStarted {
        /// The loop.
        loop_id: Uuid,
        /// The goal of the loop.
        goal: String,
        /// The planner, as the person named it.
        planner: String,
        /// The workspace folder.
        workspace: String,
        /// The maximum number of attempts.
        max_attempts: u32,
        /// The class of plans that was authorized in advance. The class can be revoked by this id.
        class_id: Option<Uuid>,
        /// What the planner may look at.
        looks: LookScope,
        /// The SSH destination of the goal's host.
        target: Option<String>,
        /// The time of the start, in Unix milliseconds.
        timestamp_ms: i64,
    },
    /// An attempt begins.
    AttemptStarted {
        /// The number of the attempt, from 1.
        attempt: u32,
        /// The maximum number of attempts.
        max_attempts: u32,
        /// The time of the start, in Unix milliseconds.
        timestamp_ms: i64,
    },
    /// The planner starts.
    PlannerStarted {
        /// The planner, as the person named it.
        planner: String,
    },
    /// A piece of the planner's standard error.
    PlannerOutput {
        /// The text.
        chunk: String,
    },
    /// The planner wanted to look at something, and gets the answers. Recorded before it gets them.
    PlannerLooked {
        /// The number of the round in the attempt, from 1.
        round: u32,
        /// The looks in order, without what they found.
        looks: Vec<LookRecord>,
    },
    /// The planner asks something, and waits for a person's answer.
    PlannerAsked {
        /// The loop.
        loop_id: Uuid,
        /// The number of the attempt, from 1.
        attempt: u32,
        /// The question, in the planner's words.
        question: String,
    },
    /// The planner has ended, with or without a plan.
    PlannerAnswered {
        /// The planner's answer, or why there is none.
        report: Box<PlannerReport>,
        /// The digest of the plan's exact bytes, if there is a plan.
        plan_digest: Option<Digest>,
    },
    /// The plan was compared with the latest earlier plan of the loop; the two may be equal.
    PlanRevised {
        /// Why the earlier plan did not complete the loop.
        reason: String,
        /// The difference between the two plans.
        difference: Box<PlanDifference>,
    },
    /// The plan does the same as one that already ran and failed in this loop. It is not run.
    NoProgress {
        /// The number of the attempt in which that plan failed.
        failed_in: u32,
    },
    /// The plan of the attempt waits for a person to authorize it.
    AuthorizationNeeded {
        /// The loop.
        loop_id: Uuid,
        /// The number of the attempt, from 1.
        attempt: u32,
        /// The digest of the plan's exact bytes.
        plan_digest: Digest,
        /// What in the plan is outside the authorization class; empty if the loop has no class.
        outside: Vec<String>,
    },
    /// The plan of the attempt was authorized or refused.
    AuthorizationDecided {
        /// Whether the plan may run.
        approved: bool,
        /// The note of the authorization, or the reason of the rejection.
        how: String,
    },
    /// The steps succeeded. The loop's own verification begins, as a separate run.
    VerifyStarted,
    /// The attempt has ended. Its record is durable.
    AttemptEnded {
        /// The record of the attempt.
        record: Box<AttemptRecord>,
    },
    /// The next attempt is the last one.
    BudgetWarning {
        /// The number of attempts left, including the next one.
        attempts_left: u32,
    },
    /// The loop has ended.
    LoopEnded {
        /// Why the loop ended.
        stop_reason: Box<StopReason>,
    },
}

impl RunEvent {
    /// The event for the end of a step. `note` is the note of the person who decided about the step.
    pub fn step_ended(result: Box<StepResult>, note: Option<String>) -> Self {
        match result.outcome {
            Outcome::Succeeded => Self::StepCompleted { result },
            Outcome::Skipped | Outcome::DoneByHand => {
                // Only a verification is skipped without a question.
                let reason = note.unwrap_or_else(|| SKIPPED_WITH_COMMAND.to_owned());
                Self::StepSkipped { result, reason }
            }
            Outcome::Failed
            | Outcome::Denied
            | Outcome::PreconditionFailed
            | Outcome::Cancelled => Self::StepFailed { result },
        }
    }

    /// The events for the end of a run, of which `completed` steps have ended. `left_running` are the names of the
    /// processes that were ended with it.
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

/// How and why a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnding {
    /// Every step was reached and none failed.
    Completed,
    /// A step failed, was denied, or its precondition did not hold.
    Failed(Failure),
    /// A person ended the run by this control.
    Cancelled(Control),
}

impl RunEnding {
    /// The status of the run.
    pub const fn status(&self) -> RunStatus {
        match self {
            Self::Completed => RunStatus::Completed,
            Self::Failed(_) => RunStatus::Failed,
            Self::Cancelled(_) => RunStatus::Cancelled,
        }
    }
}
