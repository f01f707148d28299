//! Collects the outcome of a step: its error and its result.

use serde_json::{Map, Value, json};

use super::error::ProgramError;
use super::job::Ran;
use super::relay::Relay;
use crate::cargo::{headline, new_errors};
use crate::process::walls::WallReport;
use crate::run::{DiagnosticArtifact, Level};
use crate::tools::{Invocation, ToolError, Toolbox};

/// Maximum number of new errors in a result.
const MAX_NEW: usize = 100;

/// The processes that ran so far, and their diagnostics.
#[derive(Default)]
pub(super) struct Verdict {
    pub(super) ran: Vec<Ran>,
    pub(super) diagnostics: Vec<DiagnosticArtifact>,
    pub(super) left_out: usize,
    /// The error of the step, if it failed.
    pub(super) error: Option<ToolError>,
    /// Additional fields of the result.
    pub(super) facts: Map<String, Value>,
}

impl Verdict {
    pub(super) fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|it| it.level == Level::Error).count()
    }

    /// Adds the diagnostics of a process.
    pub(super) fn add(&mut self, (diagnostics, left_out): (Vec<DiagnosticArtifact>, usize)) {
        self.diagnostics.extend(diagnostics);
        self.left_out += left_out;
    }

    /// Whether the next command may run.
    pub(super) fn goes_on(&self) -> bool {
        self.error.is_none()
            && self.errors() == 0
            && self.ran.iter().all(|ran| ran.finished.is_success())
    }

    /// Sets the error of the step, if there is a failure and no error yet. A last process that was killed
    /// takes precedence over reported errors, and these over the exit status of the last process.
    pub(super) fn fail(&mut self, failed: impl Fn(&Ran, String) -> ProgramError) {
        if self.error.is_some() {
            return;
        }
        let Some(last) = self.ran.last() else { return };
        let reported = || {
            let first = self.diagnostics.iter().find(|it| it.level == Level::Error)?;
            let program = last.job.called.to_owned();
            let (errors, first) = (self.errors(), headline(first));
            Some(ProgramError::Reported { program, errors, first }.into())
        };
        self.error = last
            .ended()
            .map(ToolError::from)
            .or_else(reported)
            .or_else(|| last.finished.failure().map(|how| failed(last, how).into()));
    }

    /// The result of the step.
    pub(super) fn invocation(mut self, toolbox: &Toolbox, relay: Relay<'_>) -> Invocation {
        let last = self.ran.last().map(|ran| &ran.finished);
        let count = |level| self.diagnostics.iter().filter(|it| it.level == level).count();
        let mut result = json!({
            "commands": self.ran.iter().map(Ran::record).collect::<Vec<_>>(),
            "exit_code": last.and_then(|it| it.exit_code),
            "signal": last.and_then(|it| it.signal),
            "timed_out": self.ran.iter().any(|ran| ran.finished.timed_out()),
            "errors": count(Level::Error),
            "warnings": count(Level::Warning),
            "diagnostics": self.diagnostics.len() + self.left_out,
            "diagnostics_left_out": self.left_out,
            "new_errors": new_since_first(toolbox, &self.diagnostics),
        });
        if let Value::Object(result) = &mut result {
            result.append(&mut self.facts);
        }
        Invocation {
            exit_code: last.and_then(|it| it.exit_code),
            captured: (!self.ran.is_empty()).then(|| relay.ends()),
            result,
            diagnostics: self.diagnostics,
            error: self.error,
            walls: WallReport::merged(self.ran.iter().map(|ran| &ran.finished.walls)),
            ..Invocation::default()
        }
    }
}

/// The errors that are not among those of the first check in this run; null for the first check itself.
fn new_since_first(toolbox: &Toolbox, diagnostics: &[DiagnosticArtifact]) -> Value {
    let errors: Vec<_> =
        diagnostics.iter().filter(|it| it.level == Level::Error).cloned().collect();
    let Ok(mut first) = toolbox.first_errors.lock() else { return Value::Null };
    match first.as_ref() {
        None => {
            *first = Some(errors);
            Value::Null
        }
        Some(before) => new_errors(before, errors).iter().take(MAX_NEW).map(headline).collect(),
    }
}
