//! Records of the attempts of a bounded loop (SPEC §10) and of their actions (SPEC §9).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{DiagnosticArtifact, LookRecord, Outcome, StepResult, StopCode};
use crate::plan::words::words;
use crate::plan::{Code, Digest, Finding, VerifyScope};

words! {
    /// The error code of a failed action as the action dialect spells it (SPEC §9).
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
    /// The code of the action dialect for one of this program's codes.
    pub const fn of(code: Code) -> Self {
        match code {
            Code::UnknownTool => Self::UnsupportedAction,
            // A payload that lacks something is found before anything runs. A well-formed request can still ask for
            // the impossible, and a denial is reported like such a request.
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

/// Whether another attempt can succeed after a step failed with this code (SPEC §10): true for E1xx, E3xx and
/// E004, except for a denial, a stop by a person and a stop by walls.
pub fn is_retryable(code: Code) -> bool {
    // The walls are the same at the next attempt, unless a person changes them.
    let person = matches!(code, Code::ConfirmationDenied | Code::Cancelled | Code::StoppedByWall);
    let may_pass = matches!(code.as_str().get(..2), Some("E1" | "E3")) || code == Code::Stale;
    may_pass && !person
}

words! {
    /// How an action ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ActionStatus {
        /// The action succeeded, or a person did it by hand.
        Succeeded = "succeeded",
        /// The action failed, was denied or was stopped.
        Failed = "failed",
        /// A person skipped the action, or the run ended before it.
        Skipped = "skipped",
    }
}

/// Why a step failed, as data for the planner and the records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionError {
    /// The error code as the action dialect spells it.
    pub code: ActionErrorCode,
    /// The error message, with the offending value.
    pub message: String,
    /// Whether another attempt can succeed.
    pub retryable: bool,
    /// This program's own code, the id of the execution, the exit code, and what to do next.
    pub details: Value,
}

/// The outcome of one action, or of one step of another dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionRecord {
    /// The index in the plan, from 0. The loop's own verification follows the last index.
    pub action_index: usize,
    /// The action's type or the step's tool; [`VERIFY_GATE`] for the loop's own verification.
    pub kind: String,
    /// How the action ended.
    pub status: ActionStatus,
    /// What the action does, in a few words, and whether a person skipped it or did it by hand.
    pub summary: String,
    /// Why the action failed.
    pub error: Option<ActionError>,
    /// How long the tool took, in milliseconds, without waiting for a person.
    pub duration_ms: i64,
}

/// The `kind` of the record that the loop adds when it verifies by itself.
pub const VERIFY_GATE: &str = "verify_gate";

/// The code of a failed answer of a planner (SPEC §10) in a few words. A planner may also use a code of its own.
pub fn failure_words(code: &str) -> &str {
    match code {
        "planner_provider_error" => "the planner failed",
        "planner_invalid_json" => "the answer is not JSON",
        "planner_validation_failed" => "the plan has errors",
        "clarification_needed" => "the planner needs to know more",
        "unsupported_goal" => "the planner cannot work towards this goal",
        "unsafe_plan" => "the planner found no safe plan",
        "planner_unavailable" => "the planner is not available",
        own => own,
    }
}

impl ActionRecord {
    /// Whether a person denied the action, which the record calls a failure (SPEC §9).
    pub fn was_denied(&self) -> bool {
        self.code() == Some(Code::ConfirmationDenied)
    }

    /// The record of a step that ended. `about` describes the step in a few words.
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
                // A refused call is invalid, whatever the code of the fault that made it so.
                code: match result.refused {
                    true => ActionErrorCode::ValidationFailed,
                    false => ActionErrorCode::of(code),
                },
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

    /// The record of a step that never began.
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

    /// This program's own code of the failure, if the action failed.
    pub fn code(&self) -> Option<Code> {
        let code = self.error.as_ref()?.details.get("code")?.as_str()?;
        Code::from_text(code)
    }
}

/// Whether a planner's answer could be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannerStatus {
    /// The answer is a plan that may be authorized.
    Accepted,
    /// There is no answer, or the answer is no plan that may be authorized.
    Failed,
}

/// A finding about a planner's plan, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannerFinding {
    /// `note`, `warning` or `error`.
    pub severity: String,
    /// The stable code.
    pub code: String,
    /// The name of the finding in the action dialect.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// JSON pointer to the value at fault.
    pub pointer: String,
    /// The line of that value, from 1.
    pub line: usize,
    /// The column of that value, from 1.
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

/// The planner's answer, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannerReport {
    /// Whether there is a plan to authorize.
    pub status: PlannerStatus,
    /// The version that the plan states, if its dialect has one.
    pub version: Option<String>,
    /// The number of actions or steps in the plan.
    pub action_count: usize,
    /// Why there is no plan: the planner's own code, or one of this program's codes.
    pub failure_code: Option<String>,
    /// Why there is no plan, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// Whether asking the planner again may help.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retryable: Option<bool>,
    /// Whether the planner says that the plan answers the goal, or that more is left to do after it; `None` if it says
    /// nothing about that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub answers_goal: Option<bool>,
    /// The findings about the plan.
    pub findings: Vec<PlannerFinding>,
}

impl PlannerReport {
    /// A report with this status and nothing else.
    pub const fn new(status: PlannerStatus) -> Self {
        Self {
            status,
            version: None,
            action_count: 0,
            failure_code: None,
            message: None,
            retryable: None,
            answers_goal: None,
            findings: Vec::new(),
        }
    }
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyRecord {
    /// The scope of the verification.
    pub scope: VerifyScope,
    /// Whether the verification passed.
    pub passed: bool,
    /// The diagnostics of the verification.
    pub diagnostics: Vec<DiagnosticArtifact>,
}

/// The record of one attempt (SPEC §10).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The maximum number of attempts.
    pub max_attempts: u32,
    /// The planner's answer, or why there is none.
    pub planner: PlannerReport,
    /// The digest of the plan's exact bytes.
    pub plan_digest: Option<Digest>,
    /// The run of the plan.
    pub run_id: Option<Uuid>,
    /// The outcome of each action, and of the loop's own verification.
    pub actions: Vec<ActionRecord>,
    /// The result of the verification; `None` if nothing was verified.
    pub verify: Option<VerifyRecord>,
    /// Why the loop ended with this attempt; `None` if it continued.
    pub stop_reason: Option<StopCode>,
    /// What the planner looked at before it answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<LookRecord>,
    /// The person's words for the planner: why a plan or a step was denied, or the answer to a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

#[cfg(test)]
mod tests;
