//! The search index: a file of its own, filled from the rows and rebuildable from them at any time
//! (SPEC §8). Nothing in it is evidence, so it may change and be thrown away.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::error::{EvidenceError, Result};
use super::index_seal::Seal;
use super::permissions;
use super::rows::{unreadable, value};
use super::vault::Vault;
use crate::plan::Digest;

const FILE_NAME: &str = "search_index.db";
/// Changes with [`SCHEMA`] and with how a text is made; another format is thrown away.
const FORMAT: i64 = 2;

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
    pub(super) seal: Option<Seal>,
    pub(super) path: PathBuf,
    /// As it was when the seal was compared: another number, and another process has written.
    pub(super) data_version: i64,
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

    /// Deletes the index of this folder; it can be rebuilt from the evidence.
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
        match value(&tx, "PRAGMA user_version", [])? {
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
                return Err(unreadable(format!("index format {other}")));
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
}

/// Changes when another connection has written.
pub(super) fn data_version(conn: &Connection) -> Result<i64> {
    value(conn, "PRAGMA data_version", [])
}
