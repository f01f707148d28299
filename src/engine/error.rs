//! Errors of the engine: why nothing ran, or why a step failed, one variant per cause (SPEC §6).

use uuid::Uuid;

use crate::authorization::Change;
use crate::evidence::EvidenceError;
use crate::plan::{Code, Finding, Severity};
use crate::run::{Failure, StepResult};
use crate::tools::ToolError;
use crate::workspace::WorkspaceError;

/// Any failure of the engine.
///
/// [`super::Executor::execute`] returns one only when nothing ran, or when the evidence could not be written. Every
/// other failure is in the result of the step.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum ExecutionError {
    #[error("{}{}", prefix(*code), first(findings))]
    Refused { code: Code, findings: Vec<Finding> },
    #[error("the plan is not authorized: {reason}")]
    NotAuthorized { reason: String },
    #[error("the authorization is for plan {authorization:?}, not for {plan:?}")]
    PlanIdMismatch { plan: String, authorization: String },
    #[error("{}", joined(changes))]
    Stale { changes: Vec<Change> },
    #[error("the precondition {precondition:?} does not hold: {found}")]
    PreconditionFailed { code: Code, precondition: String, found: String },
    #[error("what was done is not what was shown: {differences}")]
    NotAsShown { differences: String },
    #[error("denied before it ran{}", note_text(note))]
    ConfirmationDenied { note: String },
    #[error("stopped by a person before the step was done")]
    Cancelled,
    #[error("its question was ended by Stop now, and nothing was run for it")]
    QuestionStopped,
    #[error("{0}")]
    Tool(#[from] ToolError),
    #[error(
        "the evidence could not be written, so nothing more was run{}: {source}",
        not_recorded_text(not_recorded)
    )]
    EvidenceStore {
        run_id: Uuid,
        step_results: Vec<StepResult>,
        not_recorded: Option<Box<StepResult>>,
        source: Box<EvidenceError>,
    },
}

/// Codes that a refusal takes over if all its errors have the same one (SPEC §6).
const OWN_CAUSES: [Code; 5] = [
    Code::UnknownTool,
    Code::MissingArgument,
    Code::BadArgument,
    Code::OutsideWorkspace,
    Code::NotAuthorized,
];

const fn prefix(code: Code) -> &'static str {
    if matches!(code, Code::InvalidPlan) { "the plan is invalid: " } else { "" }
}

fn first(findings: &[Finding]) -> String {
    match findings {
        [] => "no finding".to_owned(),
        [only] => only.message.clone(),
        [first, rest @ ..] => format!("{} (and {} more)", first.message, rest.len()),
    }
}

fn joined(changes: &[Change]) -> String {
    changes.iter().map(Change::brief).collect::<Vec<_>>().join("; ")
}

fn note_text(note: &str) -> String {
    if note.is_empty() { String::new() } else { format!(": {note}") }
}

/// The part of a message about a step that was run but not recorded; empty if there is none.
fn not_recorded_text(not_recorded: &Option<Box<StepResult>>) -> String {
    not_recorded.as_ref().map_or_else(String::new, |result| {
        let (step, outcome) = (&result.step_id, result.outcome.as_str().replace('_', " "));
        format!(", and that step {step} {outcome} is not recorded")
    })
}

impl From<WorkspaceError> for ExecutionError {
    fn from(error: WorkspaceError) -> Self {
        ToolError::from(error).into()
    }
}

impl ExecutionError {
    /// The refusal for the errors among these findings: with their code if all of them have the same one and it is in
    /// `OWN_CAUSES`, else with that of an invalid plan (SPEC §6).
    pub fn from_findings(findings: &[Finding]) -> Self {
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
        let findings: Vec<Finding> = errors.cloned().collect();
        let common = OWN_CAUSES.into_iter().find(|code| findings.iter().all(|it| it.code == *code));
        match common.unwrap_or(Code::InvalidPlan) {
            Code::NotAuthorized => Self::NotAuthorized { reason: first(&findings) },
            code => Self::Refused { code, findings },
        }
    }

    /// An input that differs from its approved value.
    pub fn stale(what: impl Into<String>, approved: impl ToString, now: impl ToString) -> Self {
        let (approved, now) = (approved.to_string(), now.to_string());
        Self::Stale { changes: vec![Change { what: what.into(), approved, now }] }
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            Self::Refused { code, .. } | Self::PreconditionFailed { code, .. } => *code,
            Self::NotAuthorized { .. } => Code::NotAuthorized,
            Self::PlanIdMismatch { .. } => Code::PlanIdMismatch,
            Self::Stale { .. } => Code::Stale,
            Self::Tool(error) => error.code(),
            Self::NotAsShown { .. } => Code::Conflict,
            Self::ConfirmationDenied { .. } => Code::ConfirmationDenied,
            Self::Cancelled | Self::QuestionStopped => Code::Cancelled,
            Self::EvidenceStore { .. } => Code::EvidenceStore,
        }
    }

    /// What to do next, as a sentence.
    pub fn next(&self) -> String {
        match self {
            Self::Refused { .. } => "Correct the plan file and open it again.",
            Self::NotAuthorized { .. } | Self::PlanIdMismatch { .. } | Self::Stale { .. } => {
                "Look at the plan as it is now and authorize it again."
            }
            Self::Tool(error) => return error.next(),
            Self::PreconditionFailed { .. } => {
                "Make the precondition true, or change the plan; then run it again."
            }
            Self::NotAsShown { .. } => {
                "Look at the file as it is now; its earlier content is in the evidence."
            }
            Self::ConfirmationDenied { .. } => "Change the plan, or run it again and decide again.",
            Self::Cancelled | Self::QuestionStopped => {
                "Run the plan again when you want it to be done."
            }
            Self::EvidenceStore { source, .. } => source.next(),
        }
        .to_owned()
    }

    /// The error in the form in which it is recorded and shown.
    pub fn failure(&self) -> Failure {
        Failure { code: self.code(), message: self.to_string(), next: self.next() }
    }
}
