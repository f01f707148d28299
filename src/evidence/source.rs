//! The database connection of queries.

use std::borrow::Cow;
use std::path::Path;

use rusqlite::{Connection, Params, Row};
use uuid::Uuid;

use super::error::Result;
use super::lock;
use super::migrations::FORMAT_WITH_WALLS;
use super::rows::{find, list};
use super::vault::Vault;

/// The open database of a reader, with its key and its folder.
pub(super) struct Source<'a> {
    pub(super) conn: &'a Connection,
    pub(super) vault: Option<&'a Vault>,
    /// The format of the database. An older format has fewer columns.
    pub(super) format: i64,
    pub(super) dir: &'a Path,
}

impl Source<'_> {
    /// Whether a process holds the lock of this run or loop.
    pub(super) fn is_alive(&self, id: Uuid) -> bool {
        lock::is_alive(self.dir, id)
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
        if self.format < FORMAT_WITH_WALLS {
            Cow::Owned(sql.replace("x.walls_json", "NULL").replace("left_running_json", "NULL"))
        } else {
            Cow::Borrowed(sql)
        }
    }
}
