//! `mutate_batch` (SPEC §9): edits of many files, applied as a whole or not at all.
//!
//! [`compute`] computes the result of a batch in memory, from the contents of the files alone; [`apply`] then
//! changes all files, or none.
//!
//! The preview, the effects in the intent, and the run all use this computation (`compute`, `edits`, `patch`).
//! The tool `history` uses `apply` too.
//!
//! Each new content is first written to a temporary file beside its target; the hidden name of that file
//! contains the id of the execution. When all temporary files are flushed, a replaced file and its temporary
//! file exchange names atomically, and a deleted file is renamed. The old files therefore remain, with their
//! modes, until every change is in place and every folder is flushed. Just before its change each file is
//! compared with the content that the computation read, and once more before the old content is removed, so
//! that no concurrent write is lost. Every write goes through `Disk` (`src/workspace/disk.rs`), so that tests
//! can make any of them fail.
//!
//! If the process is killed, the evidence has the contents before and after, and the temporary files show
//! which change was in progress. `engine::FollowUp::Settle` then makes a plan that rolls the step back, or
//! one that finishes it: batches with expected hashes, which a person authorizes like any other plan. The plan
//! leaves out files that somebody else changed and contents that a plan cannot contain; its notes list both.

mod apply;
mod compute;
mod edits;
mod error;
mod files;
mod patch;
mod preview;
mod restore;
mod rolled_back;
#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use super::changes::changed_files;
use super::tool::{PreviewWithEffects, Tool, set_field};
use super::{CallResult, Context, ProjectedToolbox, ToolError, Toolbox};
use crate::code;
use crate::plan::MutateBatch;
use crate::run::{Edge, EdgeType, FileEffect, TargetKind};
use crate::workspace::{Overlay, check_state};

use compute::compute;
use error::Fault;
use files::Computed;

pub(super) use apply::{NewMode, apply, rename_modes, temporary_names};
pub use error::BatchError;
pub use patch::PatchError;
pub(super) use preview::preview;
pub(super) use rolled_back::{NotRestored, RolledBack};

/// A batch of edits.
pub(super) struct Batch<'a>(pub(super) &'a MutateBatch);

impl Tool for Batch<'_> {
    fn preview(&self, projected: ProjectedToolbox<'_>) -> Result<PreviewWithEffects, ToolError> {
        preview(projected, self.0)
    }

    fn project(&self, toolbox: &Toolbox, overlay: &mut Overlay) -> Result<(), ToolError> {
        let batch = self.0;
        if batch.dry_run {
            return Ok(());
        }
        let projected = toolbox.after(overlay);
        let mut computed = compute(projected, &batch.edits, &batch.expected_hashes)?;
        if let Some(error) = computed.take_plan_error() {
            return Err(error);
        }
        if computed.faults.is_empty() {
            for effect in computed.effects {
                overlay.insert(effect.path, effect.after_bytes);
            }
        }
        Ok(())
    }

    fn adds_file_edges(&self) -> bool {
        true
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<CallResult, ToolError> {
        let MutateBatch { edits, expected_hashes, .. } = self.0;
        let computed = compute(toolbox.now().until(context.stop), edits, expected_hashes)?;
        Ok(execute(toolbox, self.0, computed, context))
    }
}

/// Applies a computed batch, unless it has faults, is a dry run, or depends on a file that is not as authorized.
fn execute(
    toolbox: &Toolbox,
    batch: &MutateBatch,
    mut computed: Computed,
    context: &Context<'_>,
) -> CallResult {
    let faults = std::mem::take(&mut computed.faults);
    let mut outcome = BatchOutcome { valid: faults.is_empty(), ..BatchOutcome::default() };
    let mut edges = edges(&computed, batch.dry_run);
    if !faults.is_empty() {
        outcome.errors = faults.iter().map(Fault::json).collect();
        let error = BatchError::Refused { faults }.into();
        return outcome.into_call_result(batch, &[], edges, Vec::new(), Some(error));
    }
    if batch.dry_run {
        return outcome.into_call_result(batch, &computed.effects, edges, Vec::new(), None);
    }
    let authorized = computed
        .states
        .iter()
        .try_for_each(|(path, now)| check_state(path, context.expected.get(path).copied(), *now));
    if let Err(error) = authorized {
        let error = error.into();
        outcome.errors.push(error_json(&error));
        return outcome.into_call_result(batch, &[], edges, Vec::new(), Some(error));
    }
    match apply(toolbox, &computed.effects, &computed.modes, &context.write()) {
        Ok(applied) => {
            outcome.committed = true;
            outcome.created_folders = applied.created_folders;
            outcome.warnings = applied.warnings;
            let symbols = computed.symbols.into_iter();
            edges.extend(
                symbols.map(|name| Edge::new(EdgeType::Affected, TargetKind::Symbol, name)),
            );
            let effects = applied.effects;
            outcome.into_call_result(batch, &effects.clone(), edges, effects, None)
        }
        Err(rolled_back) => {
            let effects = rolled_back.effects();
            let RolledBack { error, not_restored, warnings } = *rolled_back;
            outcome.errors.push(error_json(&error));
            outcome.not_restored = not_restored.iter().map(NotRestored::json).collect();
            outcome.warnings = warnings;
            outcome.into_call_result(batch, &effects.clone(), edges, effects, Some(error))
        }
    }
}

fn error_json(error: &ToolError) -> Value {
    json!({ "code": error.code(), "message": error.to_string() })
}

/// The edges to the files and symbols that the edits and the expected hashes name. `tools/edges.rs` adds the edges to
/// changed files.
fn edges(computed: &Computed, dry_run: bool) -> Vec<Edge> {
    let edge_type = if dry_run { EdgeType::Referenced } else { EdgeType::ExecutedOn };
    let edge = |target_kind, target: &String| Edge::new(edge_type, target_kind, target);
    let files = computed.states.keys().map(|path| edge(TargetKind::File, path));
    let mut edges: Vec<Edge> = files.collect();
    for symbol in computed.symbols.iter().map(|symbol| edge(TargetKind::Symbol, symbol)) {
        if !edges.contains(&symbol) {
            edges.push(symbol);
        }
    }
    edges
}

/// The result of a batch (SPEC §9).
#[derive(Default)]
struct BatchOutcome {
    valid: bool,
    committed: bool,
    errors: Vec<Value>,
    created_folders: Vec<String>,
    not_restored: Vec<Value>,
    warnings: Vec<String>,
}

impl BatchOutcome {
    fn into_call_result(
        self,
        batch: &MutateBatch,
        changes: &[FileEffect],
        edges: Vec<Edge>,
        files: Vec<FileEffect>,
        error: Option<ToolError>,
    ) -> CallResult {
        let mut result = json!({
            "valid": self.valid,
            "committed": self.committed,
            "changed_files": changed_files(changes),
            "errors": self.errors,
        });
        let splices = batch.edits.iter().any(|edit| edit.op() == "splice");
        let engine = json!({ "name": "embedded", "version": code::PARSER_VERSION });
        let optional = [
            ("dry_run", batch.dry_run.then_some(Value::Bool(true))),
            ("created_folders", non_empty(self.created_folders)),
            ("not_restored", non_empty(self.not_restored)),
            ("warnings", non_empty(self.warnings)),
            ("engine", splices.then_some(engine)),
        ];
        for (name, value) in optional.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            set_field(&mut result, name, value);
        }
        CallResult { result, edges, files, error, ..CallResult::default() }
    }
}

fn non_empty<T: Into<Value>>(list: Vec<T>) -> Option<Value> {
    (!list.is_empty()).then(|| list.into_iter().map(Into::into).collect())
}
