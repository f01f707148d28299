//! `history` (SPEC §9): what recorded steps changed, taken back, done again, or looked at.
//!
//! What happened is known to the evidence alone, which this room does not know: whoever opens the workspace
//! hands in a [`Past`]. Files come back by the same way as a batch of edits, all of them or none, and only
//! where they hold what the recorded changes left.

mod compare;
mod effects;
mod error;
mod lists;
mod preview;
mod way;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::authorization::FileState;
use crate::plan::{Digest, HistoryOperation};
use crate::run::{Edge, EdgeType, FileEffect, History, HistoryEntry, TargetKind};

use super::batch::{self, Undone};
use super::{Context, Invocation, Overlay, ToolError, Toolbox, write};

pub use error::{Conflict, HistoryError, NotAvailable};

use effects::{Found, find};
pub(super) use preview::foresee;
use way::{Intended, intended};

/// What is recorded of a workspace.
pub trait Past: Send + Sync {
    /// The changes, and the moments that have a name.
    ///
    /// # Errors
    /// Why the records cannot be read, in words.
    fn history(&self) -> Result<Arc<History>, String>;

    /// A content that steps were recorded with.
    ///
    /// # Errors
    /// Why it cannot be had.
    fn content(&self, digest: &Digest) -> Result<Arc<[u8]>, NotAvailable>;
}

/// The files that an operation takes as input, by canonical path; none for one that only looks.
pub(super) fn paths(
    toolbox: &Toolbox,
    overlay: &Overlay,
    operation: &HistoryOperation,
) -> Result<Vec<String>, ToolError> {
    if !operation.changes_files() {
        return Ok(Vec::new());
    }
    let record = record(toolbox, overlay)?;
    let intended = intended(&record, overlay, operation)?;
    Ok(intended.ways.into_iter().map(|way| way.path).collect())
}

/// Adds to `overlay` what an operation leaves, and that it was done; nothing where it cannot be.
pub(super) fn leave(
    toolbox: &Toolbox,
    overlay: &mut Overlay,
    operation: &HistoryOperation,
) -> Result<(), ToolError> {
    if !operation.changes_files() {
        return Ok(());
    }
    let record = record(toolbox, overlay)?;
    let intended = intended(&record, overlay, operation)?;
    let Found { effects, .. } = find(toolbox, overlay, &record, &intended)?;
    overlay.done.push(pretended(&record, &intended, &effects, overlay.done.len()));
    for effect in effects {
        overlay.put(effect.path, effect.after_bytes);
    }
    Ok(())
}

/// The entry that a step would leave in the records.
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

/// What is recorded, and what the earlier steps in `overlay` would add to it.
fn record(toolbox: &Toolbox, overlay: &Overlay) -> Result<Arc<History>, ToolError> {
    let recorded = past(toolbox)?.history().map_err(|why| HistoryError::Unreadable { why })?;
    if overlay.done.is_empty() {
        return Ok(recorded);
    }
    let mut history = History::clone(&recorded);
    history.entries.extend(overlay.done.iter().cloned());
    Ok(Arc::new(history))
}

fn past(toolbox: &Toolbox) -> Result<&dyn Past, ToolError> {
    let what = || "there is no record of what was changed in this workspace".to_owned();
    toolbox.past.as_deref().ok_or_else(|| ToolError::Unsupported { what: what() })
}

/// Does it.
pub(super) fn invoke(
    toolbox: &Toolbox,
    operation: &HistoryOperation,
    limit: usize,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    if context.stop.is_set() {
        return Err(ToolError::Cancelled);
    }
    let nothing = Overlay::nothing();
    let mut record = record(toolbox, nothing)?;
    // The intent of this very step is on the record already, and nothing that was done.
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
    let intended = intended(&record, nothing, operation)?;
    let found = match find(toolbox, nothing, &record, &intended) {
        Err(ToolError::History { source: HistoryError::Conflict { conflicts } }) => {
            return Ok(refused(operation, conflicts));
        }
        found => found?,
    };
    for (path, now) in &found.seen {
        write::compare(path, context.expected.get(path).copied(), *now)?;
    }
    let (files, error, not_restored) =
        match batch::apply(&toolbox.roots, &found.effects, &found.modes(), context) {
            Ok(applied) => (applied.effects, None, Vec::new()),
            Err(undone) => {
                let files = undone.effects();
                let Undone { error, not_restored, .. } = *undone;
                (files, Some(error), not_restored.iter().map(|it| it.json()).collect())
            }
        };
    let mut result = json!({
        "operation": operation.as_str(),
        "changed_files": files.iter().map(changed).collect::<Vec<_>>(),
        "left_out": intended.left_out,
    });
    if let Value::Object(fields) = &mut result {
        if error.is_none() {
            fields.insert("taken_back".to_owned(), json!(intended.takes_back));
        }
        if !not_restored.is_empty() {
            fields.insert("not_restored".to_owned(), Value::Array(not_restored));
        }
    }
    let edges = found.seen.keys().map(|path| edge(EdgeType::ExecutedOn, path)).collect();
    Ok(Invocation { result, edges, files, error, ..Invocation::default() })
}

/// The answer of a step that would have overwritten later work.
fn refused(operation: &HistoryOperation, conflicts: Vec<Conflict>) -> Invocation {
    let result = json!({
        "operation": operation.as_str(),
        "conflicts": conflicts.iter().map(Conflict::json).collect::<Vec<_>>(),
    });
    let edges = conflicts.iter().map(|it| edge(EdgeType::ExecutedOn, &it.path)).collect();
    let error = Some(HistoryError::Conflict { conflicts }.into());
    Invocation { result, edges, error, ..Invocation::default() }
}

fn edge(edge_type: EdgeType, path: &str) -> Edge {
    Edge { edge_type, target_kind: TargetKind::File, target: path.to_owned() }
}

fn hash(state: FileState) -> Option<String> {
    match state {
        FileState::Absent => None,
        FileState::Content(digest) => Some(digest.to_string()),
    }
}

fn changed(effect: &FileEffect) -> Value {
    json!({ "path": effect.path, "before": hash(effect.before), "after": hash(effect.after) })
}
