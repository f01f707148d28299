//! Reads the recorded changes of one file with their differences (SPEC §8, §9).

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rusqlite::Row;
use uuid::Uuid;

use super::error::Result;
use super::history::stored_content;
use super::queries::execution_row;
use super::rows::{optional, uuid};
use super::run_outcome::file_state;
use super::source::Source;
use super::{EvidenceError, EvidenceReader, StoredContent, changed, runs};
use crate::authorization::FileState;
use crate::plan::Digest;
use crate::run::line_diff::diff;
use crate::run::{
    Diff, FileChange, FileHistory, FileMode, Known, ListedExecution, Modes, NoDifference,
    RecordedChange, RunSummary,
};

/// What a history of a file may cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct HistoryLimits {
    /// The maximum number of changes; the newest ones are read. `None` for all.
    pub changes: Option<usize>,
    /// The maximum number of lines of all differences together. `None` for any number.
    pub lines: Option<usize>,
    /// The time after which no further content is compared. `None` for no end.
    pub time: Option<Duration>,
}

/// A row of a changed file.
struct ChangeRow {
    row: i64,
    execution_id: Uuid,
    is_actual: bool,
    before: FileState,
    after: FileState,
    modes: Modes,
}

impl EvidenceReader {
    /// The recorded changes of the file with this canonical path, in this workspace or in all. Of a step that was interrupted, it has the change that was about to be made.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn file_history(
        &mut self,
        path: &str,
        workspace: Option<&str>,
        limits: HistoryLimits,
    ) -> Result<FileHistory> {
        self.query(|source| {
            let rows = change_rows(source, path)?;
            let mut changes = changes(source, rows, workspace)?;
            let left_out = limits.changes.map_or(0, |most| changes.len().saturating_sub(most));
            mark_gaps(&mut changes);
            changes.drain(..left_out);
            compare(source, path, &mut changes, limits)?;
            Ok(FileHistory { changes, left_out })
        })
    }
}

/// The rows of a path: the actual changes, and the predicted ones of steps without a record.
fn change_rows(source: &Source<'_>, path: &str) -> Result<Vec<ChangeRow>> {
    // There is no index by path, which would slow down every step: the whole table is read.
    let sql = "SELECT f.id, f.execution_id, f.phase = 'actual', f.before_digest, f.after_digest,
                      f.before_mode, f.after_mode
               FROM file_contents AS f WHERE f.path = ?1
               AND (f.phase = 'actual'
                    OR NOT EXISTS (SELECT 1 FROM executions AS e WHERE e.id = f.execution_id))
               ORDER BY f.id";
    source.all(sql, [path], |row| {
        let mode = |row: &Row<'_>, column| {
            optional(row, column, |row, column| Ok(FileMode::new(row.get(column)?)))
        };
        Ok(ChangeRow {
            row: row.get(0)?,
            execution_id: uuid(row, 1)?,
            is_actual: row.get(2)?,
            before: file_state(row.get(3)?)?,
            after: file_state(row.get(4)?)?,
            modes: Modes { before: mode(row, 5)?, after: mode(row, 6)? },
        })
    })
}

/// The changes with their executions and runs, without differences.
fn changes(
    source: &Source<'_>,
    rows: Vec<ChangeRow>,
    workspace: Option<&str>,
) -> Result<Vec<RecordedChange>> {
    let mut runs_by_id: HashMap<Uuid, Option<RunSummary>> = HashMap::new();
    let mut changes = Vec::new();
    for change in rows {
        let Some(row) = execution_row(source, change.execution_id)? else { continue };
        let run = match runs_by_id.get(&row.run_id) {
            Some(known) => known.clone(),
            None => {
                let run = runs::run(source, row.run_id)?;
                runs_by_id.insert(row.run_id, run.clone());
                run
            }
        };
        let Some(run) = run.filter(|run| workspace.is_none_or(|it| it == run.workspace)) else {
            continue;
        };
        let is_same = change.before == change.after && change.modes.before == change.modes.after;
        if is_same || !change.is_actual && matches!(row.known, Known::Outcome(_)) {
            continue;
        }
        let changed = changed::is_changed_row(source.conn, "file_contents", change.row)?
            || changed::is_changed_in_list(source.conn, change.execution_id)?;
        changes.push(RecordedChange {
            listed: ListedExecution { row, changed },
            plan_name: run.plan_name,
            workspace: run.workspace,
            before: change.before,
            after: change.after,
            modes: change.modes,
            changed_between: false,
            difference: Err(NoDifference::LeftOut),
        });
    }
    Ok(changes)
}

/// Notes where the file was not as the previous change of the same workspace had left it.
fn mark_gaps(changes: &mut [RecordedChange]) {
    let mut left: HashMap<String, Vec<FileState>> = HashMap::new();
    for change in changes {
        let previous = left.get(&change.workspace);
        change.changed_between = previous.is_some_and(|states| !states.contains(&change.before));
        let mut states = vec![change.after];
        if !matches!(change.listed.row.known, Known::Outcome(_)) {
            // It may have been interrupted before it wrote.
            states.push(change.before);
        }
        left.insert(change.workspace.clone(), states);
    }
}

/// Adds the differences, as far as the limits allow: the newest ones first.
fn compare(
    source: &Source<'_>,
    path: &str,
    changes: &mut [RecordedChange],
    limits: HistoryLimits,
) -> Result<()> {
    let begun = Instant::now();
    let mut lines = 0;
    for change in changes.iter_mut().rev() {
        if limits.time.is_some_and(|time| begun.elapsed() >= time) {
            break;
        }
        let contents = [change.before, change.after].map(|state| content(source, state));
        let difference = match contents {
            [Ok(Ok(before)), Ok(Ok(after))] => Ok(FileChange {
                path: path.to_owned(),
                before: change.before,
                after: change.after,
                diff: diff(before.as_deref(), after.as_deref()),
            }),
            [Err(error), _] | [_, Err(error)] => return Err(error),
            [Ok(Err(missing)), _] | [_, Ok(Err(missing))] => Err(missing),
        };
        if let Ok(FileChange { diff: Diff::Text { lines: shown, .. }, .. }) = &difference {
            lines += shown.len();
            if limits.lines.is_some_and(|most| lines > most) {
                break;
            }
        }
        change.difference = difference;
    }
    Ok(())
}

/// The content of a file, if it has no secret; `None` for an absent file.
type Content = std::result::Result<Option<Vec<u8>>, NoDifference>;

fn content(source: &Source<'_>, state: FileState) -> Result<Content> {
    let FileState::Content(digest) = state else { return Ok(Ok(None)) };
    // No rule may recognise in the content alone what was recognised in its run.
    if is_encrypted(source, &digest)? {
        return Ok(Err(NoDifference::Secret));
    }
    Ok(match stored_content(source, &digest)? {
        StoredContent::Content(bytes) => Ok(Some(bytes)),
        StoredContent::Purged => Err(NoDifference::Purged),
        StoredContent::NoKey => Err(NoDifference::Secret),
        StoredContent::NotStored => Err(NoDifference::NotStored),
    })
}

/// Whether a content is stored encrypted, because it contains a secret.
fn is_encrypted(source: &Source<'_>, digest: &Digest) -> Result<bool> {
    let sql = "SELECT encoding <> 'zstd' FROM blobs WHERE digest = ?1 LIMIT 1";
    let found = source.first(sql, [digest.hex()], |row| Ok::<_, EvidenceError>(row.get(0)?))?;
    Ok(found.unwrap_or_default())
}
