//! What a step of the program came to: its error and its result.

use serde_json::{Map, Value, json};

use super::error::ProgramError;
use super::job::Ran;
use super::relay::Relay;
use crate::cargo::{headline, new_errors};
use crate::process::walls::WallReport;
use crate::run::{DiagnosticArtifact, Level};
use crate::tools::{Invocation, ToolError, Toolbox};

/// Most new errors that a result names.
const MOST_NEW: usize = 100;

/// What was run so far, and what it said.
#[derive(Default)]
pub(super) struct Verdict {
    pub(super) ran: Vec<Ran>,
    pub(super) diagnostics: Vec<DiagnosticArtifact>,
    pub(super) left_out: usize,
    /// Why the step fails, beside what the programs themselves say.
    pub(super) error: Option<ToolError>,
    /// What the result says besides.
    pub(super) facts: Map<String, Value>,
}

impl Verdict {
    pub(super) fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|it| it.level == Level::Error).count()
    }

    /// Adds what a program said.
    pub(super) fn add(&mut self, (diagnostics, left_out): (Vec<DiagnosticArtifact>, usize)) {
        self.diagnostics.extend(diagnostics);
        self.left_out += left_out;
    }

    /// Whether another program may follow.
    pub(super) fn goes_on(&self) -> bool {
        self.error.is_none() && self.errors() == 0 && self.ran.iter().all(Ran::is_fine)
    }

    /// Why the step fails, if it does: what kept a program from its end, else what was reported, else how
    /// the program ended.
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
            .or_else(|| last.failure().map(|how| failed(last, how).into()));
    }

    /// The answer of the step.
    pub(super) fn invocation(mut self, toolbox: &Toolbox, relay: Relay<'_>) -> Invocation {
        let last = self.ran.last().map(|ran| &ran.finished);
        let count = |level| self.diagnostics.iter().filter(|it| it.level == level).count();
        let mut result = json!({
            "commands": self.ran.iter().map(Ran::record).collect::<Vec<_>>(),
            "exit_code": last.and_then(|it| it.exit_code),
            "signal": last.and_then(|it| it.signal),
            "timed_out": self.ran.iter().any(Ran::timed_out),
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
            walls: WallReport::of_all(self.ran.iter().map(|ran| &ran.finished.walls)),
            ..Invocation::default()
        }
    }
}

/// The errors that the first look of this run did not find; null for the first look itself.
fn new_since_first(toolbox: &Toolbox, diagnostics: &[DiagnosticArtifact]) -> Value {
    let errors: Vec<_> =
        diagnostics.iter().filter(|it| it.level == Level::Error).cloned().collect();
    let Ok(mut first) = toolbox.first_errors.lock() else { return Value::Null };
    match first.as_ref() {
        None => {
            *first = Some(errors);
            Value::Null
        }
        Some(before) => new_errors(before, errors).iter().take(MOST_NEW).map(headline).collect(),
    }
}
