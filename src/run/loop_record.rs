//! Answers of the evidence about bounded loops (SPEC §10) as plain data.

use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::{
    AttemptRecord, Fate, LookRecord, LookScope, PurgeNote, RunSummary, StopCode, StopReason,
};

/// What is known about the end of a loop.
pub type LoopFate = Fate<StopCode>;

impl LoopFate {
    /// The value as it is written in lists and in `--json`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ended(code) => code.as_str(),
            Self::Active => "active",
            Self::Interrupted => "interrupted",
        }
    }
}

/// One loop in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LoopSummary {
    /// The loop.
    pub loop_id: Uuid,
    /// The goal of the loop.
    pub goal: String,
    /// The planner, as the person named it.
    pub planner: String,
    /// The workspace folder.
    pub workspace: String,
    /// The maximum number of attempts.
    pub max_attempts: u32,
    /// The scope of the loop's own verification: `local`, `full` or `none`.
    pub verify: String,
    /// The class of plans that was authorized in advance.
    pub class_id: Option<Uuid>,
    /// What the planner may look at; `None` in records of older versions.
    pub looks: Option<LookScope>,
    /// The SSH destination of the goal's host.
    pub target: Option<String>,
    /// The number of attempts that were begun.
    pub attempts_begun: usize,
    /// The time of the start, in Unix milliseconds.
    pub started_at_ms: i64,
    /// The time of the end, in Unix milliseconds.
    pub ended_at_ms: Option<i64>,
    /// What is known about the end.
    #[serde(rename = "status")]
    pub fate: LoopFate,
    /// The purge of its records; `None` if they were not purged as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purged: Option<PurgeNote>,
}

/// One attempt of a loop, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttemptDetail {
    /// The attempt.
    pub attempt_id: Uuid,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The name of the moment before its runs: `loop:ID:N`.
    pub checkpoint: String,
    /// The time of the start, in Unix milliseconds.
    pub started_at_ms: i64,
    /// The time of the end, in Unix milliseconds; `None` if the attempt was interrupted or is running.
    pub ended_at_ms: Option<i64>,
    /// The record of the attempt; `None` if it has no end.
    pub record: Option<AttemptRecord>,
    /// What the planner looked at, if the attempt has no end; otherwise its record contains it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<LookRecord>,
    /// The planner's input, answer and standard error, and how its process ended; null if the attempt has no end.
    pub planner_process: Value,
    /// The run of the plan, and that of the loop's own verification.
    pub runs: Vec<RunSummary>,
    /// The purge of what was recorded of the attempt; `None` if that was not purged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purged: Option<PurgeNote>,
}

/// One loop in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LoopDetail {
    /// The loop.
    #[serde(flatten)]
    pub summary: LoopSummary,
    /// The class of plans that was authorized in advance.
    pub class: Option<Value>,
    /// Whether that class was revoked.
    pub class_revoked: bool,
    /// Why the loop ended.
    pub stop_reason: Option<StopReason>,
    /// The attempts, in order.
    pub attempts: Vec<AttemptDetail>,
}
