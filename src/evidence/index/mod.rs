//! The search index, in a file of its own (SPEC §8). It is filled from the rows and can be rebuilt from them at any
//! time. It is no evidence, so it may be changed and deleted.
//!
//! One FTS5 table has the words of every execution, and its facts as words (`facts.rs`), but no text: excerpts come
//! from the rows. The number of a document follows the time of its execution (`place.rs`), so that FTS5, which walks
//! its lists backwards, gives the newest hits first, without sorting or copying the others.

mod batch;
mod facts;
mod fill;
mod numbers;
mod place;
mod seal;
pub(super) mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior};

use super::error::{LOCK_TIMEOUT, Result};
use super::rows::{unreadable, value};
use super::vault::Vault;
use super::{EvidenceError, permissions};
use crate::plan::Digest;
use crate::run::{Listener, StopSignal};

pub(super) use facts::{Fact, FileFact, MARK, any};
pub(super) use numbers::numbers;
pub(super) use place::ids_between;
use seal::IndexSeal;

const FILE_NAME: &str = "search_index.db";
/// Must be increased when [`SCHEMA`] or the words of an execution change. An index of another format is replaced.
const FORMAT: i64 = 6;

/// The searchable texts of an execution, in the order in which they are searched for an excerpt.
pub const FIELDS: [&str; 10] = [
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

/// `state.purge` is the row of the last purge that the index knows, 0 for none: a later one may have taken what it has.
/// `docs` has what is counted of each execution, as numbers of `words`, 0 for none; `codes` and `paths` have the numbers of
/// any number of them (`numbers.rs`).
/// `open` is 1 for a step that is running, 2 for an interrupted one, and 0 for an execution.
const SCHEMA: &str = "
    CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL,
                        digest TEXT NOT NULL, docs INTEGER NOT NULL,
                        purge INTEGER NOT NULL) STRICT;
    CREATE TABLE docs (id INTEGER PRIMARY KEY, row INTEGER NOT NULL, timestamp INTEGER NOT NULL,
                       open INTEGER NOT NULL, outcome INTEGER NOT NULL, tool INTEGER NOT NULL,
                       risk INTEGER NOT NULL, host INTEGER NOT NULL, plan INTEGER NOT NULL,
                       user INTEGER NOT NULL, codes BLOB NOT NULL, paths BLOB NOT NULL) STRICT;
    CREATE INDEX docs_open ON docs (row) WHERE open > 0;
    CREATE TABLE words (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL,
                        UNIQUE (kind, text)) STRICT;
    CREATE VIRTUAL TABLE texts USING
        fts5(text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2');
    INSERT INTO texts (texts, rank) VALUES ('pgsz', 16000), ('hashsize', 16000000);
    INSERT INTO texts (texts, rank) VALUES ('automerge', 8), ('crisismerge', 24), ('usermerge', 8);";

/// The size of a page of the file, in bytes; a page of FTS5 fits into one.
const PAGE_BYTES: u32 = 16_384;
/// The memory for pages of the file that are kept after they were read, in KiB. Changed pages stay in memory beyond it
/// until the commit, because writing them earlier would lock the index against searches.
const CACHE_KIB: u32 = 16_384;

/// How long a call may fill the index.
#[derive(Clone, Copy)]
pub(super) enum Patience<'a> {
    /// Until everything is indexed. Waits for other processes that write the index.
    Whole,
    /// At most about this long, until the signal. Does not wait long for other processes.
    AtMost(Duration, &'a StopSignal),
}

impl Patience<'_> {
    fn is_over(self, started: Instant) -> bool {
        match self {
            Self::Whole => false,
            Self::AtMost(limit, stop) => started.elapsed() >= limit || stop.is_set(),
        }
    }
}

/// The open index.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) conn: Connection,
    /// The seal of the file; `None` for an index in memory.
    seal: Option<IndexSeal>,
    path: PathBuf,
    /// The number of the file when it was opened.
    number: Option<u64>,
}

impl Index {
    /// Opens the index of an evidence folder. An index that cannot be used, or was not written by Countersign with this
    /// user's key, is replaced by an empty one. The index is in memory if the folder cannot be written, the lock is
    /// held for too long, or there is no key.
    pub(super) fn open(dir: &Path, vault: Option<&Arc<Vault>>) -> Result<Self> {
        let path = dir.join(FILE_NAME);
        let seal = vault.map(|vault| IndexSeal::new(dir, vault));
        if let Some(seal) = seal
            && let Ok(_lock) = seal.lock(LOCK_TIMEOUT)
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
        Ok(Self { conn, seal: None, path, number: None })
    }

    fn open_file(path: &Path, seal: &IndexSeal) -> Result<Self> {
        if !path.exists() {
            permissions::create_new(path)
                .map_err(|source| EvidenceError::Folder { source, path: path.to_owned() })?;
        }
        permissions::restrict_file(path)?;
        let conn = Self::prepare(Connection::open(path))?;
        seal.update(path)?;
        let number = seal::number(path);
        Ok(Self { conn, seal: Some(seal.clone()), path: path.to_owned(), number })
    }

    /// Whether the open file is still the index of the folder. Another process may have replaced it.
    pub(super) fn is_current(&self) -> bool {
        self.seal.is_none() || seal::number(&self.path) == self.number
    }

    /// Reads the index until the signal, also within one long statement.
    ///
    /// # Errors
    /// [`EvidenceError::Stopped`] after the signal, and the errors of `read`.
    pub(super) fn until_stopped<T>(
        &self,
        stop: &StopSignal,
        read: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T> {
        let handle = self.conn.get_interrupt_handle();
        let listener: Arc<Listener> = Arc::new(move || handle.interrupt());
        stop.listen(&listener);
        // SQLite forgets an interruption when no statement is active; so one is active all the time.
        let mut statement = self.conn.prepare_cached("SELECT 1 FROM state")?;
        let mut active = statement.query([])?;
        active.next()?;
        if stop.is_set() {
            return Err(EvidenceError::Stopped);
        }
        read(&self.conn)
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
        seal.lock(LOCK_TIMEOUT).is_ok_and(|_lock| seal.matches(&path))
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
        // SQLite would otherwise plan a statement anew for each new value.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        // Durability is not needed, because a lost index is rebuilt: one that a crash left half written differs from its
        // seal. The journal is in memory, so that nothing beside the file belongs to it.
        conn.execute_batch(&format!(
            "PRAGMA page_size = {PAGE_BYTES}; PRAGMA cache_size = -{CACHE_KIB}; PRAGMA cache_spill = OFF;
             PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;
             PRAGMA trusted_schema = OFF;",
        ))?;
        if value::<i64>(&conn, "PRAGMA user_version", [])? != FORMAT {
            Self::create(&mut conn)?;
        }
        // In the memory of this connection, because it only names what is in `texts`.
        conn.execute_batch(
            "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, texts, instance)",
        )?;
        Ok(conn)
    }

    fn create(conn: &mut Connection) -> Result<()> {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        match value(&tx, "PRAGMA user_version", [])? {
            FORMAT => {}
            0 => {
                // Words consist of letters and digits of any script; case and accents are ignored.
                tx.execute_batch(SCHEMA)?;
                let none = Digest::from_bytes([0; 32]).hex();
                tx.execute("INSERT INTO state VALUES (1, 0, ?1, 0, 0)", [none])?;
                tx.pragma_update(None, "user_version", FORMAT)?;
            }
            other => {
                return Err(unreadable(format!("index format {other}")));
            }
        }
        tx.commit()?;
        Ok(())
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
