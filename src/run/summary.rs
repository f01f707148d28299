//! What the evidence says of one workspace in a few rows (SPEC §8, §10): for a planner, which shall know what
//! was tried there.

use serde::Serialize;
use uuid::Uuid;

use super::question::{FileExecution, LaterMutation, ListedExecution, RecurringDiagnostic};
use super::record::ExecutionDetail;

/// What is asked about in particular: mostly what the attempt before was about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Focus {
    /// Diagnostic codes, for Q3 and Q8.
    pub codes: Vec<String>,
    /// Files, by their path in the workspace, for Q4 and Q6.
    pub files: Vec<String>,
    /// Executions, for Q5.
    pub executions: Vec<Uuid>,
}

/// How often a tool was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolCount {
    /// The tool.
    pub tool_name: String,
    /// How many executions.
    pub count: u64,
    /// How many of them failed, or did not begin because their precondition did not hold.
    pub failed: u64,
    /// The start of the latest, in Unix milliseconds.
    pub last_ms: i64,
}

/// A few rows of each of the eight questions, of one workspace. Where there is more, the names of what was
/// cut are in `cut`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct EvidenceSummary {
    /// How often each tool was used, the latest first.
    pub tools: Vec<ToolCount>,
    /// The latest executions, by time.
    pub q1: Vec<ListedExecution>,
    /// The latest failures, the newest first.
    pub q2: Vec<ListedExecution>,
    /// Executions with a diagnostic code of the focus, by time.
    pub q3: Vec<ListedExecution>,
    /// Executions that touched a file of the focus, by time.
    pub q4: Vec<FileExecution>,
    /// Executions of the focus in full.
    pub q5: Vec<ExecutionDetail>,
    /// The latest execution that worked on each file of the focus.
    pub q6: Vec<ListedExecution>,
    /// Diagnostics that were seen again and again, most frequent first.
    pub q7: Vec<RecurringDiagnostic>,
    /// Changes of files after a diagnostic of the focus, by time.
    pub q8: Vec<LaterMutation>,
    /// Of which questions there is more than these rows.
    pub cut: Vec<String>,
}
