//! What the journal commits: one entry for each transaction of a run or a bounded loop, and what each tells.

use serde_json::Value;
use uuid::Uuid;

use super::artifact_type::ArtifactType;
use super::capture::CapturedOutput;
use crate::authorization::{PlanAuthorization, StepWalls};
use crate::plan::{Digest, Plan, Step};
use crate::risk::Verdict;
use crate::run::{
    Answer, AnsweredBy, AttemptRecord, ConfirmationRequest, Control, Edge, FileEffect, Host,
    PlanDifference, RunEnding, RunEvent, StepResult, StopReason,
};

/// One transaction of a run or a bounded loop.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the types say it")]
pub enum Entry<'a> {
    RunStart(RunStart<'a>),
    Intent(IntentRecord<'a>),
    Execution(ExecutionRecord<'a>),
    Control(ControlRecord),
    RunEnd(RunEnd<'a>),
    LoopStart(LoopStart<'a>),
    AttemptStart(AttemptStart),
    AttemptEnd(AttemptEnd<'a>),
    LoopEnd(LoopEnd<'a>),
}

impl Entry<'_> {
    /// What is told once the entry is committed. Replay makes the same of its rows.
    pub fn told(&self) -> Vec<RunEvent> {
        match *self {
            Self::RunStart(start) => {
                let started = RunEvent::RunStarted {
                    run_id: start.run_id,
                    plan_id: start.plan.plan_id.clone(),
                    step_count: start.plan.steps.len(),
                    timestamp_ms: start.started_at_ms,
                };
                let reached = |host: &Host| RunEvent::HostReached { host: Box::new(host.clone()) };
                [Some(started), start.reached.map(reached)].into_iter().flatten().collect()
            }
            // The step was told when it began, before its precondition was checked.
            Self::Intent(_) => Vec::new(),
            Self::Execution(record) => {
                let note = record.decision.map(|decision| decision.answer.note.clone());
                vec![RunEvent::step_ended(Box::new(record.result.clone()), note)]
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
                timestamp_ms: start.started_at_ms,
            }],
            Self::AttemptStart(start) => vec![RunEvent::AttemptStarted {
                attempt: start.attempt,
                max_attempts: start.max_attempts,
                timestamp_ms: start.started_at_ms,
            }],
            Self::AttemptEnd(end) => {
                vec![RunEvent::AttemptEnded { record: Box::new(end.record.clone()) }]
            }
            Self::LoopEnd(end) => {
                vec![RunEvent::LoopEnded { stop_reason: Box::new(end.reason.clone()) }]
            }
        }
    }
}

/// The beginning of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunStart<'a> {
    /// The run.
    pub run_id: Uuid,
    /// The plan it runs.
    pub plan: &'a Plan,
    /// The answer it runs under, which this consumes.
    pub authorization: &'a PlanAuthorization,
    /// The host that it has reached, where its commands run on one.
    pub reached: Option<&'a Host>,
    /// When, in Unix milliseconds.
    pub started_at_ms: i64,
}

/// The intent: committed before the tool is called.
#[derive(Debug, Clone, Copy)]
pub struct IntentRecord<'a> {
    /// The execution it announces.
    pub execution_id: Uuid,
    /// The run.
    pub run_id: Uuid,
    /// The step.
    pub step: &'a Step,
    /// How dangerous it was judged.
    pub risk: &'a Verdict,
    /// Start of the step, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// Where it runs, for remote steps.
    pub host: Option<&'a str>,
    /// The walls it runs behind; none where they were not determined.
    pub walls: Option<&'a StepWalls>,
    /// The predicted changes; their contents are stored, so that an interrupted step can be
    /// compared with the disk.
    pub files: &'a [FileEffect],
    /// What a person decided about the step before the call.
    pub decision: Option<&'a StepDecision>,
}

/// The end of a step, whether or not its tool was called.
#[derive(Debug, Clone, Copy)]
pub struct ExecutionRecord<'a> {
    /// Its result. Its texts are stored from `stdout` and `stderr` below.
    pub result: &'a StepResult,
    /// The run.
    pub run_id: Uuid,
    /// The plan.
    pub plan: &'a Plan,
    /// The step.
    pub step: &'a Step,
    /// How dangerous it was judged.
    pub risk: &'a Verdict,
    /// The policy under which it was judged.
    pub policy: Digest,
    /// Where it ran, for remote steps.
    pub host: Option<&'a str>,
    /// The walls it ran behind; none where they were not determined.
    pub walls: Option<&'a StepWalls>,
    /// Whether the tool was called.
    pub invoked: bool,
    /// The whole stdout; none where the tool has none.
    pub stdout: Option<&'a [u8]>,
    /// The whole stderr.
    pub stderr: Option<&'a [u8]>,
    /// Output captured while the program ran; `stdout` and `stderr` are `None` then.
    pub taken: Option<&'a CapturedOutput>,
    /// The return value; null is not stored.
    pub result_json: &'a Value,
    /// Further artifacts. `stdout`, `stderr`, `diagnostics`, `result` and `step_context` are written
    /// from the other fields.
    pub artifacts: &'a [(ArtifactType, Value)],
    /// The actual changes of files.
    pub files: &'a [FileEffect],
    /// The predicted changes. Not stored again, only searched for secrets: previews show parts of these
    /// contents, and a part of a secret matches no rule.
    pub predicted: &'a [FileEffect],
    /// What the execution touched.
    pub edges: &'a [Edge],
    /// What a person decided about the step, where it is not recorded yet.
    pub decision: Option<&'a StepDecision>,
}

/// A person's answer to the confirmation of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepDecision {
    /// What they were shown; recorded, so that the subject of the decision stays known.
    pub request: ConfirmationRequest,
    /// What they answered.
    pub answer: Answer,
    /// When, in Unix milliseconds.
    pub timestamp_ms: i64,
}

/// A control of a whole run: pause, resume, cancel after this step, stop now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlRecord {
    /// The run.
    pub run_id: Uuid,
    /// What was asked for.
    pub control: Control,
    /// Through what it came.
    pub by: AnsweredBy,
    /// When, in Unix milliseconds.
    pub timestamp_ms: i64,
}

/// The end of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunEnd<'a> {
    /// The run.
    pub run_id: Uuid,
    /// How it ended, and why.
    pub ending: &'a RunEnding,
    /// How many steps had ended.
    pub completed_steps: usize,
    /// Sum of the steps' durations, in milliseconds.
    pub total_duration_ms: i64,
    /// Wall clock from first to last, in milliseconds.
    pub elapsed_ms: i64,
    /// The names of what steps had left running and was ended with the run.
    pub left_running: &'a [String],
    /// How often the wall clock went back during the run; the timestamps were held then (SPEC §3).
    pub clock_set_back: u32,
    /// When, in Unix milliseconds.
    pub timestamp_ms: i64,
}

/// The beginning of a bounded loop.
#[derive(Debug, Clone, Copy)]
pub struct LoopStart<'a> {
    /// The loop.
    pub loop_id: Uuid,
    /// What it is to reach.
    pub goal: &'a str,
    /// Who makes the plans, as the person named it.
    pub planner: &'a str,
    /// The workspace folder.
    pub workspace: &'a str,
    /// How often the planner is asked at most.
    pub max_attempts: u32,
    /// What it verifies by itself: `local`, `full` or `none`.
    pub verify: &'a str,
    /// The class of plans that was authorized in advance; recorded already.
    pub class_id: Option<Uuid>,
    /// When, in Unix milliseconds.
    pub started_at_ms: i64,
}

/// The beginning of an attempt; committed before the planner is started.
#[derive(Debug, Clone, Copy)]
pub struct AttemptStart {
    /// The attempt.
    pub attempt_id: Uuid,
    /// The loop.
    pub loop_id: Uuid,
    /// Which one, from 1.
    pub attempt: u32,
    /// Of so many; recorded with the loop.
    pub max_attempts: u32,
    /// When, in Unix milliseconds.
    pub started_at_ms: i64,
}

/// What went into a planner's process and came out of it.
#[derive(Debug, Clone, Default)]
pub struct PlannerTrace {
    /// What it was asked.
    pub request: Vec<u8>,
    /// What it printed to its standard output.
    pub answer: Vec<u8>,
    /// What it printed to its standard error.
    pub stderr: Vec<u8>,
    /// The code it ended with.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was ended because it took too long.
    pub timed_out: bool,
    /// How long it took, in milliseconds.
    pub duration_ms: i64,
    /// Why its plan is another one than that before, and how they differ.
    pub revised: Option<(String, PlanDifference)>,
}

/// The end of an attempt.
#[derive(Debug, Clone, Copy)]
pub struct AttemptEnd<'a> {
    /// The attempt.
    pub attempt_id: Uuid,
    /// What became of it.
    pub record: &'a AttemptRecord,
    /// The planner's process; none when it was never started.
    pub trace: Option<&'a PlannerTrace>,
    /// When, in Unix milliseconds.
    pub ended_at_ms: i64,
}

/// The end of a loop.
#[derive(Debug, Clone, Copy)]
pub struct LoopEnd<'a> {
    /// The loop.
    pub loop_id: Uuid,
    /// Why.
    pub reason: &'a StopReason,
    /// When, in Unix milliseconds.
    pub ended_at_ms: i64,
}
