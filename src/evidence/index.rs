//! The search index: a file of its own, filled from the rows and rebuildable from them at any time
//! (SPEC §8). Nothing in it is evidence, so it may change and be thrown away.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use serde_json::Value;
use uuid::Uuid;

use super::error::{EvidenceError, Result};
use super::index_seal::Seal;
use super::index_text::{flat, searchable, text_of};
use super::reader::Source;
use super::vault::Vault;
use super::{permissions, queries};
use crate::plan::Digest;
use crate::run::Known;

const FILE_NAME: &str = "search_index.db";
/// Changes with [`SCHEMA`] and with how a text is made; another format is thrown away.
const FORMAT: i64 = 2;
/// Executions that are indexed in one transaction.
const BATCH: i64 = 200;

/// The searchable texts of an execution, in the order in which a match is looked for.
pub(super) const FIELDS: [&str; 10] = [
    "tool",
    "arguments",
    "error",
    "stdout",
    "stderr",
    "diagnostics",
    "result",
    "diff",
    "preview",
    "step_context",
];

const SCHEMA: &str = "
    CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL,
                        digest TEXT NOT NULL) STRICT;
    CREATE TABLE docs (id INTEGER PRIMARY KEY, execution_id TEXT NOT NULL UNIQUE,
                       run_id TEXT NOT NULL, plan_id TEXT NOT NULL, tool TEXT NOT NULL,
                       outcome TEXT NOT NULL, risk TEXT, host TEXT, error_code TEXT,
                       timestamp INTEGER NOT NULL, open INTEGER NOT NULL) STRICT;
    CREATE INDEX docs_by_time ON docs (timestamp);
    CREATE INDEX docs_open ON docs (open) WHERE open = 1;
    CREATE TABLE doc_paths (doc INTEGER NOT NULL, path TEXT NOT NULL) STRICT;
    CREATE INDEX doc_paths_by_doc ON doc_paths (doc);
    CREATE TABLE doc_codes (doc INTEGER NOT NULL, code TEXT NOT NULL) STRICT;
    CREATE INDEX doc_codes_by_doc ON doc_codes (doc);";

/// The open index.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) conn: Connection,
    /// None where it is in memory.
    seal: Option<Seal>,
    path: PathBuf,
    /// As it was when the seal was compared: another number, and another process has written.
    data_version: i64,
}

impl Index {
    /// Opens the index of an evidence folder, made anew when it cannot be used or is not what this user's
    /// program wrote; in memory where the folder cannot be written or there is no key.
    pub(super) fn open(dir: &Path, vault: Option<&Arc<Vault>>) -> Result<Self> {
        let path = dir.join(FILE_NAME);
        let seal = vault.map(|vault| Seal::new(dir, vault));
        if let Some(seal) = seal
            && let Ok(_lock) = seal.lock()
        {
            if !seal.holds(&path) {
                Self::discard(dir);
            }
            let made = Self::in_file(&path, &seal);
            if let Ok(index) = made {
                return Ok(index);
            }
            // Damaged or of another format.
            Self::discard(dir);
            if let Ok(index) = Self::in_file(&path, &seal) {
                return Ok(index);
            }
        }
        let conn = Self::prepare(Connection::open_in_memory())?;
        Ok(Self { conn, seal: None, path, data_version: 0 })
    }

    fn in_file(path: &Path, seal: &Seal) -> Result<Self> {
        if !path.exists() {
            permissions::create_new(path)
                .map_err(|source| EvidenceError::Folder { source, path: path.to_owned() })?;
        }
        permissions::mend_file(path)?;
        let conn = Self::prepare(Connection::open(path))?;
        seal.set(path)?;
        let data_version = data_version(&conn)?;
        Ok(Self { conn, seal: Some(seal.clone()), path: path.to_owned(), data_version })
    }

    /// Whether the index of this folder is what this user's program wrote; there may be none.
    pub(super) fn is_sound(dir: &Path, vault: Option<&Arc<Vault>>) -> bool {
        let path = dir.join(FILE_NAME);
        if !path.exists() {
            return true;
        }
        let Some(seal) = vault.map(|vault| Seal::new(dir, vault)) else { return false };
        // Without the lock nobody can tell a file that is being written from one that was changed.
        seal.lock().is_ok_and(|_lock| seal.holds(&path))
    }

    /// Throws the index of this folder away: it holds nothing that is not in the evidence.
    pub(super) fn discard(dir: &Path) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let _ = std::fs::remove_file(dir.join(format!("{FILE_NAME}{suffix}")));
        }
        Seal::discard(dir);
    }

    fn prepare(conn: rusqlite::Result<Connection>) -> Result<Connection> {
        let mut conn = conn?;
        conn.busy_timeout(Duration::from_secs(30))?;
        conn.set_prepared_statement_cache_capacity(64);
        // Losing it costs a rebuild, nothing else. No log beside it, so that its file is all of it.
        conn.execute_batch(
            "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;
             PRAGMA trusted_schema = OFF;",
        )?;
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let format: i64 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        match format {
            FORMAT => {}
            0 => {
                tx.execute_batch(SCHEMA)?;
                // Letters and digits of any script, without regard to case and accents.
                tx.execute_batch(&format!(
                    "CREATE VIRTUAL TABLE texts USING
                     fts5({}, tokenize = 'unicode61 remove_diacritics 2');",
                    FIELDS.join(", ")
                ))?;
                tx.execute(
                    "INSERT INTO state VALUES (1, 0, ?1)",
                    [Digest::from_bytes([0; 32]).hex()],
                )?;
                tx.pragma_update(None, "user_version", FORMAT)?;
            }
            other => {
                return Err(EvidenceError::Unreadable { what: format!("index format {other}") });
            }
        }
        tx.commit()?;
        // Hits of one search; of this connection alone.
        conn.execute_batch(
            "CREATE TEMP TABLE found (doc INTEGER PRIMARY KEY, execution_id TEXT NOT NULL,
             timestamp INTEGER NOT NULL, outcome TEXT NOT NULL, tool TEXT NOT NULL, risk TEXT);",
        )?;
        Ok(conn)
    }

    /// Takes in what was recorded since the last time.
    ///
    /// # Errors
    /// [`EvidenceError::Index`] when the index is not what this user's program wrote.
    pub(super) fn catch_up(&mut self, source: &Source<'_>) -> Result<()> {
        let Some(seal) = self.seal.clone() else { return self.take_in(source) };
        let _lock = seal.lock()?;
        if data_version(&self.conn)? != self.data_version || !self.path.exists() {
            if !seal.holds(&self.path) {
                return Err(EvidenceError::Index);
            }
            self.data_version = data_version(&self.conn)?;
        }
        let before = self.conn.total_changes();
        let taken_in = self.take_in(source);
        if self.conn.total_changes() != before {
            seal.set(&self.path)?;
        }
        taken_in
    }

    fn take_in(&mut self, source: &Source<'_>) -> Result<()> {
        while self.take_in_batch(source)? {}
        self.settle_open(source)
    }

    fn take_in_batch(&mut self, source: &Source<'_>) -> Result<bool> {
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (mut seq, digest): (i64, String) =
            tx.query_row("SELECT seq, digest FROM state", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        if seq > 0 && link_at(source, seq)?.as_deref() != Some(digest.as_str()) {
            // Not the evidence that was indexed: another database has taken its place.
            tx.execute_batch(
                "DELETE FROM docs; DELETE FROM texts; DELETE FROM doc_paths; DELETE FROM doc_codes;
                 UPDATE state SET seq = 0;",
            )?;
            seq = 0;
        }
        let head: i64 = source
            .conn
            .prepare_cached("SELECT coalesce(max(seq), 0) FROM ledger")?
            .query_row([], |row| row.get(0))?;
        if head == seq {
            return Ok(false);
        }
        let new: Vec<(i64, String)> = source
            .conn
            .prepare_cached(
                "SELECT seq, table_name FROM ledger
                 WHERE seq > ?1 AND seq <= ?2 AND table_name IN ('intents', 'executions')
                 ORDER BY seq LIMIT ?3",
            )?
            .query_map([seq, head, BATCH], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        for (seq, table) in &new {
            take_in_row(&tx, source, table, *seq)?;
        }
        let last = match new.last() {
            Some((last, ..)) if new.len() as i64 == BATCH => *last,
            _ => head,
        };
        let digest = link_at(source, last)?.unwrap_or_default();
        tx.execute("UPDATE state SET seq = ?1, digest = ?2", params![last, digest])?;
        tx.commit()?;
        Ok(last < head)
    }

    /// Says of each step that has no outcome whether its run is still alive.
    fn settle_open(&mut self, source: &Source<'_>) -> Result<()> {
        let open: Vec<(i64, String, String)> = self
            .conn
            .prepare_cached("SELECT id, execution_id, outcome FROM docs WHERE open = 1")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<_, _>>()?;
        for (doc, execution_id, was) in open {
            let Ok(id) = execution_id.parse::<Uuid>() else { continue };
            let Some(row) = queries::execution_row(source, id)? else { continue };
            // An outcome that has come meanwhile is taken in with its row the next time.
            if let Known::Running | Known::Interrupted = row.known
                && row.known.as_str() != was
            {
                self.conn.execute(
                    "UPDATE docs SET outcome = ?1 WHERE id = ?2",
                    (row.known.as_str(), doc),
                )?;
            }
        }
        Ok(())
    }
}

/// Changes when another connection has written.
fn data_version(conn: &Connection) -> Result<i64> {
    Ok(conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?)
}

fn link_at(source: &Source<'_>, seq: i64) -> Result<Option<String>> {
    Ok(source
        .conn
        .prepare_cached("SELECT digest FROM ledger WHERE seq = ?1")?
        .query_row([seq], |row| row.get(0))
        .optional()?)
}

/// Indexes one execution; or one intent, until its execution takes its place.
fn take_in_row(tx: &Transaction<'_>, source: &Source<'_>, table: &str, seq: i64) -> Result<()> {
    let (outcome, error) = match table {
        "intents" => ("'running'", "NULL, NULL"),
        _ => ("x.outcome", "x.error_message, x.error_code"),
    };
    let sql = format!(
        "SELECT x.id, x.run_id, r.plan_id, x.tool_name, x.risk_level, x.host, x.timestamp,
                x.arguments_json, {outcome}, {error}
         FROM {table} AS x JOIN runs AS r ON r.id = x.run_id WHERE x.row = ?1"
    );
    let mut statement = source.conn.prepare_cached(&sql)?;
    let mut rows = statement.query([seq])?;
    let Some(row) = rows.next()? else { return Ok(()) };
    let execution_id: String = row.get(0)?;
    let tool: String = row.get(3)?;

    let previous: Option<i64> = tx
        .prepare_cached("SELECT id FROM docs WHERE execution_id = ?1")?
        .query_row([&execution_id], |row| row.get(0))
        .optional()?;
    if let Some(doc) = previous {
        for sql in [
            "DELETE FROM docs WHERE id = ?1",
            "DELETE FROM texts WHERE rowid = ?1",
            "DELETE FROM doc_paths WHERE doc = ?1",
            "DELETE FROM doc_codes WHERE doc = ?1",
        ] {
            tx.prepare_cached(sql)?.execute([doc])?;
        }
    }
    tx.prepare_cached(
        "INSERT INTO docs (execution_id, run_id, plan_id, tool, outcome, risk, host, error_code,
                           timestamp, open)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        execution_id,
        row.get::<_, String>(1)?,
        row.get::<_, String>(2)?,
        tool,
        row.get::<_, String>(8)?,
        row.get::<_, Option<String>>(4)?,
        row.get::<_, Option<String>>(5)?,
        row.get::<_, Option<String>>(10)?,
        row.get::<_, i64>(6)?,
        table == "intents",
    ])?;
    let doc = tx.last_insert_rowid();

    let arguments: Value = serde_json::from_str(&row.get::<_, String>(7)?).unwrap_or_default();
    let mut texts: [String; FIELDS.len()] = Default::default();
    let mut set = |field: &str, text: String| {
        if let Some(place) = FIELDS.iter().position(|name| *name == field)
            && let Some(place) = texts.get_mut(place)
        {
            *place = searchable(&text);
        }
    };
    set("tool", tool);
    set("arguments", flat(&arguments));
    set("error", row.get::<_, Option<String>>(9)?.unwrap_or_default());
    for artifact in queries::artifacts(source, &execution_id)? {
        set(&artifact.artifact_type, text_of(source, &artifact)?);
    }
    tx.prepare_cached(&format!(
        "INSERT INTO texts (rowid, {}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        FIELDS.join(", ")
    ))?
    .execute(rusqlite::params_from_iter(
        [&doc as &dyn rusqlite::ToSql].into_iter().chain(texts.iter().map(|text| text as _)),
    ))?;
    link_targets(tx, source, doc, &execution_id)
}

/// The files and diagnostic codes that filters ask for.
fn link_targets(
    tx: &Transaction<'_>,
    source: &Source<'_>,
    doc: i64,
    execution_id: &str,
) -> Result<()> {
    let with = |row: &str, table: &str| {
        format!("{} WHERE x.id = ?1", queries::written_with(row, table, "x.row"))
    };
    for (select, insert) in [
        (
            format!(
                "SELECT g.target FROM executions AS x JOIN edges AS g ON {}
                        AND g.execution_id = x.id AND g.target_kind = 'file'
                 UNION SELECT f.path FROM executions AS x JOIN file_contents AS f ON {}
                        AND f.execution_id = x.id
                 UNION SELECT f.path FROM intents AS x JOIN file_contents AS f ON {}
                        AND f.execution_id = x.id",
                with("g.id", "executions"),
                with("f.id", "executions"),
                with("f.id", "intents"),
            ),
            "INSERT INTO doc_paths (doc, path) VALUES (?1, ?2)",
        ),
        (
            format!(
                "SELECT code FROM diagnostics WHERE execution_id = ?1 AND code IS NOT NULL
                 UNION SELECT g.target FROM executions AS x JOIN edges AS g ON {}
                        AND g.execution_id = x.id AND g.target_kind = 'diagnostic'",
                with("g.id", "executions"),
            ),
            "INSERT INTO doc_codes (doc, code) VALUES (?1, ?2)",
        ),
    ] {
        let mut statement = source.conn.prepare_cached(&select)?;
        let mut rows = statement.query([execution_id])?;
        while let Some(row) = rows.next()? {
            tx.prepare_cached(insert)?.execute((doc, row.get::<_, String>(0)?))?;
        }
    }
    Ok(())
}
