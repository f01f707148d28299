//! `history` (SPEC §9): undoes, redoes or shows what recorded steps changed.
//!
//! Only the evidence knows what happened, and the tools do not depend on it: whoever opens the workspace
//! passes in a [`Past`]. Files are restored like a batch of edits, all of them or none, and only where they
//! hold what the recorded changes left.
//!
//! # One rule for undo, redo and revert
//!
//! Nothing in the history is deleted. An undo is a change of its own, whose result names the executions that it
//! takes back; a change is undone as long as a change that takes it back is not undone itself. So a revert of a
//! revert, a redo, and the undo of a redo follow one rule, and a restored checkpoint is an ordinary change. Whether
//! later work would be overwritten is decided by contents alone: each file must hold what the recorded changes left,
//! and each change must have begun with what the previous one left. A step that was interrupted left one of two
//! states.
//!
//! # Permission bits
//!
//! They are recorded with the contents (`run::Modes`). A file that is created again by an undo or a revert gets the
//! mode it had, but never bits that let it run as another user. An existing file keeps its mode, unless the reverted
//! steps set it: a mode that somebody set since is theirs. A mode never causes a refusal, and nothing is done for a
//! mode alone. Where none is recorded, a moved file keeps its mode under the other name, and any other file gets the
//! mode of a new one. The mode of a new file is known only once the system has made it, so an intent leaves it open.
//! Folders that a step made stay when they become empty.
//!
//! # Previews
//!
//! The `Past` reads with a connection of its own, and again only when the ledger has grown. It also finds which
//! files an undo writes, so that an approval covers them and their risk is that of writing them. An undo that
//! follows another undo of the same plan is previewed on an `Overlay` that remembers what was taken back. After any
//! other change of the plan, an undo that names nothing has no preview, because what it would take back has no
//! record yet.

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
use crate::workspace::{Overlay, compare, go_on};

use super::batch::{self, Undone};
use super::changes::changed_files;
use super::tool::{PreviewWithEffects, Tool, set};
use super::{After, Context, Invocation, ToolError, Toolbox};

use effects::{Found, find};
use records::{edge, record};
use way::{Intended, intended};

pub use error::{Conflict, HistoryError};

/// An operation, and the most entries of a list.
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
        overlay.done.push(pretended(&record, &intended, &effects, overlay.done.len()));
        for effect in effects {
            overlay.put(effect.path, effect.after_bytes);
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
        go_on(context.stop)?;
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
            compare(path, context.expected.get(path).copied(), *now)?;
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
            set(&mut result, "taken_back", json!(intended.takes_back));
        }
        if !not_restored.is_empty() {
            set(&mut result, "not_restored", not_restored);
        }
        let edges = found.seen.keys().map(|path| edge(EdgeType::ExecutedOn, path)).collect();
        Ok(Invocation { result, edges, files, error, ..Invocation::default() })
    }
}

/// The entry that a step would add to the records.
fn pretended(
    record: &History,
    intended: &Intended,
    effects: &[FileEffect],
    number: usize,
) -> HistoryEntry {
    let place = record.entries.last().map_or(0, |entry| entry.place).saturating_add(1);
    HistoryEntry {
        execution_id: uuid::Uuid::from_u128(number as u128),
        run_id: uuid::Uuid::nil(),
        attempt: None,
        place,
        timestamp_ms: 0,
        step_id: String::new(),
        tool_name: String::new(),
        about: String::new(),
        files: effects.iter().map(way::forecast).collect(),
        takes_back: intended.takes_back.clone(),
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
