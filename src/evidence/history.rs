//! Reads the recorded changes of a workspace, in the order in which they were recorded, and the contents of files by
//! their digests. Used by `history` and by reverts (SPEC §9, §11).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rusqlite::Row;
use serde::Deserialize;
use uuid::Uuid;

use super::error::Result;
use super::rows::{digest, optional, size, uuid, written_with};
use super::run_outcome::file_state;
use super::source::Source;
use super::{ArtifactType, EvidenceError, EvidenceReader, blobs, purged};
use crate::plan::{Digest, Tool};
use crate::run::{
    Attempt, Checkpoint, CheckpointName, FileForecast, FileMode, History, HistoryEntry, Modes,
    reversals,
};

/// A recorded content, or why it is not available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredContent {
    /// The exact bytes.
    Content(Vec<u8>),
    /// A person purged the content.
    Purged,
    /// The content contains a secret, and the key that encrypts it is not available.
    NoKey,
    /// The content was never stored.
    NotStored,
}

impl EvidenceReader {
    /// The changes of a workspace and its checkpoints, with the number of the evidence's last row. `previous` is an
    /// earlier result, which is returned again if nothing was recorded since.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn history(
        &mut self,
        workspace: &str,
        previous: Option<(i64, Arc<History>)>,
    ) -> Result<(i64, Arc<History>)> {
        self.query(|source| {
            let length = source.length()?;
            match previous {
                Some(previous) if previous.0 == length => Ok(previous),
                _ => Ok((length, Arc::new(history_of(source, workspace)?))),
            }
        })
    }

    /// A recorded content, or why it is not available.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn stored_content(&mut self, digest: &Digest) -> Result<StoredContent> {
        let content = self.query(|source| stored_content(source, digest).map(Some))?;
        Ok(content.unwrap_or(StoredContent::NotStored))
    }

    /// The steps of a run whose tools were called, or may have been called before an interruption: their indices from
    /// 0, and their executions.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn invoked_steps(&mut self, run_id: Uuid) -> Result<Vec<(usize, Uuid)>> {
        let sql = "SELECT step_index, id FROM executions WHERE run_id = ?1 AND invoked = 1
             UNION SELECT step_index, id FROM intents WHERE run_id = ?1 ORDER BY 1";
        self.query(|source| {
            source.all(sql, [run_id.to_string()], |row| Ok((size(row, 0)?, uuid(row, 1)?)))
        })
    }

    /// The run of an execution or intent; `None` if there is neither.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn run_of(&mut self, execution_id: Uuid) -> Result<Option<Uuid>> {
        let sql = "SELECT run_id FROM executions WHERE id = ?1
             UNION ALL SELECT run_id FROM intents WHERE id = ?1 LIMIT 1";
        self.query(|source| source.first(sql, [execution_id.to_string()], |row| uuid(row, 0)))
    }
}

/// The history of a workspace from its rows.
fn history_of(source: &Source<'_>, workspace: &str) -> Result<History> {
    let mut entries = BTreeMap::new();
    add_files(source, workspace, "executions", "actual", &mut entries)?;
    add_reversals(source, workspace, &mut entries)?;
    // The predicted changes of steps that were interrupted.
    add_files(source, workspace, "intents", "predicted", &mut entries)?;
    let changes = |entry: &HistoryEntry| {
        let ways = reversals(&[entry]);
        !entry.reverses.is_empty() || ways.iter().any(|way| way.left != [way.target])
    };
    let entries = entries.into_values().filter(changes).collect();
    Ok(History { entries, checkpoints: checkpoints(source, workspace)? })
}

/// The columns that [`entry`] reads.
const ENTRY: &str = "x.row, x.id, x.run_id, a.loop_id, a.attempt, x.timestamp, x.step_id,
    x.tool_name, x.about";

/// The entries by the number of their row.
type Entries = BTreeMap<i64, HistoryEntry>;

/// The entry of the execution or intent in this row; added if it is new.
fn entry<'e>(
    row: &Row<'_>,
    is_recorded: bool,
    entries: &'e mut Entries,
) -> Result<&'e mut HistoryEntry> {
    let number = row.get(0)?;
    let new = HistoryEntry {
        execution_id: uuid(row, 1)?,
        run_id: uuid(row, 2)?,
        attempt: optional(row, 3, |row, column| {
            Ok(Attempt { loop_id: uuid(row, column)?, number: row.get(4)? })
        })?,
        position: number,
        timestamp_ms: row.get(5)?,
        step_id: row.get(6)?,
        tool_name: row.get(7)?,
        about: row.get(8)?,
        files: Vec::new(),
        reverses: BTreeSet::new(),
        is_recorded,
    };
    Ok(entries.entry(number).or_insert(new))
}

/// Adds the changes of files in this phase: those that executions made, or that open intents predicted.
fn add_files(
    source: &Source<'_>,
    workspace: &str,
    table: &str,
    phase: &str,
    entries: &mut Entries,
) -> Result<()> {
    let is_recorded = table == "executions";
    let open = "AND NOT EXISTS (SELECT 1 FROM executions AS e WHERE e.id = x.id)";
    let sql = format!(
        "SELECT {ENTRY}, f.path, f.before_digest, f.after_digest, f.before_mode, f.after_mode
         FROM runs AS r JOIN {table} AS x ON x.run_id = r.id
         JOIN file_contents AS f ON {}
         LEFT JOIN attempts AS a ON a.id = r.attempt_id
         WHERE r.workspace = ?1 AND f.execution_id = x.id AND f.phase = ?2 {} ORDER BY f.id",
        written_with("f.id", table, "x.row"),
        if is_recorded { "" } else { open }
    );
    source.all(&sql, [workspace, phase], |row| {
        let mode =
            |column| Ok::<_, EvidenceError>(row.get::<_, Option<u32>>(column)?.map(FileMode::new));
        let file = FileForecast {
            path: row.get(9)?,
            before: file_state(row.get(10)?)?,
            after: file_state(row.get(11)?)?,
            modes: Modes { before: mode(12)?, after: mode(13)? },
        };
        entry(row, is_recorded, entries)?.files.push(file);
        Ok(())
    })?;
    Ok(())
}

/// The field of a tool's result with the executions that an undo, a redo or a revert reversed.
#[derive(Deserialize)]
struct HistoryResult {
    #[serde(default)]
    taken_back: Vec<Uuid>,
}

/// Adds which executions were reversed by later ones.
fn add_reversals(source: &Source<'_>, workspace: &str, entries: &mut Entries) -> Result<()> {
    let sql = format!(
        "SELECT {ENTRY}, t.content_json, t.blob
         FROM runs AS r JOIN executions AS x ON x.run_id = r.id
         JOIN execution_artifacts AS t ON t.execution_id = x.id AND t.artifact_type = ?3
         LEFT JOIN attempts AS a ON a.id = r.attempt_id
         WHERE r.workspace = ?1 AND x.tool_name = ?2 AND x.success = 1"
    );
    let params = (workspace, Tool::History.name(), ArtifactType::Result.as_str());
    source.all(&sql, params, |row| {
        let text = match optional(row, 10, digest)? {
            None => row.get::<_, String>(9)?.into_bytes(),
            Some(blob) => blobs::read(source.conn, source.vault, &blob)?.unwrap_or_default(),
        };
        match serde_json::from_slice::<HistoryResult>(&text) {
            Ok(result) if !result.taken_back.is_empty() => {
                entry(row, true, entries)?.reverses = result.taken_back.into_iter().collect();
            }
            // The step changed nothing, or its result was purged.
            _ => {}
        }
        Ok(())
    })?;
    Ok(())
}

/// The start of each run and each attempt in a workspace, in order.
fn checkpoints(source: &Source<'_>, workspace: &str) -> Result<Vec<Checkpoint>> {
    source.all(
        "SELECT r.row, r.timestamp, coalesce(p.title, r.plan_id), r.id, NULL
         FROM runs AS r JOIN plans AS p ON p.id = r.plan_digest WHERE r.workspace = ?1
         UNION ALL SELECT a.row, a.timestamp, l.goal, a.loop_id, a.attempt
         FROM attempts AS a JOIN loops AS l ON l.id = a.loop_id WHERE l.workspace = ?1
         ORDER BY 1",
        [workspace],
        |row| {
            let id = uuid(row, 3)?;
            let name = match row.get(4)? {
                None => CheckpointName::Run(id),
                Some(number) => CheckpointName::Attempt(Attempt { loop_id: id, number }),
            };
            Ok(Checkpoint {
                name,
                position: row.get(0)?,
                timestamp_ms: row.get(1)?,
                title: row.get(2)?,
            })
        },
    )
}

/// A recorded content, or why it is not available.
pub(super) fn stored_content(source: &Source<'_>, digest: &Digest) -> Result<StoredContent> {
    match blobs::read(source.conn, source.vault, digest) {
        Ok(Some(content)) => return Ok(StoredContent::Content(content)),
        Ok(None) => {}
        Err(EvidenceError::NotAvailable { .. }) => return Ok(StoredContent::NoKey),
        Err(error) => return Err(error),
    }
    let is_purged = purged::is_purged_content(source, digest)?;
    Ok(if is_purged { StoredContent::Purged } else { StoredContent::NotStored })
}
