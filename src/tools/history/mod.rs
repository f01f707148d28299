//! `history` (SPEC §9): lists, compares, undoes and redoes the changes of recorded steps, and restores checkpoints.
//!
//! The records are in the evidence, on which the tools do not depend: the code that opens the workspace
//! passes in a [`HistorySource`]. Files are restored as in a batch of edits, all of them or none, and only if each
//! of them has the content that the recorded changes left, or already has its target state.
//!
//! # One rule for undo, redo and revert
//!
//! Nothing in the history is deleted. An undo is itself a recorded change, whose result names the executions
//! that it reverses. A change counts as undone while some change that reverses it is not undone itself. A
//! revert of a revert, a redo, and the undo of a redo all follow from this rule; a restored checkpoint is an
//! ordinary change. Whether later work would be overwritten is decided by contents alone: each file must have the
//! content that the recorded changes left, and each recorded change must begin with the content that the previous
//! one left. An interrupted step left one of two contents. A file that already has its target state is accepted as
//! it is.
//!
//! # Permission bits
//!
//! Permission bits are recorded with the contents (`run::Modes`). A file that an operation creates again gets its
//! recorded mode, without the set-user-ID, set-group-ID and sticky bits. An existing file keeps its mode, unless
//! the reversed steps set that mode; a mode that somebody set later stays. An operation is never refused because
//! of a mode, and never changes a mode alone. If no mode is recorded, a moved file keeps its mode under the other
//! name, and any other created file gets the mode of a new file. The system chooses that mode when the file is
//! created, so an intent does not contain it. Folders that a step created stay when they become empty.
//!
//! # Previews
//!
//! The `HistorySource` reads with a connection of its own, and again only when the evidence has grown. The history
//! also gives the paths that an undo writes. They are treated as written paths, so an authorization covers them and
//! their risk is that of a write. An undo after another undo in the same plan is previewed on an `Overlay` that
//! contains the earlier undo. After any other step that can change files, only an undo of a named checkpoint has a
//! preview: a redo, a restored checkpoint and an undo of the last change depend on a change that is not recorded
//! yet.

mod compare;
mod effects;
mod error;
mod lists;
mod preview;
mod records;
mod targets;

use std::sync::Arc;

use serde_json::json;

use super::batch::RolledBack;
use super::changes::changed_files;
use super::tool::{NamedPaths, PreviewWithEffects, Tool, file_edge, set_field};
use super::{CallResult, Context, ProjectedToolbox, ToolError, Toolbox, batch};
use crate::plan::{HistoryOperation, PathRole};
use crate::run::{EdgeType, FileEffect, History, HistoryEntry};
use crate::workspace::{Overlay, check_cancelled, check_state};

use effects::{Comparison, compare_with_records};
use records::history;
use targets::{Restoration, restoration};

pub use error::{Conflict, HistoryError};

/// A call of `history`. `limit` is the maximum number of entries in a list.
pub(super) struct HistoryCall<'a> {
    pub(super) operation: &'a HistoryOperation,
    pub(super) limit: usize,
}

impl Tool for HistoryCall<'_> {
    fn preview(&self, projected: ProjectedToolbox<'_>) -> Result<PreviewWithEffects, ToolError> {
        preview::preview(projected, self.operation)
    }

    fn project(&self, toolbox: &Toolbox, overlay: &mut Overlay) -> Result<(), ToolError> {
        if !self.operation.changes_files() {
            return Ok(());
        }
        let projected = toolbox.after(overlay);
        let history = history(projected)?;
        let restoration = restoration(&history, overlay, self.operation)?;
        let comparison = compare_with_records(projected, &history, &restoration)?;
        let Comparison { effects, .. } =
            comparison.map_err(|conflicts| HistoryError::Conflict { conflicts })?;
        overlay.history.push(projected_entry(
            &history,
            &restoration,
            &effects,
            overlay.history.len(),
        ));
        for effect in effects {
            overlay.insert(effect.path, effect.after_bytes);
        }
        Ok(())
    }

    fn named_paths(&self, projected: ProjectedToolbox<'_>) -> Result<NamedPaths, ToolError> {
        if !self.operation.changes_files() {
            return Ok(Vec::new());
        }
        let restoration = restoration(&*history(projected)?, projected.overlay, self.operation)?;
        Ok(restoration.files.into_iter().map(|file| (PathRole::Writes, file.path)).collect())
    }

    fn adds_file_edges(&self) -> bool {
        true
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<CallResult, ToolError> {
        let Self { operation, limit } = *self;
        check_cancelled(context.stop)?;
        let present = toolbox.now();
        let mut history = history(present)?;
        // This step's own intent is already recorded. Its entry is removed, because the step has changed nothing
        // yet.
        if history.entries.iter().any(|entry| entry.execution_id == context.execution_id) {
            let entries = &mut Arc::make_mut(&mut history).entries;
            entries.retain(|entry| entry.execution_id != context.execution_id);
        }
        match operation {
            HistoryOperation::ListEntries => return Ok(lists::entries(&history, limit)),
            HistoryOperation::ListCheckpoints => return Ok(lists::checkpoints(&history, limit)),
            HistoryOperation::Diff { from, to } => {
                return compare::invoke(toolbox, &history, from, to.as_deref());
            }
            _ => {}
        }
        let restoration = restoration(&history, present.overlay, operation)?;
        let comparison = match compare_with_records(present, &history, &restoration)? {
            Ok(comparison) => comparison,
            Err(conflicts) => return Ok(refused(operation, conflicts)),
        };
        for (path, state) in &comparison.states {
            check_state(path, context.expected.get(path).copied(), *state)?;
        }
        let (files, error, not_restored) =
            match batch::apply(toolbox, &comparison.effects, &comparison.modes(), &context.write())
            {
                Ok(applied) => (applied.effects, None, Vec::new()),
                Err(rolled_back) => {
                    let files = rolled_back.effects();
                    let RolledBack { error, not_restored, .. } = *rolled_back;
                    (files, Some(error), not_restored.iter().map(|file| file.json()).collect())
                }
            };
        let mut result = json!({
            "operation": operation.as_str(),
            "changed_files": changed_files(&files),
            "left_out": restoration.left_out,
        });
        if error.is_none() {
            set_field(&mut result, "taken_back", json!(restoration.reverses));
        }
        if !not_restored.is_empty() {
            set_field(&mut result, "not_restored", not_restored);
        }
        let edges =
            comparison.states.keys().map(|path| file_edge(EdgeType::ExecutedOn, path)).collect();
        Ok(CallResult { result, edges, files, error, ..CallResult::default() })
    }
}

/// The entry that a step of a plan would add to the history, for the previews of the steps after it. `index` is the
/// number of such entries before it.
fn projected_entry(
    history: &History,
    restoration: &Restoration,
    effects: &[FileEffect],
    index: usize,
) -> HistoryEntry {
    let position = history.entries.last().map_or(0, |entry| entry.position).saturating_add(1);
    HistoryEntry {
        execution_id: uuid::Uuid::from_u128(index as u128),
        run_id: uuid::Uuid::nil(),
        attempt: None,
        position,
        timestamp_ms: 0,
        step_id: String::new(),
        tool_name: String::new(),
        about: String::new(),
        files: effects.iter().map(targets::forecast).collect(),
        reverses: restoration.reverses.clone(),
        is_recorded: true,
    }
}

/// The result of a step that would have overwritten later work.
fn refused(operation: &HistoryOperation, conflicts: Vec<Conflict>) -> CallResult {
    let result = json!({
        "operation": operation.as_str(),
        "conflicts": conflicts.iter().map(Conflict::json).collect::<Vec<_>>(),
    });
    let edges =
        conflicts.iter().map(|conflict| file_edge(EdgeType::ExecutedOn, &conflict.path)).collect();
    let error = Some(HistoryError::Conflict { conflicts }.into());
    CallResult { result, edges, error, ..CallResult::default() }
}
