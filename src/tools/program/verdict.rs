//! Collects the outcome of a step: its error and its result.

use serde_json::{Value, json};

use super::ProgramError;
use super::job::FinishedJob;
use super::relay::Relay;
use crate::cargo::{headline, new_errors};
use crate::process::walls::WallReport;
use crate::run::{DiagnosticArtifact, Level};
use crate::tools::{CallResult, ToolError, Toolbox};

/// Maximum number of new errors in a result.
const MAX_NEW: usize = 100;

/// The processes that ran so far, and their diagnostics.
#[derive(Default)]
pub(super) struct Verdict {
    pub(super) jobs: Vec<FinishedJob>,
    pub(super) diagnostics: Vec<DiagnosticArtifact>,
    /// The number of further diagnostics, which are not in the list.
    pub(super) left_out: usize,
    /// The error of the step, if it failed.
    pub(super) error: Option<ToolError>,
    /// Additional fields of the result, as an object.
    pub(super) fields: Value,
}

impl Verdict {
    fn count(&self, level: Level) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.level == level).count()
    }

    /// Adds the diagnostics of a process, and the number of those left out.
    pub(super) fn add_diagnostics(
        &mut self,
        (diagnostics, left_out): (Vec<DiagnosticArtifact>, usize),
    ) {
        self.diagnostics.extend(diagnostics);
        self.left_out += left_out;
    }

    /// Whether the next command may run.
    pub(super) fn may_continue(&self) -> bool {
        self.error.is_none()
            && self.count(Level::Error) == 0
            && self.jobs.iter().all(|job| job.process.is_success())
    }

    /// Sets the error of a step that has none yet. In this order it reports that the last process was ended, the
    /// errors among the diagnostics, or a failed exit status of the last process, which `failed` converts.
    pub(super) fn set_error(&mut self, failed: impl Fn(&FinishedJob, String) -> ProgramError) {
        if self.error.is_some() {
            return;
        }
        let Some(last) = self.jobs.last() else { return };
        let reported = || {
            let is_error = |diagnostic: &&DiagnosticArtifact| diagnostic.level == Level::Error;
            let first = self.diagnostics.iter().find(is_error)?;
            let program = last.job.display_name.to_owned();
            let (errors, first) = (self.count(Level::Error), headline(first));
            Some(ProgramError::Reported { program, errors, first }.into())
        };
        self.error = last
            .termination_error()
            .map(ToolError::from)
            .or_else(reported)
            .or_else(|| last.process.failure().map(|status| failed(last, status).into()));
    }

    /// The result of the step.
    pub(super) fn into_call_result(mut self, relay: Relay<'_>) -> CallResult {
        let last = self.jobs.last().map(|job| &job.process);
        let mut result = json!({
            "commands": self.jobs.iter().map(FinishedJob::json).collect::<Vec<_>>(),
            "exit_code": last.and_then(|process| process.exit_code),
            "signal": last.and_then(|process| process.signal),
            "timed_out": self.jobs.iter().any(|job| job.process.timed_out()),
            "errors": self.count(Level::Error),
            "warnings": self.count(Level::Warning),
            "diagnostics": self.diagnostics.len() + self.left_out,
            "diagnostics_left_out": self.left_out,
            "new_errors": errors_since_first(relay.toolbox, &self.diagnostics),
        });
        if let (Value::Object(result), Value::Object(fields)) = (&mut result, &mut self.fields) {
            result.append(fields);
        }
        CallResult {
            exit_code: last.and_then(|process| process.exit_code),
            captured: (!self.jobs.is_empty()).then(|| relay.ends()),
            result,
            diagnostics: self.diagnostics,
            error: self.error,
            walls: WallReport::merged(self.jobs.iter().map(|job| &job.process.walls)),
            ..CallResult::default()
        }
    }
}

/// The headlines of the errors that the first check of this run did not report; null for the first check itself.
fn errors_since_first(toolbox: &Toolbox, diagnostics: &[DiagnosticArtifact]) -> Value {
    let errors: Vec<_> =
        diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error).cloned().collect();
    let Ok(mut first) = toolbox.first_errors.lock() else { return Value::Null };
    match first.as_ref() {
        None => {
            *first = Some(errors);
            Value::Null
        }
        Some(before) => new_errors(before, errors).iter().take(MAX_NEW).map(headline).collect(),
    }
}
