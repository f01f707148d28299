//! The entries of the journal: one for each transaction of a run or a bounded loop, with its events.

use serde_json::Value;
use uuid::Uuid;

use super::durability::Flushed;
use super::{ArtifactType, CapturedOutput};
use crate::authorization::{PlanAuthorization, SecretInputs, StepWalls};
use crate::plan::{Digest, Plan, Step, ToolClass};
use crate::risk::Verdict;
use crate::run::{
    Answer, AnsweredBy, AttemptRecord, ConfirmationRequest, Control, Edge, FileEffect, FleetReview,
    Host, HostResult, LookRecord, LookScope, Looked, Outcome, PlanDifference, RunEnding, RunEvent,
    StepResult, StopReason,
};

/// One transaction of a run or a bounded loop.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the contents of the variants have docs")]
pub enum Entry<'a> {
    RunStart(RunStart<'a>),
    Intent(IntentRecord<'a>),
    Execution(ExecutionRecord<'a>),
    HostExecution(ExecutionRecord<'a>, &'a HostResult),
    Control(ControlRecord),
    RunEnd(RunEnd<'a>),
    LoopStart(LoopStart<'a>),
    AttemptStart(AttemptStart),
    PlannerLooks(PlannerLooks<'a>),
    AttemptEnd(AttemptEnd<'a>),
    LoopEnd(LoopEnd<'a>),
}

impl Entry<'_> {
    /// When the entry must be on the disk. A failure ends the run, and an answer of a person is not asked for twice, so
    /// both are flushed at once.
    pub(super) fn flushed(&self) -> Flushed {
        match self {
            Self::Execution(record)
                if record.result.outcome == Outcome::Succeeded && record.decision.is_none() =>
            {
                match record.step.call.class() {
                    ToolClass::Read => Flushed::Later,
                    _ => Flushed::Soon,
                }
            }
            // There may be thousands, and the step itself is recorded after them.
            Self::HostExecution(..) => Flushed::Soon,
            _ => Flushed::Now,
        }
    }

    /// The events of the entry, sent after its commit. Replay rebuilds the same events from the rows.
    pub fn events(&self) -> Vec<RunEvent> {
        match *self {
            Self::RunStart(start) => {
                let started = RunEvent::RunStarted {
                    run_id: start.run_id,
                    plan_id: start.plan.plan_id.clone(),
                    step_count: start.plan.steps.len(),
                    timestamp_ms: start.started_at_ms,
                };
                let reached = |host: &Host| RunEvent::HostReached { host: Box::new(host.clone()) };
                let known = |fleet: &FleetReview| RunEvent::HostsKnown {
                    hosts: fleet.hosts.iter().map(ToString::to_string).collect(),
                };
                let more = [start.reached.map(reached), start.fleet.map(known)];
                [Some(started)].into_iter().chain(more).flatten().collect()
            }
            // The event for the start of the step was sent before its precondition was checked.
            Self::Intent(_) => Vec::new(),
            Self::Execution(record) => {
                let note = record.decision.map(|decision| decision.answer.note.clone());
                vec![RunEvent::step_ended(Box::new(record.result.clone()), note)]
            }
            Self::HostExecution(_, result) => {
                vec![RunEvent::HostEnded { result: Box::new(result.clone()) }]
            }
            Self::Control(ControlRecord { control, .. }) => {
                vec![RunEvent::ControlRequested { control }]
            }
            Self::RunEnd(end) => RunEvent::run_ended(
                end.ending.clone(),
                end.completed_steps,
                end.left_running.to_vec(),
            ),
            Self::LoopStart(start) => vec![RunEvent::LoopStarted {
                loop_id: start.loop_id,
                goal: start.goal.to_owned(),
                planner: start.planner.to_owned(),
                workspace: start.workspace.to_owned(),
                max_attempts: start.max_attempts,
                class_id: start.class_id,
                looks: start.looks,
                target: start.target.map(str::to_owned),
                timestamp_ms: start.started_at_ms,
            }],
            Self::AttemptStart(start) => vec![RunEvent::AttemptStarted {
                attempt: start.attempt,
                max_attempts: start.max_attempts,
                timestamp_ms: start.started_at_ms,
            }],
            Self::PlannerLooks(looks) => {
                let round = looks.round;
                vec![RunEvent::PlannerLooked { round, looks: looks.records() }]
            }
            Self::AttemptEnd(end) => {
                vec![RunEvent::AttemptEnded { record: Box::new(end.record.clone()) }]
            }
            Self::LoopEnd(end) => {
                vec![RunEvent::LoopEnded { stop_reason: Box::new(end.reason.clone()) }]
            }
        }
    }
}

/// The start of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunStart<'a> {
    /// The run.
    pub run_id: Uuid,
    /// The plan it runs.
    pub plan: &'a Plan,
    /// The secrets that are redacted in the records of the run.
    pub secret_inputs: &'a SecretInputs,
    /// The authorization of the run. The entry consumes it.
    pub authorization: &'a PlanAuthorization,
    /// The host that was reached, if the commands run on a remote host.
    pub reached: Option<&'a Host>,
    /// The hosts and what runs on them, if the plan runs on several hosts.
    pub fleet: Option<&'a FleetReview>,
    /// The time of the start, in Unix milliseconds.
    pub started_at_ms: i64,
}

/// The intent to call a tool, committed before the call.
#[derive(Debug, Clone, Copy)]
pub struct IntentRecord<'a> {
    /// The execution that follows.
    pub execution_id: Uuid,
    /// The run.
    pub run_id: Uuid,
    /// The step.
    pub step: &'a Step,
    /// The risk of the step.
    pub risk: &'a Verdict,
    /// The time of the step's start, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// The host of the step, if it runs on a remote host.
    pub host: Option<&'a str>,
    /// The walls of the step; `None` if they were not determined.
    pub walls: Option<&'a StepWalls>,
    /// The predicted changes. Their contents are stored, so that an interrupted step can be compared with the disk.
    pub files: &'a [FileEffect],
    /// The person's decision about the step before the call.
    pub decision: Option<&'a StepDecision>,
}

/// The end of a step, whether or not its tool was called.
#[derive(Debug, Clone, Copy)]
pub struct ExecutionRecord<'a> {
    /// The result. Its excerpts of the output are not stored, because the complete output is.
    pub result: &'a StepResult,
    /// The run.
    pub run_id: Uuid,
    /// The plan.
    pub plan: &'a Plan,
    /// The step.
    pub step: &'a Step,
    /// The risk of the step.
    pub risk: &'a Verdict,
    /// The digest of the policy under which the risk was judged.
    pub policy: Digest,
    /// The host of the step, if it ran on a remote host.
    pub host: Option<&'a str>,
    /// The walls of the step; `None` if they were not determined.
    pub walls: Option<&'a StepWalls>,
    /// Whether the tool was called.
    pub invoked: bool,
    /// The complete stdout; `None` if the tool has none or it was captured.
    pub stdout: Option<&'a [u8]>,
    /// The complete stderr; `None` if the tool has none or it was captured.
    pub stderr: Option<&'a [u8]>,
    /// The output that was captured while the program ran.
    pub captured: Option<&'a CapturedOutput>,
    /// The return value of the tool; null is not stored.
    pub result_json: &'a Value,
    /// Further artifacts. `stdout`, `stderr`, `diagnostics`, `result` and `step_context` are made from the other
    /// fields.
    pub artifacts: &'a [(ArtifactType, Value)],
    /// The actual changes of files.
    pub files: &'a [FileEffect],
    /// The predicted changes, which the intent stored. If there are no actual changes, these contents are searched for
    /// secrets instead: previews show parts of them, and no rule recognises a part of a secret.
    pub predicted: &'a [FileEffect],
    /// The links to files, symbols and diagnostics.
    pub edges: &'a [Edge],
    /// The person's decision about the step, if it is not recorded yet.
    pub decision: Option<&'a StepDecision>,
}

/// A person's answer to the confirmation of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepDecision {
    /// The question that the person saw; recorded with the answer.
    pub request: ConfirmationRequest,
    /// The answer.
    pub answer: Answer,
    /// The time of the answer, in Unix milliseconds.
    pub timestamp_ms: i64,
}

/// A control that a person requested for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlRecord {
    /// The run.
    pub run_id: Uuid,
    /// The requested control.
    pub control: Control,
    /// Through which interface it was requested.
    pub by: AnsweredBy,
    /// The time of the request, in Unix milliseconds.
    pub timestamp_ms: i64,
}

/// The end of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunEnd<'a> {
    /// The run.
    pub run_id: Uuid,
    /// How and why the run ended.
    pub ending: &'a RunEnding,
    /// The number of steps that had ended.
    pub completed_steps: usize,
    /// The sum of the steps' durations, in milliseconds.
    pub total_duration_ms: i64,
    /// The time from the start to the end of the run, in milliseconds.
    pub elapsed_ms: i64,
    /// The names of the processes that steps had left running and that were ended with the run.
    pub left_running: &'a [String],
    /// How often the wall clock was set back during the run. The timestamps did not decrease then (SPEC §3).
    pub clock_set_back: u32,
    /// The time of the end, in Unix milliseconds.
    pub timestamp_ms: i64,
}

/// The start of a bounded loop.
#[derive(Debug, Clone, Copy)]
pub struct LoopStart<'a> {
    /// The loop.
    pub loop_id: Uuid,
    /// The goal of the loop.
    pub goal: &'a str,
    /// The planner, as the person named it.
    pub planner: &'a str,
    /// The workspace folder.
    pub workspace: &'a str,
    /// The maximum number of attempts.
    pub max_attempts: u32,
    /// The scope of the loop's own verification: `local`, `full` or `none`.
    pub verify: &'a str,
    /// The class of plans that was authorized in advance; recorded before the loop starts.
    pub class_id: Option<Uuid>,
    /// What the planner may look at.
    pub looks: LookScope,
    /// The SSH destination of the goal's host.
    pub target: Option<&'a str>,
    /// The time of the start, in Unix milliseconds.
    pub started_at_ms: i64,
}

/// The start of an attempt; committed before the planner is started.
#[derive(Debug, Clone, Copy)]
pub struct AttemptStart {
    /// The attempt.
    pub attempt_id: Uuid,
    /// The loop.
    pub loop_id: Uuid,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The maximum number of attempts; recorded with the loop.
    pub max_attempts: u32,
    /// The time of the start, in Unix milliseconds.
    pub started_at_ms: i64,
}

/// What a planner looked at in one round of an attempt; committed before the planner gets the answers.
#[derive(Debug, Clone, Copy)]
pub struct PlannerLooks<'a> {
    /// The attempt.
    pub attempt_id: Uuid,
    /// The number of the round, from 1.
    pub round: u32,
    /// The looks with their answers, without secrets.
    pub looked: &'a [Looked],
    /// The time of the answers, in Unix milliseconds.
    pub timestamp_ms: i64,
}

impl PlannerLooks<'_> {
    /// The looks without what they found.
    pub fn records(&self) -> Vec<LookRecord> {
        self.looked.iter().map(Looked::record).collect()
    }
}

/// The input and output of a planner's process.
#[derive(Debug, Clone, Default)]
pub struct PlannerTrace {
    /// The request, sent on the standard input.
    pub request: Vec<u8>,
    /// The answer, from the standard output.
    pub answer: Vec<u8>,
    /// The standard error.
    pub stderr: Vec<u8>,
    /// The exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended the process.
    pub signal: Option<i32>,
    /// Whether the process was ended because it exceeded its time limit.
    pub timed_out: bool,
    /// How long the process ran, in milliseconds.
    pub duration_ms: i64,
    /// Why the previous plan did not complete the loop, and how the new plan differs from it. `None` if there is no
    /// previous or no new plan.
    pub revised: Option<(String, PlanDifference)>,
}

/// The end of an attempt.
#[derive(Debug, Clone, Copy)]
pub struct AttemptEnd<'a> {
    /// The attempt.
    pub attempt_id: Uuid,
    /// The record of the attempt.
    pub record: &'a AttemptRecord,
    /// The planner's process; `None` if it was never started.
    pub trace: Option<&'a PlannerTrace>,
    /// The time of the end, in Unix milliseconds.
    pub ended_at_ms: i64,
}

/// The end of a loop.
#[derive(Debug, Clone, Copy)]
pub struct LoopEnd<'a> {
    /// The loop.
    pub loop_id: Uuid,
    /// Why the loop ended.
    pub reason: &'a StopReason,
    /// The time of the end, in Unix milliseconds.
    pub ended_at_ms: i64,
}
