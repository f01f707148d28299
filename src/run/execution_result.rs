//! Result of a run, as `--json` contains it (SPEC §3).

use serde::Serialize;
use uuid::Uuid;

use super::{HostResult, RunStatus, StepResult};

/// Result of a run (SPEC §3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExecutionResult {
    /// The run.
    pub run_id: Uuid,
    /// The plan it ran.
    pub plan_id: String,
    /// How the run ended.
    pub status: RunStatus,
    /// One result for each step that was reached; `step_results[i]` belongs to `plan.steps[i]`.
    pub step_results: Vec<StepResult>,
    /// If the plan ran on several hosts, how each step ended on each of them, in the order in which they ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_results: Vec<HostResult>,
    /// Sum of the steps' durations, in milliseconds.
    pub total_duration_ms: i64,
    /// The time from the start to the end of the run, in milliseconds.
    pub elapsed_ms: i64,
    /// Why the end of the run is not signed although the settings ask for it (SPEC §14); `None` if it is, or if they do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_signed: Option<String>,
}
