//! Why nothing ran, or why a step failed: one variant per cause (SPEC §6).

use uuid::Uuid;

use crate::authorization::Change;
use crate::evidence::EvidenceError;
use crate::plan::{Code, Finding};
use crate::run::{Failure, StepResult};
use crate::tools::ToolError;
use crate::workspace::WorkspaceError;

/// Any failure of the engine.
///
/// [`super::Executor::execute`] returns one only when nothing ran (E001–E004, E201–E204) or the
/// evidence could not be written; everything else stands in the step's result.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum ExecutionError {
    #[error("the plan is invalid: {}", first(findings))]
    InvalidPlan { findings: Vec<Finding> },
    #[error("the plan is not authorized: {reason}")]
    NotAuthorized { reason: String },
    #[error("the authorization is for plan {authorization:?}, not for {plan:?}")]
    PlanIdMismatch { plan: String, authorization: String },
    #[error("something approved has changed: {}", joined(changes))]
    Stale { changes: Vec<Change> },
    #[error("{}", first(findings))]
    ToolNotFound { findings: Vec<Finding> },
    #[error("{}", first(findings))]
    MissingArgument { findings: Vec<Finding> },
    #[error("{}", first(findings))]
    BadArgument { findings: Vec<Finding> },
    #[error("{}", first(findings))]
    OutsideWorkspace { findings: Vec<Finding> },
    #[error("the precondition {precondition:?} does not hold: {found}")]
    PreconditionFailed { code: Code, precondition: String, found: String },
    #[error("what was done is not what was shown: {differences}")]
    NotAsShown { differences: String },
    #[error("step {step_id} was denied{}", note_text(note))]
    ConfirmationDenied { step_id: String, note: String },
    #[error("stopped by a person before the step was done")]
    Cancelled,
    #[error("{source}")]
    Tool {
        #[from]
        source: ToolError,
    },
    #[error(
        "the evidence could not be written, so nothing more was run{}: {source}",
        lost(not_recorded)
    )]
    EvidenceStore {
        run_id: Uuid,
        step_results: Vec<StepResult>,
        not_recorded: Option<Box<StepResult>>,
        source: Box<EvidenceError>,
    },
}

fn first(findings: &[Finding]) -> String {
    match findings {
        [] => "no finding".to_owned(),
        [only] => only.message.clone(),
        [first, rest @ ..] => format!("{} (and {} more)", first.message, rest.len()),
    }
}

fn joined(changes: &[Change]) -> String {
    changes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn note_text(note: &str) -> String {
    if note.is_empty() { String::new() } else { format!(": {note}") }
}

fn lost(not_recorded: &Option<Box<StepResult>>) -> String {
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
    /// The refusal that these error findings amount to: their own cause when it is the only one
    /// (SPEC §6).
    pub fn from_findings(findings: Vec<Finding>) -> Self {
        let only = |code| findings.iter().all(|finding| finding.code == code);
        if only(Code::UnknownTool) {
            Self::ToolNotFound { findings }
        } else if only(Code::MissingArgument) {
            Self::MissingArgument { findings }
        } else if only(Code::BadArgument) {
            Self::BadArgument { findings }
        } else if only(Code::OutsideWorkspace) {
            Self::OutsideWorkspace { findings }
        } else if only(Code::NotAuthorized) {
            Self::NotAuthorized { reason: first(&findings) }
        } else {
            Self::InvalidPlan { findings }
        }
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            Self::InvalidPlan { .. } => Code::InvalidPlan,
            Self::NotAuthorized { .. } => Code::NotAuthorized,
            Self::PlanIdMismatch { .. } => Code::PlanIdMismatch,
            Self::Stale { .. } => Code::Stale,
            Self::ToolNotFound { .. } => Code::UnknownTool,
            Self::MissingArgument { .. } => Code::MissingArgument,
            Self::BadArgument { .. } => Code::BadArgument,
            Self::OutsideWorkspace { .. } => Code::OutsideWorkspace,
            Self::Tool { source } => source.code(),
            Self::PreconditionFailed { code, .. } => *code,
            Self::NotAsShown { .. } => Code::Conflict,
            Self::ConfirmationDenied { .. } => Code::ConfirmationDenied,
            Self::Cancelled => Code::Cancelled,
            Self::EvidenceStore { .. } => Code::EvidenceStore,
        }
    }

    /// What to do next, as a sentence.
    pub fn next(&self) -> String {
        match self {
            Self::InvalidPlan { .. }
            | Self::ToolNotFound { .. }
            | Self::MissingArgument { .. }
            | Self::BadArgument { .. }
            | Self::OutsideWorkspace { .. } => "Correct the plan file and open it again.",
            Self::NotAuthorized { .. } | Self::PlanIdMismatch { .. } | Self::Stale { .. } => {
                "Look at the plan as it is now and authorize it again."
            }
            Self::Tool { source } => return source.next(),
            Self::PreconditionFailed { .. } => {
                "Make the precondition true, or change the plan; then run it again."
            }
            Self::NotAsShown { .. } => {
                "Look at the file as it is now; its earlier content is in the evidence."
            }
            Self::ConfirmationDenied { .. } => "Change the plan, or run it again and decide anew.",
            Self::Cancelled => "Run the plan again when you want it to be done.",
            Self::EvidenceStore { source, .. } => source.next(),
        }
        .to_owned()
    }

    /// The error findings behind a refusal.
    pub fn findings(&self) -> &[Finding] {
        match self {
            Self::InvalidPlan { findings }
            | Self::ToolNotFound { findings }
            | Self::MissingArgument { findings }
            | Self::BadArgument { findings }
            | Self::OutsideWorkspace { findings } => findings,
            _ => &[],
        }
    }

    /// The error as records and screens keep it.
    pub fn failure(&self) -> Failure {
        Failure { code: self.code(), message: self.to_string(), next: self.next() }
    }
}
