//! Gives the space of purged records back to the system (SPEC §14).
//!
//! SQLite writes all rows into a temporary database in the evidence folder, and from there into the log, in one
//! transaction: an interruption leaves the database as it was. Other processes can read meanwhile, but not write.

use std::path::Path;

use rusqlite::Connection;

use super::error::Result;
use super::file_system::free_space;
use super::rows::value;
use super::schema::database_path;
use super::{EvidenceError, EvidenceStore, fault, lock};
use crate::run::Compacted;

/// The free space that is kept besides what is needed, in bytes.
const RESERVE: u64 = 16 << 20;

impl EvidenceStore {
    /// Makes the database as small as its rows allow. Every row keeps its number.
    ///
    /// # Errors
    /// [`EvidenceError::NoSpace`] if the disk has too little free space for the work, [`EvidenceError::UnderWay`] while a run
    /// or a loop is under way, which could not record meanwhile, and any error of the database; then the database is as
    /// it was.
    pub fn compact(&mut self) -> Result<Compacted> {
        let dir = self.folder().to_owned();
        if lock::is_any_alive(&dir) {
            return Err(EvidenceError::UnderWay { path: dir });
        }
        let before_bytes = database_bytes(&dir);
        let needed = needed_bytes(&self.conn)?;
        if let Some(free) = free_space(&dir)
            && free < needed
        {
            return Err(EvidenceError::NoSpace { needed, free, path: dir });
        }
        self.with_temporary_files(|store| {
            fault::point_within(&dir, "compacting", &mut store.conn)?;
            Ok(store.conn.execute_batch("VACUUM")?)
        })?;
        fault::point(&dir, "compacted");
        // While another process reads, the files become smaller only later.
        self.conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);")?;
        Ok(Compacted { before_bytes, after_bytes: database_bytes(&dir), needed_bytes: needed })
    }

    /// Does work whose temporary tables may be too large for memory.
    ///
    /// # Errors
    /// Any error of the work, or of the database.
    pub(super) fn with_temporary_files<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        // They have texts of rows, so they must not leave the folder.
        let folder = self.folder().to_string_lossy().replace('\'', "''");
        self.conn.execute_batch(&format!(
            "PRAGMA temp_store = FILE; PRAGMA temp_store_directory = '{folder}';"
        ))?;
        let done = work(self);
        self.conn.execute_batch("PRAGMA temp_store_directory = ''; PRAGMA temp_store = MEMORY;")?;
        done
    }
}

/// The space that [`EvidenceStore::compact`] needs meanwhile, in bytes: a copy of all rows, and once more in the log.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn needed_bytes(conn: &Connection) -> Result<u64> {
    let number = |sql| Ok::<_, EvidenceError>(value::<i64>(conn, sql, [])?.unsigned_abs());
    let pages = number("PRAGMA page_count")?.saturating_sub(number("PRAGMA freelist_count")?);
    Ok(2 * pages * number("PRAGMA page_size")? + RESERVE)
}

/// The size of the database with its log, in bytes.
pub(super) fn database_bytes(dir: &Path) -> u64 {
    let database = database_path(dir);
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
    size(&database) + size(&database.with_extension("db-wal"))
}
