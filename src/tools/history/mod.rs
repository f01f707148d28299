//! `history` (SPEC §9): undoes, redoes or lists the changes of recorded steps.
//!
//! The records are in the evidence, on which the tools do not depend: the code that opens the workspace
//! passes in a [`Past`]. Files are restored as in a batch of edits, all of them or none, and only if each of
//! them has the content in which the recorded changes left it.
//!
//! # One rule for undo, redo and revert
//!
//! Nothing in the history is deleted. An undo is itself a recorded change, whose result names the executions
//! that it reverses. A change counts as undone while some change that reverses it is not undone itself. A
//! revert of a revert, a redo, and the undo of a redo all follow from this rule; a restored checkpoint is an
//! ordinary change. Contents alone decide whether later work would be overwritten: each file must have the
//! content in which the recorded changes left it, and each recorded change must begin with the content that
//! the previous one left. An interrupted step left one of two contents.
//!
//! # Permission bits
//!
//! Permission bits are recorded with the contents (`run::Modes`). A file that an undo or a revert creates
//! again gets its recorded mode, without the set-user-ID, set-group-ID and sticky bits. An existing file
//! keeps its mode, unless the reverted steps set that mode; a mode that somebody set later stays. A mode is
//! never a reason to refuse, and a mode alone is never changed. If no mode is recorded, a moved file keeps
//! its mode under the other name, and any other file gets the mode of a new file. The system chooses the mode
//! of a new file when it is created, so an intent does not contain it. Folders that a step created stay when
//! they become empty.
//!
//! # Previews
//!
//! The `Past` reads with a connection of its own, and reads again only when the ledger has grown. The files
//! that an undo writes are taken from it, so that an approval covers them and their risk is that of a write.
//! An undo after another undo in the same plan is previewed on an `Overlay` that contains the earlier undo.
//! After any other step that can change files, only an undo of a named checkpoint has a preview: a redo, a
//! restored checkpoint and an undo of the last change depend on a change that is not recorded yet.

mod compare;
mod effects;
mod error;
mod lists;
mod preview;
mod records;
mod way;

use std::sync::Arc;

use serde_json::json;

use crate::plan::{HistoryOperation, PathRole};
use crate::run::{EdgeType, FileEffect, History, HistoryEntry, StopSignal};
use crate::workspace::{Overlay, check_cancelled, check_state};

use super::batch::{self, Undone};
use super::changes::changed_files;
use super::tool::{PreviewWithEffects, Tool, set};
use super::{After, Context, Invocation, ToolError, Toolbox};

use effects::{Found, find};
use records::{edge, record};
use way::{Intended, intended};

pub use error::{Conflict, HistoryError};

/// A call of `history`. `limit` is the maximum number of entries in a list.
pub(super) struct HistoryCall<'a> {
    pub(super) operation: &'a HistoryOperation,
    pub(super) limit: usize,
}

impl Tool for HistoryCall<'_> {
    fn preview(&self, at: After<'_>, _: &StopSignal) -> Result<PreviewWithEffects, ToolError> {
        preview::preview(at, self.operation)
    }

    fn project(&self, toolbox: &Toolbox, overlay: &mut Overlay) -> Result<(), ToolError> {
        if !self.operation.changes_files() {
            return Ok(());
        }
        let at = toolbox.after(overlay);
        let record = record(at)?;
        let intended = intended(&record, overlay, self.operation)?;
        let found = find(at, &record, &intended)?;
        let Found { effects, .. } =
            found.map_err(|conflicts| HistoryError::Conflict { conflicts })?;
        overlay.history.push(pretended(&record, &intended, &effects, overlay.history.len()));
        for effect in effects {
            overlay.insert(effect.path, effect.after_bytes);
        }
        Ok(())
    }

    fn named(&self, at: After<'_>) -> Result<Vec<(PathRole, String)>, ToolError> {
        if !self.operation.changes_files() {
            return Ok(Vec::new());
        }
        let intended = intended(&*record(at)?, at.overlay, self.operation)?;
        Ok(intended.ways.into_iter().map(|way| (PathRole::Writes, way.path)).collect())
    }

    fn tells_files(&self) -> bool {
        true
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<Invocation, ToolError> {
        let Self { operation, limit } = *self;
        check_cancelled(context.stop)?;
        let now = toolbox.now();
        let mut record = record(now)?;
        // The intent of this step is already recorded, but it has changed nothing yet.
        if record.entries.iter().any(|entry| entry.execution_id == context.execution_id) {
            let entries = &mut Arc::make_mut(&mut record).entries;
            entries.retain(|entry| entry.execution_id != context.execution_id);
        }
        match operation {
            HistoryOperation::ListEntries => return Ok(lists::entries(&record, limit)),
            HistoryOperation::ListCheckpoints => return Ok(lists::checkpoints(&record, limit)),
            HistoryOperation::Diff { from, to } => {
                return compare::invoke(toolbox, &record, from, to.as_deref());
            }
            _ => {}
        }
        let intended = intended(&record, now.overlay, operation)?;
        let found = match find(now, &record, &intended)? {
            Ok(found) => found,
            Err(conflicts) => return Ok(refused(operation, conflicts)),
        };
        for (path, now) in &found.seen {
            check_state(path, context.expected.get(path).copied(), *now)?;
        }
        let (files, error, not_restored) =
            match batch::apply(toolbox, &found.effects, &found.modes(), &context.write()) {
                Ok(applied) => (applied.effects, None, Vec::new()),
                Err(undone) => {
                    let files = undone.effects();
                    let Undone { error, not_restored, .. } = *undone;
                    (files, Some(error), not_restored.iter().map(|it| it.json()).collect())
                }
            };
        let mut result = json!({
            "operation": operation.as_str(),
            "changed_files": changed_files(&files),
            "left_out": intended.left_out,
        });
        if error.is_none() {
            set(&mut result, "taken_back", json!(intended.reverses));
        }
        if !not_restored.is_empty() {
            set(&mut result, "not_restored", not_restored);
        }
        let edges = found.seen.keys().map(|path| edge(EdgeType::ExecutedOn, path)).collect();
        Ok(Invocation { result, edges, files, error, ..Invocation::default() })
    }
}

/// The entry that a step of a plan would add to the records, for the previews of the steps after it.
fn pretended(
    record: &History,
    intended: &Intended,
    effects: &[FileEffect],
    number: usize,
) -> HistoryEntry {
    let position = record.entries.last().map_or(0, |entry| entry.position).saturating_add(1);
    HistoryEntry {
        execution_id: uuid::Uuid::from_u128(number as u128),
        run_id: uuid::Uuid::nil(),
        attempt: None,
        position,
        timestamp_ms: 0,
        step_id: String::new(),
        tool_name: String::new(),
        about: String::new(),
        files: effects.iter().map(way::forecast).collect(),
        reverses: intended.reverses.clone(),
        is_recorded: true,
    }
}

/// The result of a step that would have overwritten later work.
fn refused(operation: &HistoryOperation, conflicts: Vec<Conflict>) -> Invocation {
    let result = json!({
        "operation": operation.as_str(),
        "conflicts": conflicts.iter().map(Conflict::json).collect::<Vec<_>>(),
    });
    let edges = conflicts.iter().map(|it| edge(EdgeType::ExecutedOn, &it.path)).collect();
    let error = Some(HistoryError::Conflict { conflicts }.into());
    Invocation { result, edges, error, ..Invocation::default() }
}
