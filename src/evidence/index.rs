//! The search index, in a file of its own (SPEC §8). It is filled from the rows and can be rebuilt from them at any
//! time. It is no evidence, so it may be changed and deleted.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::error::Result;
use super::index_seal::IndexSeal;
use super::rows::{unreadable, value};
use super::vault::Vault;
use super::{EvidenceError, permissions};
use crate::plan::Digest;

const FILE_NAME: &str = "search_index.db";
/// Must be increased when [`SCHEMA`] or the text of a field changes. An index of another format is replaced.
const FORMAT: i64 = 3;

/// The searchable texts of an execution, in the order in which they are searched for an excerpt.
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
    CREATE TABLE doc_paths (doc INTEGER NOT NULL, path TEXT NOT NULL, wrote INTEGER NOT NULL) STRICT;
    CREATE INDEX doc_paths_by_doc ON doc_paths (doc);
    CREATE TABLE doc_codes (doc INTEGER NOT NULL, code TEXT NOT NULL) STRICT;
    CREATE INDEX doc_codes_by_doc ON doc_codes (doc);";

/// The open index.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) conn: Connection,
    /// The seal of the file; `None` for an index in memory.
    pub(super) seal: Option<IndexSeal>,
    pub(super) path: PathBuf,
    /// The value of [`data_version`] when the seal was checked.
    pub(super) data_version: i64,
}

impl Index {
    /// Opens the index of an evidence folder. An index that cannot be used, or was not written by Countersign with this
    /// user's key, is replaced by an empty one. The index is in memory if the folder cannot be written, the lock is
    /// held for too long, or there is no key.
    pub(super) fn open(dir: &Path, vault: Option<&Arc<Vault>>) -> Result<Self> {
        let path = dir.join(FILE_NAME);
        let seal = vault.map(|vault| IndexSeal::new(dir, vault));
        if let Some(seal) = seal
            && let Ok(_lock) = seal.lock()
        {
            if !seal.matches(&path) {
                Self::discard(dir);
            }
            if let Ok(index) = Self::open_file(&path, &seal) {
                return Ok(index);
            }
            // Damaged, or of another format.
            Self::discard(dir);
            if let Ok(index) = Self::open_file(&path, &seal) {
                return Ok(index);
            }
        }
        let conn = Self::prepare(Connection::open_in_memory())?;
        Ok(Self { conn, seal: None, path, data_version: 0 })
    }

    fn open_file(path: &Path, seal: &IndexSeal) -> Result<Self> {
        if !path.exists() {
            permissions::create_new(path)
                .map_err(|source| EvidenceError::Folder { source, path: path.to_owned() })?;
        }
        permissions::restrict_file(path)?;
        let conn = Self::prepare(Connection::open(path))?;
        seal.update(path)?;
        let data_version = data_version(&conn)?;
        Ok(Self { conn, seal: Some(seal.clone()), path: path.to_owned(), data_version })
    }

    /// Whether the index of this folder was written by Countersign with this user's key, or does not exist. False if
    /// this cannot be checked.
    pub(super) fn is_sound(dir: &Path, vault: Option<&Arc<Vault>>) -> bool {
        let path = dir.join(FILE_NAME);
        if !path.exists() {
            return true;
        }
        let Some(seal) = vault.map(|vault| IndexSeal::new(dir, vault)) else { return false };
        // Without the lock, a file that is being written may differ from its seal.
        seal.lock().is_ok_and(|_lock| seal.matches(&path))
    }

    /// Deletes the index of this folder.
    pub(super) fn discard(dir: &Path) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let _ = std::fs::remove_file(dir.join(format!("{FILE_NAME}{suffix}")));
        }
        IndexSeal::discard(dir);
    }

    fn prepare(conn: rusqlite::Result<Connection>) -> Result<Connection> {
        let mut conn = conn?;
        conn.busy_timeout(Duration::from_secs(30))?;
        conn.set_prepared_statement_cache_capacity(64);
        // Durability is not needed, because a lost index is rebuilt. There is no write-ahead log, so that the digest of
        // the file covers the complete index.
        conn.execute_batch(
            "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;
             PRAGMA trusted_schema = OFF;",
        )?;
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        match value(&tx, "PRAGMA user_version", [])? {
            FORMAT => {}
            0 => {
                tx.execute_batch(SCHEMA)?;
                // Words consist of letters and digits of any script; case and accents are ignored.
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
                return Err(unreadable(format!("index format {other}")));
            }
        }
        tx.commit()?;
        // The hits of the latest search; visible to this connection only.
        conn.execute_batch(
            "CREATE TEMP TABLE found (doc INTEGER PRIMARY KEY, execution_id TEXT NOT NULL,
             timestamp INTEGER NOT NULL, outcome TEXT NOT NULL, tool TEXT NOT NULL, risk TEXT);",
        )?;
        Ok(conn)
    }
}

/// SQLite's counter that changes when another connection has written.
pub(super) fn data_version(conn: &Connection) -> Result<i64> {
    value(conn, "PRAGMA data_version", [])
}
