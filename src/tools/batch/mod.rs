//! `mutate_batch` (SPEC §9): edits of many files, applied as a whole or not at all.
//!
//! [`compute`] computes the result of a batch in memory, from the contents of the files alone; [`apply`] then
//! changes all files, or none.
//!
//! The preview, the effects recorded in the intent, and the run all use this computation (`compute`, `edits`,
//! `patch`). `history` uses `apply` too.
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
//! one that finishes it: batches with expected hashes, which a person authorizes like any other plan. The
//! plan leaves out files that somebody else changed and contents that a plan cannot hold, and its notes list
//! them.

mod apply;
mod compute;
mod edits;
mod error;
mod files;
mod patch;
mod preview;
mod restore;
#[cfg(test)]
mod tests;
mod undone;

use serde_json::{Value, json};

use crate::code;
use crate::plan::MutateBatch;
use crate::run::{Edge, EdgeType, FileEffect, StopSignal, TargetKind};
use crate::workspace::{Overlay, compare};

use super::changes::changed_files;
use super::tool::{PreviewWithEffects, Tool, set};
use super::{After, Context, Invocation, ToolError, Toolbox};

use compute::compute;
use error::Fault;
use files::Computed;

pub(super) use apply::{NewMode, apply, moved, waiting_names};
pub use error::BatchError;
pub use patch::PatchError;
pub(super) use preview::preview;
pub(super) use undone::{NotRestored, Undone};
/// A batch of edits.
pub(super) struct Batch<'a>(pub(super) &'a MutateBatch);

impl Tool for Batch<'_> {
    fn preview(&self, at: After<'_>, stop: &StopSignal) -> Result<PreviewWithEffects, ToolError> {
        preview(at, self.0, stop)
    }

    fn project(&self, toolbox: &Toolbox, overlay: &mut Overlay) -> Result<(), ToolError> {
        let batch = self.0;
        if batch.dry_run {
            return Ok(());
        }
        let at = toolbox.after(overlay);
        let mut computed = compute(at, &batch.edits, &batch.expected_hashes, toolbox.stop())?;
        if let Some(error) = computed.about_the_plan() {
            return Err(error);
        }
        if computed.faults.is_empty() {
            for effect in computed.effects {
                overlay.put(effect.path, effect.after_bytes);
            }
        }
        Ok(())
    }

    fn tells_files(&self) -> bool {
        true
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<Invocation, ToolError> {
        let MutateBatch { edits, expected_hashes, .. } = self.0;
        let computed = compute(toolbox.now(), edits, expected_hashes, context.stop)?;
        Ok(made(toolbox, self.0, computed, context))
    }
}

fn made(
    toolbox: &Toolbox,
    batch: &MutateBatch,
    mut computed: Computed,
    context: &Context<'_>,
) -> Invocation {
    let faults = std::mem::take(&mut computed.faults);
    let mut said = Said { valid: faults.is_empty(), ..Said::default() };
    let mut edges = edges(&computed, batch.dry_run);
    if !faults.is_empty() {
        said.errors = faults.iter().map(Fault::json).collect();
        let error = BatchError::Refused { faults }.into();
        return said.invocation(batch, &[], edges, Vec::new(), Some(error));
    }
    if batch.dry_run {
        return said.invocation(batch, &computed.effects, edges, Vec::new(), None);
    }
    let approved = computed
        .seen
        .iter()
        .try_for_each(|(path, now)| compare(path, context.expected.get(path).copied(), *now));
    if let Err(error) = approved {
        let error = error.into();
        said.errors.push(plain(&error));
        return said.invocation(batch, &[], edges, Vec::new(), Some(error));
    }
    match apply(toolbox, &computed.effects, &computed.modes, &context.write()) {
        Ok(applied) => {
            said.committed = true;
            said.created_folders = applied.created_folders;
            said.warnings = applied.warnings;
            let symbols = computed.symbols.into_iter();
            edges.extend(symbols.map(|it| Edge::new(EdgeType::Affected, TargetKind::Symbol, it)));
            let effects = applied.effects;
            said.invocation(batch, &effects.clone(), edges, effects, None)
        }
        Err(undone) => {
            let effects = undone.effects();
            let Undone { error, not_restored, warnings } = *undone;
            said.errors.push(plain(&error));
            said.not_restored = not_restored.iter().map(NotRestored::json).collect();
            said.warnings = warnings;
            said.invocation(batch, &effects.clone(), edges, effects, Some(error))
        }
    }
}

fn plain(error: &ToolError) -> Value {
    json!({ "code": error.code(), "message": error.to_string() })
}

/// Edges to the files and symbols that the edits name. `touched.rs` adds the edges to changed files for all
/// tools.
fn edges(computed: &Computed, dry_run: bool) -> Vec<Edge> {
    let edge_type = if dry_run { EdgeType::Referenced } else { EdgeType::ExecutedOn };
    let edge = |target_kind, target: &String| Edge::new(edge_type, target_kind, target);
    let files = computed.seen.keys().map(|path| edge(TargetKind::File, path));
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
struct Said {
    valid: bool,
    committed: bool,
    errors: Vec<Value>,
    created_folders: Vec<String>,
    not_restored: Vec<Value>,
    warnings: Vec<String>,
}

impl Said {
    fn invocation(
        self,
        batch: &MutateBatch,
        changes: &[FileEffect],
        edges: Vec<Edge>,
        files: Vec<FileEffect>,
        error: Option<ToolError>,
    ) -> Invocation {
        let mut result = json!({
            "valid": self.valid,
            "committed": self.committed,
            "changed_files": changed_files(changes),
            "errors": self.errors,
        });
        let splices = batch.edits.iter().any(|edit| edit.op() == "splice");
        let engine = json!({ "name": "embedded", "version": code::PARSER_VERSION });
        let more = [
            ("dry_run", batch.dry_run.then_some(Value::Bool(true))),
            ("created_folders", some(self.created_folders)),
            ("not_restored", some(self.not_restored)),
            ("warnings", some(self.warnings)),
            ("engine", splices.then_some(engine)),
        ];
        for (name, value) in more.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            set(&mut result, name, value);
        }
        Invocation { result, edges, files, error, ..Invocation::default() }
    }
}

fn some<T: Into<Value>>(list: Vec<T>) -> Option<Value> {
    (!list.is_empty()).then(|| list.into_iter().map(Into::into).collect())
}
