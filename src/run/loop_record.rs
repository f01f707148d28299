//! Answers of the evidence about bounded loops (SPEC §10) as plain data.

use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::attempt::AttemptRecord;
use super::record::RunSummary;
use super::stop_reason::{StopCode, StopReason};

/// What is known about the end of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopFate {
    /// A live process is working on it.
    Active,
    /// The loop was interrupted. It will not resume by itself.
    Interrupted,
    /// It ended, for this reason.
    #[serde(untagged)]
    Ended(StopCode),
}

impl LoopFate {
    /// The word for lists and data.
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
    /// What it was to reach.
    pub goal: String,
    /// Who made the plans, as the person named it.
    pub planner: String,
    /// The workspace folder.
    pub workspace: String,
    /// How often the planner was asked at most.
    pub max_attempts: u32,
    /// What it verifies by itself: `local`, `full` or `none`.
    pub verify: String,
    /// The class of plans that was authorized in advance.
    pub class_id: Option<Uuid>,
    /// How many attempts were begun.
    pub attempts_begun: usize,
    /// When it started, in Unix milliseconds.
    pub started_at_ms: i64,
    /// When it ended, in Unix milliseconds.
    pub ended_at_ms: Option<i64>,
    /// What is known about its end.
    #[serde(rename = "status")]
    pub fate: LoopFate,
}

/// One attempt of a loop, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttemptDetail {
    /// The attempt.
    pub attempt_id: Uuid,
    /// Which one, from 1.
    pub attempt: u32,
    /// The name of the state that its runs began with: `loop:ID:N`.
    pub checkpoint: String,
    /// When it began, in Unix milliseconds.
    pub started_at_ms: i64,
    /// When it ended, in Unix milliseconds; none when it was interrupted or is under way.
    pub ended_at_ms: Option<i64>,
    /// What became of it; none when it has no end.
    pub record: Option<AttemptRecord>,
    /// What the planner was asked, what it answered and printed, and how it ended; null without an end.
    pub planner_process: Value,
    /// The run of its plan, and that of the loop's own verification.
    pub runs: Vec<RunSummary>,
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
    /// Why it ended.
    pub stop_reason: Option<StopReason>,
    /// Its attempts, in order.
    pub attempts: Vec<AttemptDetail>,
}
