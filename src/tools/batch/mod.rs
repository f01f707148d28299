//! `mutate_batch` (SPEC §9): edits of many files, made as a whole or not at all.
//!
//! What a batch does is computed in memory from the files alone ([`compute`]); [`apply`] then brings the
//! files there, or leaves every one of them as it was.

mod apply;
mod compute;
mod disk;
mod edits;
mod error;
mod folders;
mod patch;
mod preview;
mod restore;
#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use crate::authorization::FileState;
use crate::code;
use crate::plan::MutateBatch;
use crate::run::{Edge, EdgeType, FileEffect, TargetKind};

use super::{Context, Invocation, Overlay, ToolError, Toolbox, write};

use compute::{Computed, compute};

pub(super) use apply::{NewMode, apply, moved, waiting_names};
#[cfg(test)]
pub(super) use disk::Act;
pub(super) use disk::Disk;
pub use error::{BatchError, Fault};
pub use patch::PatchError;
pub(super) use preview::foresee;
pub(super) use restore::Undone;

/// Adds to `overlay` what a batch leaves; nothing where it cannot be made.
pub(super) fn leave(
    toolbox: &Toolbox,
    overlay: &mut Overlay,
    batch: &MutateBatch,
) -> Result<(), ToolError> {
    if batch.dry_run {
        return Ok(());
    }
    let stop = toolbox.stop();
    let mut computed = compute(toolbox, overlay, &batch.edits, &batch.expected_hashes, stop)?;
    if let Some(error) = about_the_plan(&mut computed) {
        return Err(error);
    }
    if computed.faults.is_empty() {
        for effect in computed.effects {
            overlay.put(effect.path, effect.after_bytes);
        }
    }
    Ok(())
}

/// The first fault that is the plan's in whatever state the workspace is.
fn about_the_plan(computed: &mut Computed) -> Option<ToolError> {
    let at = computed.faults.iter().position(|fault| fault.error.is_about_the_plan())?;
    Some(*computed.faults.swap_remove(at).error)
}

/// Does it.
pub(super) fn invoke(toolbox: &Toolbox, batch: &MutateBatch, context: &Context<'_>) -> Invocation {
    let overlay = Overlay::nothing();
    match compute(toolbox, overlay, &batch.edits, &batch.expected_hashes, context.stop) {
        Ok(computed) => made(toolbox, batch, computed, context),
        Err(error) => Invocation { error: Some(error), ..Invocation::default() },
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
    let approved = computed.seen.iter().try_for_each(|(path, now)| {
        write::compare(path, context.expected.get(path).copied(), *now)
    });
    if let Err(error) = approved {
        said.errors.push(plain(&error));
        return said.invocation(batch, &[], edges, Vec::new(), Some(error));
    }
    match apply(&toolbox.roots, &computed.effects, &computed.modes, context) {
        Ok(applied) => {
            said.committed = true;
            said.created_folders = applied.created_folders;
            said.warnings = applied.warnings;
            let symbols = computed.symbols.iter().map(|symbol| Edge {
                edge_type: EdgeType::Affected,
                target_kind: TargetKind::Symbol,
                target: symbol.clone(),
            });
            edges.extend(symbols);
            let effects = applied.effects;
            said.invocation(batch, &effects.clone(), edges, effects, None)
        }
        Err(undone) => {
            let effects = undone.effects();
            let Undone { error, not_restored, warnings } = *undone;
            said.errors.push(plain(&error));
            said.not_restored = not_restored.iter().map(restore::NotRestored::json).collect();
            said.warnings = warnings;
            said.invocation(batch, &effects.clone(), edges, effects, Some(error))
        }
    }
}

fn plain(error: &ToolError) -> Value {
    json!({ "code": error.code(), "message": error.to_string() })
}

/// What the edits are about; what they change is added to it for every tool in the same way.
fn edges(computed: &Computed, dry_run: bool) -> Vec<Edge> {
    let edge_type = if dry_run { EdgeType::Referenced } else { EdgeType::ExecutedOn };
    let edge =
        |target_kind, target: &String| Edge { edge_type, target_kind, target: target.clone() };
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
        let hash = |state: FileState| match state {
            FileState::Absent => None,
            FileState::Content(digest) => Some(digest.to_string()),
        };
        let changed = |effect: &FileEffect| json!({ "path": effect.path, "before": hash(effect.before), "after": hash(effect.after) });
        let mut result = json!({
            "valid": self.valid,
            "committed": self.committed,
            "changed_files": changes.iter().map(changed).collect::<Vec<_>>(),
            "errors": self.errors,
        });
        let splices = batch.edits.iter().any(|edit| edit.op() == "splice");
        let engine = json!({ "name": "embedded", "version": code::GRAMMARS });
        let more = [
            ("dry_run", batch.dry_run.then_some(Value::Bool(true))),
            ("created_folders", some(self.created_folders)),
            ("not_restored", some(self.not_restored)),
            ("warnings", some(self.warnings)),
            ("engine", splices.then_some(engine)),
        ];
        if let Value::Object(fields) = &mut result {
            let more = more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
            fields.extend(more);
        }
        Invocation { result, edges, files, error, ..Invocation::default() }
    }
}

fn some<T: Into<Value>>(list: Vec<T>) -> Option<Value> {
    (!list.is_empty()).then(|| list.into_iter().map(Into::into).collect())
}
