//! What is kept of each attempt of a bounded loop (SPEC §10), and of each of its actions (SPEC §9).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::diagnostic::DiagnosticArtifact;
use super::result::{Outcome, StepResult};
use super::stop_reason::StopCode;
use crate::plan::words::words;
use crate::plan::{Code, Digest, Finding, VerifyScope};

words! {
    /// The code of a failed action, in the words of the action dialect (SPEC §9).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[expect(missing_docs, reason = "the seven words of SPEC §9")]
    pub enum ActionErrorCode {
        InvalidActionPayload = "invalid_action_payload",
        BadRequest = "bad_request",
        UnsupportedAction = "unsupported_action",
        NotFound = "not_found",
        Conflict = "conflict",
        ValidationFailed = "validation_failed",
        InternalError = "internal_error",
    }
}

impl ActionErrorCode {
    /// The word for a failure of ours.
    pub const fn of(code: Code) -> Self {
        match code {
            Code::UnknownTool => Self::UnsupportedAction,
            // What a payload lacks shows before anything runs; a request that is well formed may still ask
            // for something that cannot be. So does a person who says no.
            Code::MissingArgument => Self::InvalidActionPayload,
            Code::BadArgument
            | Code::OutsideWorkspace
            | Code::ConfirmationDenied
            | Code::Cancelled => Self::BadRequest,
            Code::FileNotFound
            | Code::NoCargoProject
            | Code::NoCodegraph
            | Code::SymbolNotFound => Self::NotFound,
            Code::PreconditionFailed | Code::Stale | Code::Conflict => Self::Conflict,
            Code::Splice | Code::CargoCheck | Code::CommandFailed => Self::ValidationFailed,
            _ => Self::InternalError,
        }
    }
}

/// Whether another attempt may mend a failure of an action (SPEC §10): E1xx, E3xx and E004, except a denial
/// and a stop, which are a person's.
pub fn is_retryable(code: Code) -> bool {
    // A wall is where it was at the next attempt, until a person moves it.
    let person = matches!(code, Code::ConfirmationDenied | Code::Cancelled | Code::StoppedByWall);
    let may_pass = matches!(code.as_str().get(..2), Some("E1" | "E3")) || code == Code::Stale;
    may_pass && !person
}

words! {
    /// How an action ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ActionStatus {
        /// It did what it was to do, or a person did it by hand.
        Succeeded = "succeeded",
        /// It failed, was denied or stopped.
        Failed = "failed",
        /// A person left it out, or it was not reached.
        Skipped = "skipped",
    }
}

/// Why an action failed: structured, never a panic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionError {
    /// The word of the action dialect.
    pub code: ActionErrorCode,
    /// What happened, with the offending value.
    pub message: String,
    /// Whether another attempt may mend it.
    pub retryable: bool,
    /// Our own code, the execution, and what to do next.
    pub details: Value,
}

/// What became of one action, or of one step of another dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionRecord {
    /// Its place in the plan, from 0; behind the last one for the loop's own verification.
    pub action_index: usize,
    /// The action's type or the step's tool; [`VERIFY_GATE`] for the loop's own verification.
    pub kind: String,
    /// How it ended.
    pub status: ActionStatus,
    /// In a few words, what it was.
    pub summary: String,
    /// Why it failed.
    pub error: Option<ActionError>,
    /// How long it took, in milliseconds; waiting for a person is not in it.
    pub duration_ms: i64,
}

/// The kind of the row that the loop adds when it verifies by itself.
pub const VERIFY_GATE: &str = "verify_gate";

impl ActionRecord {
    /// The record of a step that ended; `about` says in a few words what it was.
    pub fn of(result: &StepResult, about: &str) -> Self {
        let (status, remark) = match result.outcome {
            Outcome::Succeeded => (ActionStatus::Succeeded, ""),
            Outcome::DoneByHand => (ActionStatus::Succeeded, " (done by hand)"),
            Outcome::Skipped => (ActionStatus::Skipped, " (a person left it out)"),
            Outcome::Failed
            | Outcome::Denied
            | Outcome::PreconditionFailed
            | Outcome::Cancelled => (ActionStatus::Failed, ""),
        };
        let error = (status == ActionStatus::Failed).then(|| {
            let code = result.error_code.unwrap_or(Code::CommandFailed);
            ActionError {
                code: ActionErrorCode::of(code),
                message: result.error_message.clone().unwrap_or_default(),
                retryable: is_retryable(code),
                details: json!({
                    "code": code,
                    "execution_id": result.execution_id,
                    "exit_code": result.exit_code,
                    "next": result.next,
                }),
            }
        });
        Self {
            action_index: result.step_index,
            kind: result.tool_name.clone(),
            status,
            summary: format!("{about}{remark}"),
            error,
            duration_ms: result.duration_ms,
        }
    }

    /// The record of a step that was never begun.
    pub fn skipped(action_index: usize, kind: &str, summary: String) -> Self {
        Self {
            action_index,
            kind: kind.to_owned(),
            status: ActionStatus::Skipped,
            summary,
            error: None,
            duration_ms: 0,
        }
    }

    /// Our own code of its failure.
    pub fn code(&self) -> Option<Code> {
        let code = self.error.as_ref()?.details.get("code")?.as_str()?;
        Code::from_text(code)
    }
}

/// Whether a planner's answer could be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannerStatus {
    /// It is a plan that may be authorized.
    Accepted,
    /// It is none.
    Failed,
}

/// A finding about a planner's plan, as the records keep it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannerFinding {
    /// `note`, `warning` or `error`.
    pub severity: String,
    /// Its stable code.
    pub code: String,
    /// The action dialect's own name for it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// JSON pointer to the value at fault.
    pub pointer: String,
    /// Its line, from 1.
    pub line: usize,
    /// Its column, from 1.
    pub column: usize,
    /// What is wrong and what to do.
    pub message: String,
    /// The values that would have been accepted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub allowed: Vec<String>,
}

impl From<&Finding> for PlannerFinding {
    fn from(finding: &Finding) -> Self {
        Self {
            severity: finding.severity.as_str().to_owned(),
            code: finding.code.as_str().to_owned(),
            name: finding.name.map(str::to_owned),
            pointer: finding.pointer.clone(),
            line: finding.line,
            column: finding.column,
            message: finding.message.clone(),
            allowed: finding.allowed.clone(),
        }
    }
}

/// What a planner answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannerReport {
    /// Whether there is a plan to authorize.
    pub status: PlannerStatus,
    /// The version that the plan names, where its dialect has one.
    pub version: Option<String>,
    /// How many actions or steps the plan has.
    pub action_count: usize,
    /// Why there is no plan: the planner's own code, or one of ours.
    pub failure_code: Option<String>,
    /// The same in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// Whether asking again may help.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retryable: Option<bool>,
    /// Everything there is to say about the plan.
    pub findings: Vec<PlannerFinding>,
}

impl PlannerReport {
    /// A report that says nothing else yet.
    pub const fn new(status: PlannerStatus) -> Self {
        Self {
            status,
            version: None,
            action_count: 0,
            failure_code: None,
            message: None,
            retryable: None,
            findings: Vec::new(),
        }
    }
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyRecord {
    /// How much it looked at.
    pub scope: VerifyScope,
    /// Whether it passed.
    pub passed: bool,
    /// What it said.
    pub diagnostics: Vec<DiagnosticArtifact>,
}

/// Everything that is kept of an attempt (SPEC §10).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// Which one, from 1.
    pub attempt: u32,
    /// Of so many.
    pub max_attempts: u32,
    /// What the planner answered.
    pub planner: PlannerReport,
    /// The digest of the plan's exact bytes.
    pub plan_digest: Option<Digest>,
    /// The run of the plan.
    pub run_id: Option<Uuid>,
    /// What became of each action, the loop's own verification among them.
    pub actions: Vec<ActionRecord>,
    /// What the verification found; none when there was none.
    pub verify: Option<VerifyRecord>,
    /// Why the loop ended with it; none when it went on.
    pub stop_reason: Option<StopCode>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every code, its word in the action dialect, and whether another attempt may mend it.
    const TABLE: [(Code, ActionErrorCode, bool); 23] = [
        (Code::Stale, ActionErrorCode::Conflict, true),
        (Code::FileNotFound, ActionErrorCode::NotFound, true),
        (Code::NoCargoProject, ActionErrorCode::NotFound, true),
        (Code::NoCodegraph, ActionErrorCode::NotFound, true),
        (Code::SymbolNotFound, ActionErrorCode::NotFound, true),
        (Code::PreconditionFailed, ActionErrorCode::Conflict, true),
        (Code::ConfirmationDenied, ActionErrorCode::BadRequest, false),
        (Code::UnknownTool, ActionErrorCode::UnsupportedAction, false),
        (Code::MissingArgument, ActionErrorCode::InvalidActionPayload, false),
        (Code::BadArgument, ActionErrorCode::BadRequest, false),
        (Code::OutsideWorkspace, ActionErrorCode::BadRequest, false),
        (Code::ReadFailed, ActionErrorCode::InternalError, true),
        (Code::WriteFailed, ActionErrorCode::InternalError, true),
        (Code::Splice, ActionErrorCode::ValidationFailed, true),
        (Code::CargoCheck, ActionErrorCode::ValidationFailed, true),
        (Code::CommandFailed, ActionErrorCode::ValidationFailed, true),
        (Code::TimedOut, ActionErrorCode::InternalError, true),
        (Code::Cancelled, ActionErrorCode::BadRequest, false),
        (Code::HostUnreachable, ActionErrorCode::InternalError, true),
        (Code::OutputLimit, ActionErrorCode::InternalError, true),
        (Code::CodeEngine, ActionErrorCode::InternalError, true),
        (Code::Conflict, ActionErrorCode::Conflict, true),
        (Code::StoppedByWall, ActionErrorCode::InternalError, false),
    ];

    #[test]
    fn every_code_has_its_word_and_retryability() {
        for (code, word, retryable) in TABLE {
            assert_eq!(
                (ActionErrorCode::of(code), is_retryable(code)),
                (word, retryable),
                "{code}"
            );
        }
        for code in Code::ALL {
            let of_a_step = matches!(code.as_str().get(..2), Some("E1" | "E2" | "E3"));
            let is_listed = TABLE.iter().any(|(listed, ..)| listed == code);
            assert!(is_listed || !of_a_step, "{code} is not in the table");
            if !is_listed {
                assert!(!is_retryable(*code), "{code}");
                assert_eq!(ActionErrorCode::of(*code), ActionErrorCode::InternalError, "{code}");
            }
        }
        for (_, word) in ActionErrorCode::WORDS {
            assert_eq!(serde_json::to_value(word).unwrap(), word.as_str());
            assert!(TABLE.iter().any(|(_, listed, _)| listed == word), "{}", word.as_str());
        }
    }

    fn result(outcome: Outcome, code: Option<Code>) -> StepResult {
        StepResult {
            step_id: "action_1".to_owned(),
            step_index: 1,
            tool_name: "verify".to_owned(),
            success: outcome == Outcome::Succeeded,
            outcome,
            execution_id: Uuid::nil(),
            exit_code: Some(101),
            stdout: None,
            stdout_bytes: 0,
            stdout_truncated: false,
            stderr: None,
            stderr_bytes: 0,
            stderr_truncated: false,
            error_message: code.map(|_| "it is broken".to_owned()),
            error_code: code,
            next: None,
            timestamp_ms: 0,
            duration_ms: 7,
            diagnostic_artifacts: Vec::new(),
            needs: None,
            walls: None,
            wall_notes: Vec::new(),
            refused_write: None,
        }
    }

    #[test]
    fn each_outcome_leaves_a_row() {
        for (outcome, status) in [
            (Outcome::Succeeded, ActionStatus::Succeeded),
            (Outcome::DoneByHand, ActionStatus::Succeeded),
            (Outcome::Skipped, ActionStatus::Skipped),
            (Outcome::Failed, ActionStatus::Failed),
            (Outcome::Denied, ActionStatus::Failed),
            (Outcome::PreconditionFailed, ActionStatus::Failed),
            (Outcome::Cancelled, ActionStatus::Failed),
        ] {
            let failed = status == ActionStatus::Failed;
            let record = ActionRecord::of(
                &result(outcome, failed.then_some(Code::CargoCheck)),
                "verifies the workspace",
            );
            assert_eq!((record.status, record.error.is_some()), (status, failed), "{outcome:?}");
            assert_eq!(record.code(), failed.then_some(Code::CargoCheck));
            assert_eq!((record.action_index, record.duration_ms), (1, 7));
            let text = serde_json::to_string(&record).unwrap();
            assert_eq!(serde_json::from_str::<ActionRecord>(&text).unwrap(), record);
            let record = serde_json::to_value(&record).unwrap();
            let mut names: Vec<_> = record.as_object().unwrap().keys().collect();
            names.sort();
            let expected = ["action_index", "duration_ms", "error", "kind", "status", "summary"];
            assert_eq!(names, expected);
        }
    }
}
