//! What callers hand to the [`EvidenceStore`](super::EvidenceStore): one type for each commit.

use serde_json::Value;
use uuid::Uuid;

use super::intake::Taken;
use crate::authorization::{PlanAuthorization, StepWalls};
use crate::plan::{Digest, Plan, Step};
use crate::risk::Verdict;
use crate::run::{
    AnsweredBy, ConfirmationRequest, Control, Decision, Edge, ExecutionResult, Failure, FileEffect,
    StepResult,
};

/// The beginning of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunStart<'a> {
    /// The run.
    pub run_id: Uuid,
    /// The plan it runs.
    pub plan: &'a Plan,
    /// The answer it runs under, which this consumes.
    pub authorization: &'a PlanAuthorization,
    /// When, in Unix milliseconds.
    pub started_at_ms: i64,
    /// The run that this one continues.
    pub parent_run: Option<Uuid>,
}

/// A tool is about to be called.
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
    /// The walls it runs behind; none where nobody determined them.
    pub walls: Option<&'a StepWalls>,
    /// What is predicted to happen to files; the contents are kept, so that an interrupted step can be
    /// compared with the disk.
    pub files: &'a [FileEffect],
    /// What people decided about the step before the call.
    pub decisions: &'a [NewDecision<'a>],
}

/// A step has ended, whether or not its tool was called.
#[derive(Debug, Clone, Copy)]
pub struct ExecutionRecord<'a> {
    /// What became of it. Its texts are stored from `stdout` and `stderr` below.
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
    /// The walls it ran behind; none where nobody determined them.
    pub walls: Option<&'a StepWalls>,
    /// Whether the tool was called.
    pub invoked: bool,
    /// The whole stdout; none where the tool has none.
    pub stdout: Option<&'a [u8]>,
    /// The whole stderr.
    pub stderr: Option<&'a [u8]>,
    /// What a program printed and was taken in as it came; `stdout` and `stderr` are none then.
    pub taken: Option<&'a Taken>,
    /// The return value; null is not stored.
    pub result_json: &'a Value,
    /// Further artifacts. `stdout`, `stderr`, `diagnostics`, `result` and `step_context` are written
    /// from the other fields.
    pub artifacts: &'a [(ArtifactType, Value)],
    /// What really happened to files.
    pub files: &'a [FileEffect],
    /// What was predicted to happen to them. Not stored again: previews show parts of these contents,
    /// and a part of a secret does not look like one.
    pub predicted: &'a [FileEffect],
    /// What the execution touched.
    pub edges: &'a [Edge],
    /// What people decided about the step and is not recorded yet.
    pub decisions: &'a [NewDecision<'a>],
}

/// The end of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunEnd<'a> {
    /// What became of it.
    pub result: &'a ExecutionResult,
    /// When, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// Why it failed.
    pub failure: Option<&'a Failure>,
    /// What a person asked for, when it was cancelled.
    pub cancelled_by: Option<Control>,
    /// The names of what steps had left running and was ended with the run.
    pub left_running: &'a [String],
    /// How often the wall clock went back during the run; the timestamps were held then (SPEC §3).
    pub clock_set_back: u32,
}

/// What kind of artifact (SPEC §8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the seven words of SPEC §8")]
pub enum ArtifactType {
    Stdout,
    Stderr,
    Diagnostics,
    Result,
    StepContext,
    Diff,
    Preview,
}

impl ArtifactType {
    /// The word as it stands in the evidence.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Diagnostics => "diagnostics",
            Self::Result => "result",
            Self::StepContext => "step_context",
            Self::Diff => "diff",
            Self::Preview => "preview",
        }
    }
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decided {
    /// The answer to a confirmation.
    Answer(Decision),
    /// A control of the whole run.
    Control(Control),
    /// An interrupted step was compared with the disk; the note says what was found.
    Reconcile,
}

impl Decided {
    /// The word as it stands in the evidence.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answer(decision) => decision.as_str(),
            Self::Control(control) => control.as_str(),
            Self::Reconcile => "reconcile",
        }
    }
}

/// One decision of a person, or of a flag they gave.
#[derive(Debug, Clone, Copy)]
pub struct NewDecision<'a> {
    /// What.
    pub decided: Decided,
    /// Through what it came.
    pub by: AnsweredBy,
    /// Why, in the person's words; may be empty.
    pub note: &'a str,
    /// When, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// What the person was shown, for the answer to a confirmation; kept, so that it can be said later
    /// on what they decided.
    pub request: Option<&'a ConfirmationRequest>,
}
