//! Results of steps and runs, as `--json` and the evidence contain them (SPEC §3).

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::DiagnosticArtifact;
use crate::authorization::StepWalls;
use crate::plan::words::words;
use crate::plan::{Code, Needs};

/// The maximum size of the start of a stream, and of its end, in a [`StepResult`]: 256 KiB each.
pub const STREAM_HEAD_BYTES: usize = 256 << 10;

words! {
    /// How a step ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Outcome {
        /// The tool was called and succeeded.
        Succeeded = "succeeded",
        /// The tool was called and failed, or an approved input had changed.
        Failed = "failed",
        /// A person denied the step.
        Denied = "denied",
        /// A person skipped the step.
        Skipped = "skipped",
        /// A person did the step by hand (SPEC §7.4).
        DoneByHand = "done_by_hand",
        /// A precondition of the step did not hold.
        PreconditionFailed = "precondition_failed",
        /// A person stopped the run.
        Cancelled = "cancelled",
    }
}

impl Outcome {
    /// Whether the run continues after this outcome.
    pub const fn continues_run(self) -> bool {
        matches!(self, Self::Succeeded | Self::Skipped | Self::DoneByHand)
    }

    /// What a person said with the decision that led to this outcome. An approval is no reason for what followed.
    pub fn words_of(self, note: Option<&str>) -> String {
        let is_decided = matches!(self, Self::Denied | Self::Skipped | Self::DoneByHand);
        note.filter(|_| is_decided).unwrap_or_default().to_owned()
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
        /// A person stopped the run.
        Cancelled = "cancelled",
    }
}

/// Why a step did not succeed: a code, a message and what to do next (SPEC §6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The stable code.
    pub code: Code,
    /// The message, with the offending value; text of a tool is quoted verbatim.
    pub message: String,
    /// What to do next; may be empty.
    pub next: String,
}

/// Result of one step (SPEC §3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepResult {
    /// The step's id.
    pub step_id: String,
    /// The index of the step, from 0.
    pub step_index: usize,
    /// The tool, as the plan names it.
    pub tool_name: String,
    /// True only for [`Outcome::Succeeded`].
    pub success: bool,
    /// How the step ended.
    pub outcome: Outcome,
    /// The id of the execution in the evidence.
    pub execution_id: Uuid,
    /// The exit code; null if no process ran.
    pub exit_code: Option<i32>,
    /// Whether the step ran in a terminal, so that `stdout` is what the terminal was sent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub terminal: bool,
    /// At most the first and the last 256 KiB, joined by a line that states how many bytes are left out.
    pub stdout: Option<String>,
    /// Size of the complete stdout in bytes.
    pub stdout_bytes: u64,
    /// Whether `stdout` is only a part.
    pub stdout_truncated: bool,
    /// The standard error, in the same form as `stdout`.
    pub stderr: Option<String>,
    /// Size of the complete stderr in bytes.
    pub stderr_bytes: u64,
    /// Whether `stderr` is only a part.
    pub stderr_truncated: bool,
    /// The error message.
    pub error_message: Option<String>,
    /// The stable code of the error.
    pub error_code: Option<Code>,
    /// Whether the tool found the call impossible before it changed anything, as a batch with an edit that cannot be
    /// applied (SPEC §9).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
    /// What to do next after an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What was said with the decision to deny or to skip the step, or to do it by hand: the person's words, or the flag that
    /// decided. Absent if nothing was said.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Start of the step, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// How long the tool took, in milliseconds, without waiting for a person.
    pub duration_ms: i64,
    /// The diagnostics of the tool.
    pub diagnostic_artifacts: Vec<DiagnosticArtifact>,
    /// The access beyond the walls that the plan requests; `None` if it requests none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<Needs>,
    /// The walls of the step; `None` if it started no process on this computer, or the walls were not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walls: Option<StepWalls>,
    /// What the walls refused although the step succeeded, and which processes were left running behind them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wall_notes: Vec<String>,
    /// The absolute path of an existing file or folder beyond the walls, to which the step perhaps tried to write and
    /// to which access can be granted. Guessed from the output; `None` if the step succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_write: Option<String>,
}
