//! A short summary of the evidence of one workspace (SPEC §8, §10). It is part of a planner's request and describes
//! what was tried there before.

use serde::Serialize;
use uuid::Uuid;

use super::{ExecutionDetail, FileExecution, LaterMutation, ListedExecution, RecurringDiagnostic};

/// What the summary concentrates on: mostly the subjects of the previous attempt.
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
    /// The number of executions.
    pub count: u64,
    /// The number of executions that failed, or whose precondition did not hold.
    pub failed: u64,
    /// The start of the latest execution, in Unix milliseconds.
    pub last_ms: i64,
}

/// A few rows for each of the eight questions, of one workspace. `cut` names the questions that have more rows.
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
    /// Diagnostics that were seen several times, most frequent first.
    pub q7: Vec<RecurringDiagnostic>,
    /// Changes of files after a diagnostic of the focus, by time.
    pub q8: Vec<LaterMutation>,
    /// The names of the questions that have more rows than these.
    pub cut: Vec<String>,
}
