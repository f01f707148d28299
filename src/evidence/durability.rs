//! When a commit is on the disk (SPEC §8). Every commit survives the end of the process, because it is in the write-ahead
//! log when it returns. A power cut takes what the log has not flushed, so most commits flush it: each costs as much as a
//! small write of a disk. The outcome of a step that succeeded is flushed with the next commit instead: the intent of the
//! next step, or the end of the run. Before anything else that takes time, [`Durability::flush`] flushes it alone.

use std::fs::File;
use std::path::Path;

use rusqlite::Connection;

use super::error::Result;
use super::rows::value;
use super::schema;

/// When a transaction must be on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Flushed {
    /// When its commit returns.
    #[default]
    Now,
    /// With the next commit or [`Durability::flush`]: the outcome of a step that may have changed something.
    Soon,
    /// With any later flush: the outcome of a step that only reads. Without it nothing but the reading is unrecorded.
    Later,
}

/// What of a connection's commits is on the disk.
#[derive(Debug, Default)]
pub(super) struct Durability {
    /// What SQLite does at the end of the next commit.
    at_commit: Flushed,
    /// Whether an outcome that is due soon is not on the disk yet.
    is_due: bool,
    /// Whether every commit flushes, because there is no log.
    has_no_log: bool,
}

impl Durability {
    /// That of a database with or without a log.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn of(conn: &Connection) -> Result<Self> {
        let mode: String = value(conn, "PRAGMA journal_mode", [])?;
        Ok(Self { has_no_log: mode != "wal", ..Self::default() })
    }

    /// Prepares the connection for a commit that must be on the disk then.
    pub(super) fn prepare(&mut self, conn: &Connection, flushed: Flushed) -> Result<()> {
        if self.has_no_log {
            return Ok(());
        }
        if (self.at_commit == Flushed::Now) != (flushed == Flushed::Now) {
            let mode = if flushed == Flushed::Now { "FULL" } else { "NORMAL" };
            conn.pragma_update(None, "synchronous", mode)?;
        }
        self.at_commit = flushed;
        Ok(())
    }

    /// Notes that the prepared commit has returned.
    pub(super) fn committed(&mut self) {
        match self.at_commit {
            Flushed::Now => self.is_due = false,
            Flushed::Soon => self.is_due = true,
            Flushed::Later => {}
        }
    }

    /// Flushes an outcome that is due.
    ///
    /// # Errors
    /// When the log in `dir` cannot be opened or flushed.
    pub(super) fn flush(&mut self, dir: &Path) -> std::io::Result<()> {
        if self.is_due {
            let mut log = schema::database_path(dir).into_os_string();
            log.push("-wal");
            // SQLite locks other files than the log, so closing it again ends no lock.
            File::options().read(true).write(true).open(log)?.sync_data()?;
            self.is_due = false;
        }
        Ok(())
    }
}
