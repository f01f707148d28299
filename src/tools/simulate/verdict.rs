//! Collects the outcome of a simulation: its error and its result.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::SimulationError;
use super::copy::Copied;
use super::difference::{Difference, MAX_CHANGES};
use super::tee::Tee;
use crate::authorization::FileState;
use crate::plan::{Code, Simulation, ToolCall, VerifyScope};
use crate::run::{DiagnosticArtifact, Diff, Edge, EdgeType, FileChange, MAX_DIAGNOSTICS};
use crate::tools::changes::changed_file;
use crate::tools::tool::{file_edge, set_field};
use crate::tools::{CallResult, ToolError};

/// The results of the calls so far.
#[derive(Default)]
pub(super) struct Verdict {
    pub(super) copied: Copied,
    /// The error of the step.
    pub(super) error: Option<ToolError>,
    result: Map<String, Value>,
    /// The results of the steps.
    steps: Vec<Value>,
    warnings: Vec<String>,
    diagnostics: Vec<DiagnosticArtifact>,
    edges: Vec<Edge>,
    exit_code: Option<i32>,
    /// The file states that the tools reported, by canonical path.
    reported: BTreeMap<String, FileState>,
    changes: Vec<FileChange>,
}

impl Verdict {
    pub(super) fn new(simulation: &Simulation, copied: Copied, copy_time: Duration) -> Self {
        let form = match simulation {
            Simulation::Edits { .. } => "edits",
            Simulation::Steps { .. } => "steps",
            Simulation::Function { .. } => "function",
        };
        let links = copied.entries.values().filter(|entry| entry.is_link).count();
        let copy = json!({
            "files": copied.entries.len() - links,
            "folders": copied.folders,
            "links": links,
            "bytes": copied.bytes,
            "shared": copied.is_shared,
            "left_out": copied.left_out,
            "left_out_more": copied.left_out_more,
            "duration_ms": u64::try_from(copy_time.as_millis()).unwrap_or(u64::MAX),
        });
        let mut result = Map::new();
        result.insert("form".to_owned(), form.into());
        result.insert("copy".to_owned(), copy);
        Self { copied, result, ..Self::default() }
    }

    /// Adds the exit code, diagnostics, edges and files of a call on the copy; returns its return value and error.
    fn add_call(&mut self, call: CallResult) -> (Value, Option<ToolError>) {
        self.exit_code = call.exit_code.or(self.exit_code);
        let room = MAX_DIAGNOSTICS.saturating_sub(self.diagnostics.len());
        self.diagnostics.extend(call.diagnostics.into_iter().take(room));
        for edge in call.edges {
            self.add_edge(edge);
        }
        self.reported.extend(call.files.into_iter().map(|file| (file.path, file.after)));
        (call.result, call.error)
    }

    /// Adds an edge. Every effect was on a copy, so edges to the original only reference it.
    fn add_edge(&mut self, edge: Edge) {
        let edge_type = match edge.edge_type {
            EdgeType::Produced => EdgeType::Produced,
            EdgeType::ExecutedOn | EdgeType::Affected | EdgeType::Referenced => {
                EdgeType::Referenced
            }
        };
        let edge = Edge { edge_type, ..edge };
        if self.edges.len() < MAX_CHANGES && !self.edges.contains(&edge) {
            self.edges.push(edge);
        }
    }

    /// Adds the outcome of the edits.
    pub(super) fn add_edits(&mut self, call: CallResult) {
        let (mut result, error) = self.add_call(call);
        for name in ["errors", "engine", "warnings"] {
            if let Some(value) = result.get_mut(name) {
                self.result.insert(name.to_owned(), value.take());
            }
        }
        self.error = error;
    }

    /// Adds the outcome of one step.
    pub(super) fn add_step(&mut self, index: usize, step: &ToolCall, call: CallResult) {
        let exit_code = call.exit_code;
        let (result, error) = self.add_call(call);
        let tool = step.tool().name();
        self.steps.push(json!({
            "step_index": index,
            "tool": tool,
            "success": error.is_none(),
            "error": error.as_ref().map(|error| error.failure()),
            "exit_code": exit_code,
            "result": result,
        }));
        self.error = error.map(|error| match error.code() {
            Code::Cancelled => error,
            _ => SimulationError::Step { index, tool, source: Box::new(error) }.into(),
        });
    }

    /// Adds the outcome of the function.
    pub(super) fn add_function(&mut self, call: CallResult) {
        let (result, error) = self.add_call(call);
        self.result.insert("run".to_owned(), result);
        self.error = error;
    }

    /// Adds the outcome of the verification and the files that it changed. If it does not pass, the step fails, with
    /// the changes and the diagnostics in its result.
    pub(super) fn add_verification(
        &mut self,
        scope: VerifyScope,
        call: CallResult,
        mut changed: Difference,
    ) {
        let diagnostics = call.diagnostics.len();
        let (mut result, error) = self.add_call(call);
        if let Value::Object(fields) = &mut result {
            let files = changed.changes.iter();
            let files = files.map(|it| changed_file(&it.path, it.before, it.after)).collect();
            fields.insert("changed_files".to_owned(), files);
            if changed.left_out > 0 {
                fields.insert("changed_files_left_out".to_owned(), changed.left_out.into());
            }
        } else {
            result = json!({ "error": error.as_ref().map(|error| error.failure()) });
        }
        if let Value::Object(fields) = &mut result {
            fields.insert("scope".to_owned(), scope.as_str().into());
            fields.insert("passed".to_owned(), error.is_none().into());
            fields.entry("diagnostics").or_insert_with(|| diagnostics.into());
        }
        self.warnings.extend(changed.warnings());
        self.result.insert("verify".to_owned(), result);
        self.result.insert("valid".to_owned(), true.into());
        self.error = error;
    }

    /// Adds the changes on the copy, without those of the verification.
    pub(super) fn add_difference(&mut self, mut difference: Difference) {
        for change in &difference.changes {
            self.add_edge(file_edge(EdgeType::Referenced, change.path.as_str()));
        }
        self.warnings.extend(difference.warnings());
        if difference.left_out > 0 {
            let left_out = difference.left_out.into();
            self.result.insert("changed_files_left_out".to_owned(), left_out);
        }
        self.changes = difference.changes;
    }

    /// The result of the step.
    pub(super) fn into_call_result(mut self, tee: Tee<'_>) -> CallResult {
        let changed = self.changes.iter().map(|change| {
            let mut row = changed_file(&change.path, change.before, change.after);
            let is_reported = self.reported.get(&change.path) == Some(&change.after);
            set_field(&mut row, "predicted", is_reported);
            if let Diff::Text { added, removed, .. } = &change.diff {
                set_field(&mut row, "added", *added);
                set_field(&mut row, "removed", *removed);
            }
            row
        });
        let changed: Value = changed.collect();
        let is_valid = self.error.is_none();
        let result = &mut self.result;
        result.insert("changed_files".to_owned(), changed);
        result.entry("valid").or_insert(is_valid.into());
        result.entry("verify").or_insert(Value::Null);
        result.insert("exit_code".to_owned(), self.exit_code.into());
        if !self.steps.is_empty() {
            result.insert("steps".to_owned(), self.steps.into());
        }
        let mut result = Value::Object(self.result);
        self.warnings.into_iter().for_each(|warning| warn(&mut result, warning));
        CallResult {
            captured: tee.ends(),
            exit_code: self.exit_code,
            result,
            simulated: self.changes,
            diagnostics: self.diagnostics,
            edges: self.edges,
            error: self.error,
            ..CallResult::default()
        }
    }
}

/// Adds a warning to a result.
pub(super) fn warn(result: &mut Value, warning: String) {
    if let Value::Object(fields) = result {
        match fields.entry("warnings").or_insert_with(|| json!([])) {
            Value::Array(warnings) => warnings.push(warning.into()),
            other => *other = json!([warning]),
        }
    }
}
