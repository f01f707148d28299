//! Results of steps and runs, as they stand in `--json` and in the evidence (SPEC §3).

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::diagnostic::DiagnosticArtifact;
use crate::authorization::StepWalls;
use crate::plan::words::words;
use crate::plan::{Code, Needs};

/// How much of a stream's start, and of its end, a [`StepResult`] carries: 256 KiB each.
pub const STREAM_HEAD_BYTES: usize = 256 << 10;

words! {
    /// How a step ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Outcome {
        /// The tool was invoked and succeeded.
        Succeeded = "succeeded",
        /// The tool was invoked and failed, or an approved ingredient had changed.
        Failed = "failed",
        /// A person denied the step.
        Denied = "denied",
        /// A person skipped the step.
        Skipped = "skipped",
        /// A person did the step by hand (SPEC §7.4).
        DoneByHand = "done_by_hand",
        /// What the step needed did not hold.
        PreconditionFailed = "precondition_failed",
        /// A person stopped the run.
        Cancelled = "cancelled",
    }
}

impl Outcome {
    /// Whether the run goes on after it.
    pub const fn goes_on(self) -> bool {
        matches!(self, Self::Succeeded | Self::Skipped | Self::DoneByHand)
    }
}

words! {
    /// How a run ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RunStatus {
        /// Every step was reached and none failed.
        Completed = "completed",
        /// A step failed, was denied, or its precondition did not hold.
        Failed = "failed",
        /// A person stopped it.
        Cancelled = "cancelled",
    }
}

/// Why a step did not succeed: code, message and what to do next (SPEC §6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The stable code.
    pub code: Code,
    /// What happened, with the offending value; a tool's own words are verbatim.
    pub message: String,
    /// What to do next; may be empty.
    pub next: String,
}

/// What became of one step (SPEC §3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepResult {
    /// The step's id.
    pub step_id: String,
    /// Its place, from 0.
    pub step_index: usize,
    /// The tool, as the plan names it.
    pub tool_name: String,
    /// True only for [`Outcome::Succeeded`].
    pub success: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// The evidence's id of this execution.
    pub execution_id: Uuid,
    /// Null where no process ran.
    pub exit_code: Option<i32>,
    /// At most the first and last 256 KiB, joined by a line that says what is left out.
    pub stdout: Option<String>,
    /// Size of the whole stdout in bytes.
    pub stdout_bytes: u64,
    /// Whether `stdout` is only a part.
    pub stdout_truncated: bool,
    /// As `stdout`.
    pub stderr: Option<String>,
    /// Size of the whole stderr in bytes.
    pub stderr_bytes: u64,
    /// Whether `stderr` is only a part.
    pub stderr_truncated: bool,
    /// What went wrong.
    pub error_message: Option<String>,
    /// Its stable code.
    pub error_code: Option<Code>,
    /// What to do next, where something went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Start of the step, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// How long the tool took, in milliseconds; waiting for a person is not in it.
    pub duration_ms: i64,
    /// Diagnostics of the tool.
    pub diagnostic_artifacts: Vec<DiagnosticArtifact>,
    /// What the plan asks for beyond the walls; none where it says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<Needs>,
    /// The walls that it had; none where it started no process on this computer, and where that is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walls: Option<StepWalls>,
    /// What walls refused although the step succeeded, and what was left running behind them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wall_notes: Vec<String>,
    /// Where it perhaps tried to write beyond its walls and may be granted to: an existing file or folder, absolute.
    /// A guess from what it printed; none where it succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_write: Option<String>,
}

/// What became of a run (SPEC §3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExecutionResult {
    /// The run.
    pub run_id: Uuid,
    /// The plan it ran.
    pub plan_id: String,
    /// How it ended.
    pub status: RunStatus,
    /// One result for each step that was reached; `step_results[i]` belongs to `plan.steps[i]`.
    pub step_results: Vec<StepResult>,
    /// Sum of the steps' durations, in milliseconds.
    pub total_duration_ms: i64,
    /// Wall clock from first to last, in milliseconds.
    pub elapsed_ms: i64,
}
