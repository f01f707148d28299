//! What was changed in a workspace, for `history` and reverts (SPEC §9, §11): the recorded contents by
//! their digests, in the order in which they came to be.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{OptionalExtension as _, Row};
use serde::Deserialize;
use uuid::Uuid;

use super::aftermath::state;
use super::error::{EvidenceError, Result};
use super::queries::{unreadable, uuid, written_with};
use super::reader::Source;
use super::record::ArtifactType;
use super::{blobs, queries};
use crate::plan::{Digest, Tool};
use crate::run::{
    Attempt, Checkpoint, CheckpointName, FileForecast, FileMode, History, HistoryEntry, Modes,
    way_back,
};

/// A content that was recorded, as far as it can still be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// The exact bytes.
    Content(Vec<u8>),
    /// It was deleted at a person's wish.
    Purged,
    /// It holds a secret, and the key that it was encrypted under is not here.
    NoKey,
    /// Its bytes were never kept.
    NotKept,
}

/// Everything that is known of the changes of a workspace.
pub(super) fn of(source: &Source<'_>, workspace: &str) -> Result<History> {
    let mut entries = BTreeMap::new();
    recorded(source, workspace, &mut entries)?;
    taken_back(source, workspace, &mut entries)?;
    interrupted(source, workspace, &mut entries)?;
    let changes = |entry: &HistoryEntry| {
        let ways = way_back(&[entry]);
        !entry.takes_back.is_empty() || ways.iter().any(|way| way.left != [way.target])
    };
    let entries = entries.into_values().filter(changes).collect();
    Ok(History { entries, checkpoints: checkpoints(source, workspace)? })
}

/// The columns that [`entry`] reads.
const ENTRY: &str = "x.row, x.id, x.run_id, a.loop_id, a.attempt, x.timestamp, x.step_id,
    x.tool_name, x.about";

type Entries = BTreeMap<i64, HistoryEntry>;

fn entry<'e>(
    row: &Row<'_>,
    is_recorded: bool,
    entries: &'e mut Entries,
) -> Result<&'e mut HistoryEntry> {
    let place = row.get(0)?;
    let new = HistoryEntry {
        execution_id: uuid(row, 1)?,
        run_id: uuid(row, 2)?,
        attempt: match row.get::<_, Option<String>>(3)? {
            None => None,
            Some(_) => Some(Attempt { loop_id: uuid(row, 3)?, number: row.get(4)? }),
        },
        place,
        timestamp_ms: row.get(5)?,
        step_id: row.get(6)?,
        tool_name: row.get(7)?,
        about: row.get(8)?,
        files: Vec::new(),
        takes_back: BTreeSet::new(),
        is_recorded,
    };
    Ok(entries.entry(place).or_insert(new))
}

/// The columns that [`add_files`] reads behind those.
fn file(source: &Source<'_>) -> Result<&'static str> {
    let mut statement = source.conn.prepare_cached(
        "SELECT count(*) FROM pragma_table_info('file_contents') WHERE name = 'before_mode'",
    )?;
    // Nothing was written yet to what an older version made.
    Ok(match statement.query_row([], |row| row.get::<_, i64>(0))? {
        0 => "f.path, f.before_digest, f.after_digest, NULL, NULL",
        _ => "f.path, f.before_digest, f.after_digest, f.before_mode, f.after_mode",
    })
}

fn add_files(
    source: &Source<'_>,
    sql: &str,
    workspace: &str,
    is_recorded: bool,
    entries: &mut Entries,
) -> Result<()> {
    let mut statement = source.conn.prepare_cached(sql)?;
    let mut rows = statement.query([workspace])?;
    while let Some(row) = rows.next()? {
        let mode =
            |column| Ok::<_, EvidenceError>(row.get::<_, Option<u32>>(column)?.map(FileMode::new));
        let file = FileForecast {
            path: row.get(9)?,
            before: state(row.get(10)?)?,
            after: state(row.get(11)?)?,
            modes: Modes { before: mode(12)?, after: mode(13)? },
        };
        entry(row, is_recorded, entries)?.files.push(file);
    }
    Ok(())
}

/// What steps did to files.
fn recorded(source: &Source<'_>, workspace: &str, entries: &mut Entries) -> Result<()> {
    let sql = format!(
        "SELECT {ENTRY}, {}
         FROM runs AS r JOIN executions AS x ON x.run_id = r.id
         JOIN file_contents AS f ON {}
         LEFT JOIN attempts AS a ON a.id = r.attempt_id
         WHERE r.workspace = ?1 AND f.execution_id = x.id AND f.phase = 'actual' ORDER BY f.id",
        file(source)?,
        written_with("f.id", "executions", "x.row")
    );
    add_files(source, &sql, workspace, true, entries)
}

/// What steps were about to do to files when their process went away.
fn interrupted(source: &Source<'_>, workspace: &str, entries: &mut Entries) -> Result<()> {
    let sql = format!(
        "SELECT {ENTRY}, {}
         FROM runs AS r JOIN intents AS x ON x.run_id = r.id
         JOIN file_contents AS f ON {}
         LEFT JOIN attempts AS a ON a.id = r.attempt_id
         WHERE r.workspace = ?1 AND f.execution_id = x.id AND f.phase = 'predicted'
         AND NOT EXISTS (SELECT 1 FROM executions AS e WHERE e.id = x.id) ORDER BY f.id",
        file(source)?,
        written_with("f.id", "intents", "x.row")
    );
    add_files(source, &sql, workspace, false, entries)
}

/// What an undo, a redo or a revert says that it took back.
#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    taken_back: Vec<Uuid>,
}

fn taken_back(source: &Source<'_>, workspace: &str, entries: &mut Entries) -> Result<()> {
    let mut statement = source.conn.prepare_cached(&format!(
        "SELECT {ENTRY}, t.content_json, t.blob
         FROM runs AS r JOIN executions AS x ON x.run_id = r.id
         JOIN execution_artifacts AS t ON t.execution_id = x.id AND t.artifact_type = ?3
         LEFT JOIN attempts AS a ON a.id = r.attempt_id
         WHERE r.workspace = ?1 AND x.tool_name = ?2 AND x.success = 1"
    ))?;
    let mut rows =
        statement.query((workspace, Tool::History.name(), ArtifactType::Result.as_str()))?;
    while let Some(row) = rows.next()? {
        let text = match row.get::<_, Option<String>>(10)? {
            None => row.get::<_, String>(9)?.into_bytes(),
            Some(digest) => {
                let digest = queries::digest(&digest)?;
                blobs::read(source.conn, source.vault, &digest)?.unwrap_or_default()
            }
        };
        // One that only looked, or whose result is gone, took nothing back that anybody knows of.
        let Ok(said) = serde_json::from_slice::<Said>(&text) else { continue };
        if !said.taken_back.is_empty() {
            entry(row, true, entries)?.takes_back = said.taken_back.into_iter().collect();
        }
    }
    Ok(())
}

fn checkpoints(source: &Source<'_>, workspace: &str) -> Result<Vec<Checkpoint>> {
    let mut statement = source.conn.prepare_cached(
        "SELECT r.row, r.timestamp, coalesce(p.title, r.plan_id), r.id, NULL
         FROM runs AS r JOIN plans AS p ON p.id = r.plan_digest WHERE r.workspace = ?1
         UNION ALL SELECT a.row, a.timestamp, l.goal, a.loop_id, a.attempt
         FROM attempts AS a JOIN loops AS l ON l.id = a.loop_id WHERE l.workspace = ?1
         ORDER BY 1",
    )?;
    let mut rows = statement.query([workspace])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let id = uuid(row, 3)?;
        let name = match row.get(4)? {
            None => CheckpointName::Run(id),
            Some(number) => CheckpointName::Attempt(Attempt { loop_id: id, number }),
        };
        let (place, timestamp_ms, title) = (row.get(0)?, row.get(1)?, row.get(2)?);
        all.push(Checkpoint { name, place, timestamp_ms, title });
    }
    Ok(all)
}

/// How far the evidence goes: another number, and there is more in it.
pub(super) fn length(source: &Source<'_>) -> Result<i64> {
    let mut statement = source.conn.prepare_cached("SELECT coalesce(max(seq), 0) FROM ledger")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

pub(super) fn kept(source: &Source<'_>, digest: &Digest) -> Result<Kept> {
    match blobs::read(source.conn, source.vault, digest) {
        Ok(Some(content)) => return Ok(Kept::Content(content)),
        Ok(None) => {}
        Err(EvidenceError::NotAvailable { .. }) => return Ok(Kept::NoKey),
        Err(error) => return Err(error),
    }
    let purged = source
        .conn
        .prepare_cached("SELECT 1 FROM purges WHERE digest = ?1")?
        .query_row([digest.hex()], |_| Ok(()))
        .optional()?;
    Ok(if purged.is_some() { Kept::Purged } else { Kept::NotKept })
}

/// The run of an execution, or of an intent that has none.
pub(super) fn run_of(source: &Source<'_>, execution_id: Uuid) -> Result<Option<Uuid>> {
    let found: Option<String> = source
        .conn
        .prepare_cached(
            "SELECT run_id FROM executions WHERE id = ?1
             UNION ALL SELECT run_id FROM intents WHERE id = ?1 LIMIT 1",
        )?
        .query_row([execution_id.to_string()], |row| row.get(0))
        .optional()?;
    found.map(|text| text.parse().map_err(unreadable)).transpose()
}

/// The steps of a run whose tools were called, as far as anybody knows.
pub(super) fn invoked_steps(source: &Source<'_>, run_id: Uuid) -> Result<Vec<(usize, Uuid)>> {
    let mut statement = source.conn.prepare_cached(
        "SELECT step_index, id FROM executions WHERE run_id = ?1 AND invoked = 1
         UNION SELECT step_index, id FROM intents WHERE run_id = ?1 ORDER BY 1",
    )?;
    let mut rows = statement.query([run_id.to_string()])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push((queries::size(row.get(0)?), uuid(row, 1)?));
    }
    Ok(all)
}
