//! The database connection of queries.

use std::borrow::Cow;
use std::path::Path;

use rusqlite::{Connection, Params, Row};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::error::Result;
use super::rows::{find, list, word};
use super::vault::Vault;
use super::{EvidenceLocation, UserFolders, lock, migrations};
use crate::run::Fate;

/// The columns that queries use and that a later format has added, with that format.
const ADDED_COLUMNS: [(i64, &str); 7] = [
    (2, "f.before_mode"),
    (2, "f.after_mode"),
    (3, "x.walls_json"),
    (3, "left_running_json"),
    (4, "l.looks"),
    (4, "l.target"),
    (4, "e.feedback"),
];

/// The open database of a reader, with its key and its folder.
pub(super) struct Source<'a> {
    pub(super) conn: &'a Connection,
    pub(super) vault: Option<&'a Vault>,
    /// The format of the database. An older format has fewer columns.
    pub(super) format: i64,
    pub(super) dir: &'a Path,
    pub(super) user_folders: &'a UserFolders,
}

impl<'a> Source<'a> {
    /// A database that a store has opened.
    pub(super) fn of_newest(
        conn: &'a Connection,
        vault: &'a Vault,
        location: &'a EvidenceLocation,
    ) -> Self {
        let EvidenceLocation { evidence, user_folders } = location;
        let format = migrations::newest();
        Self { conn, vault: Some(vault), format, dir: evidence, user_folders }
    }
}

impl Source<'_> {
    /// What is known about the end of a run or loop, and the time of its end. `sql` selects both by the id.
    pub(super) fn fate<E: DeserializeOwned>(
        &self,
        id: Uuid,
        sql: &str,
    ) -> Result<(Fate<E>, Option<i64>)> {
        // The lock is checked first, so that a run that ends meanwhile is not reported as interrupted.
        let alive = lock::is_alive(self.dir, id);
        let ended = self.first(sql, [id.to_string()], |row| {
            Ok((Fate::Ended(word(row, 0)?), Some(row.get(1)?)))
        })?;
        let open = if alive { Fate::Active } else { Fate::Interrupted };
        Ok(ended.unwrap_or((open, None)))
    }

    /// The number of the last row; 0 if there is none.
    pub(super) fn length(&self) -> Result<i64> {
        let sql = "SELECT coalesce(max(seq), 0) FROM ledger";
        Ok(self.first(sql, [], |row| Ok(row.get(0)?))?.unwrap_or_default())
    }

    /// Every row that a query returns, converted by `read`.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        list(self.conn, &self.readable(sql), params, read)
    }

    /// The first row that a query returns, converted by `read`, if there is one.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        find(self.conn, &self.readable(sql), params, read)
    }

    /// The query, with null in place of columns that an older format does not have.
    fn readable<'s>(&self, sql: &'s str) -> Cow<'s, str> {
        let missing = ADDED_COLUMNS.iter().filter(|(format, _)| self.format < *format);
        missing.fold(Cow::Borrowed(sql), |sql, (_, column)| sql.replace(column, "NULL").into())
    }
}
