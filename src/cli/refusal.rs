//! The errors of a command: exit code, message and error document.

use serde_json::{Value, json};

use super::Exit;
use super::documents::finding_line;
use super::output::{Output, quoted_in_line, say};
use crate::engine::{ExecutionError, FollowUpError, NotRecorded};
use crate::evidence::EvidenceError;
use crate::export::ExportError;
use crate::plan::{Code, Finding};
use crate::run::Failure;
use crate::signing::SigningError;
use crate::team::TeamError;
use crate::tools::ToolError;
use crate::worker::SettingsError;
use crate::worker::inbox::InboxError;

/// Why a command ended without a result.
#[derive(Debug)]
pub(super) struct Refusal {
    exit: Exit,
    failure: Failure,
    /// Details for the error document; a JSON object.
    details: Value,
    findings: Vec<Finding>,
}

impl Refusal {
    fn new(exit: Exit, failure: Failure, details: Value) -> Self {
        Self { exit, failure, details, findings: Vec::new() }
    }

    /// An error of the command line.
    pub(super) fn usage(message: impl Into<String>, next: &str) -> Self {
        let (message, next) = (message.into(), next.to_owned());
        let failure = Failure { code: Code::BadValue, message, next };
        Self::new(Exit::Usage, failure, json!({}))
    }

    /// The error for what a person has to confirm first.
    pub(super) fn not_allowed(message: impl Into<String>, next: &str) -> Self {
        let (message, next) = (message.into(), next.to_owned());
        let failure = Failure { code: Code::NotAuthorized, message, next };
        Self::new(Exit::NotAuthorized, failure, json!({}))
    }

    /// The error for a program that cannot be started.
    pub(super) fn not_started(failure: Failure) -> Self {
        Self::new(Exit::Usage, failure, json!({}))
    }

    /// The error for a request that cannot be made.
    pub(super) fn no_request(failure: Failure) -> Self {
        let exit = match failure.code {
            Code::EvidenceStore => Exit::Evidence,
            _ => Exit::Usage,
        };
        Self::new(exit, failure, json!({}))
    }

    /// The same error with these details.
    #[must_use]
    pub(super) fn with_details(self, details: Value) -> Self {
        Self { details, ..self }
    }

    /// The error for a plan of which this step, counted from 1, needs a terminal. Nothing of the plan has run.
    pub(super) fn needs_terminal(step: usize) -> Self {
        let message = format!("step {step} needs a terminal, into which a person types");
        let next = "Run the plan in the window.".to_owned();
        let failure = Failure { code: Code::CommandFailed, message, next };
        Self::new(Exit::Failed, failure, json!({ "step": step }))
    }

    /// The error for a plan that cannot be authorized. At least one of the findings is an error.
    pub(super) fn invalid_plan(findings: Vec<Finding>) -> Self {
        let failure = ExecutionError::from_findings(&findings).failure();
        let details = json!({ "findings": &findings });
        // The plan is valid, but something that it needs is not allowed.
        let exit = match failure.code {
            Code::NotAuthorized => Exit::NotAuthorized,
            _ => Exit::InvalidPlan,
        };
        Self { findings, ..Self::new(exit, failure, details) }
    }

    /// The message and what to do next, as sentences.
    pub(super) fn sentences(&self) -> String {
        format!("{}. {}", self.failure.message, self.failure.next).trim_end().to_owned()
    }

    /// Prints the findings and the message to stderr, and with `--json` the error document to stdout. Returns the
    /// exit code.
    pub(super) fn print(self, out: &mut Output) -> Exit {
        let Failure { code, message, next } = self.failure;
        // Its message may quote the plan.
        log::error!("command refused code={code} findings={}", self.findings.len());
        for finding in &self.findings {
            say(&finding_line(finding));
        }
        say(&quoted_in_line(&format!("{code} {message}")));
        if !next.is_empty() {
            say(&quoted_in_line(&next));
        }
        if out.json() {
            out.document(&json!({
                "error": { "code": code, "message": message, "details": self.details }
            }));
        }
        self.exit
    }
}

impl From<ExecutionError> for Refusal {
    fn from(error: ExecutionError) -> Self {
        let failure = error.failure();
        match error {
            ExecutionError::Refused { findings, .. } => Self::invalid_plan(findings),
            ExecutionError::Stale { changes } => {
                Self::new(Exit::NotAuthorized, failure, json!({ "changes": changes }))
            }
            ExecutionError::NotAuthorized { .. } | ExecutionError::PlanIdMismatch { .. } => {
                Self::new(Exit::NotAuthorized, failure, json!({}))
            }
            ExecutionError::EvidenceStore { run_id, step_results, not_recorded, .. } => {
                let details = json!({
                    "run_id": run_id,
                    "step_results": step_results,
                    "not_recorded": not_recorded,
                });
                Self::new(Exit::Evidence, failure, details)
            }
            _ => Self::new(Exit::Failed, failure, json!({})),
        }
    }
}

impl From<ToolError> for Refusal {
    /// Outside of a run, only opening the workspace can fail.
    fn from(error: ToolError) -> Self {
        Self::new(Exit::Usage, error.failure(), json!({}))
    }
}

impl From<FollowUpError> for Refusal {
    fn from(error: FollowUpError) -> Self {
        match error {
            FollowUpError::Evidence(error) => error.into(),
            FollowUpError::Tool(error) => error.into(),
            error => Self::new(Exit::Usage, error.failure(), json!({})),
        }
    }
}

impl From<SettingsError> for Refusal {
    fn from(error: SettingsError) -> Self {
        Self::usage(error.to_string(), "Correct the settings file, or remove it.")
    }
}

impl From<InboxError> for Refusal {
    fn from(error: InboxError) -> Self {
        let failure = error.failure();
        match error {
            InboxError::NoPlan { findings, .. } => Self::invalid_plan(findings),
            InboxError::Full { .. } | InboxError::Write { .. } => {
                Self::new(Exit::Failed, failure, json!({}))
            }
            _ => Self::new(Exit::Usage, failure, json!({})),
        }
    }
}

impl From<EvidenceError> for Refusal {
    fn from(error: EvidenceError) -> Self {
        let exit = match error {
            EvidenceError::Unsound { .. } => Exit::Tampered,
            _ => Exit::Evidence,
        };
        Self::new(exit, error.failure(), json!({}))
    }
}

impl From<TeamError> for Refusal {
    fn from(error: TeamError) -> Self {
        let failure = error.failure();
        match error {
            TeamError::Evidence(error) => error.into(),
            TeamError::Address(_) => Self::new(Exit::Usage, failure, json!({})),
            error if error.is_about_evidence() => Self::new(Exit::Tampered, failure, json!({})),
            _ => Self::new(Exit::Evidence, failure, json!({})),
        }
    }
}

impl From<ExportError> for Refusal {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Evidence(error) => error.into(),
            ExportError::NoRun(_) | ExportError::NoRecord => {
                Self::usage(error.to_string(), "Look the id up with `evidence search`.")
            }
            ExportError::OneRun => Self::usage(
                error.to_string(),
                "`evidence search` prints the ids of runs: --run ID.",
            ),
            ExportError::OtherCheckpoint(_) | ExportError::Changed(_) => {
                Self::new(Exit::Tampered, error.failure(), json!({}))
            }
            ExportError::Exists(_) => {
                let next = "Name another file, or replace this one with --force.";
                Self::usage(error.to_string(), next)
            }
            ExportError::NoFile(_) | ExportError::Settings => {
                Self::usage(error.to_string(), "Name another file.")
            }
            ExportError::Later(_) | ExportError::UnderWay(_) | ExportError::NoVerification(_) => {
                let next = error.failure().next;
                Self::usage(error.to_string(), &next)
            }
            error => Self::new(Exit::Failed, error.failure(), json!({})),
        }
    }
}

impl From<NotRecorded> for Refusal {
    fn from(error: NotRecorded) -> Self {
        match error {
            NotRecorded::NotSigned(error) | NotRecorded::EndNotSigned(error) => error.into(),
            NotRecorded::NotReviewed(_) => {
                Self::new(Exit::NotAuthorized, error.failure(), json!({}))
            }
            NotRecorded::Evidence(error) => error.into(),
        }
    }
}

impl From<SigningError> for Refusal {
    fn from(error: SigningError) -> Self {
        match error {
            SigningError::File { .. } | SigningError::NoKey { .. } | SigningError::NoProgram => {
                Self::usage(error.to_string(), error.next())
            }
            error => Self::new(Exit::NotAuthorized, error.failure(), json!({})),
        }
    }
}
