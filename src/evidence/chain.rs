//! Inserts a row with its link (SPEC §8): exactly one of each, or nothing is committed.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, params_from_iter};

use super::error::Result;
use super::rows::{find, has_row, unreadable};
use super::{EvidenceError, ledger};
use crate::plan::Digest;

/// The end of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chain {
    /// The number of the last link, which is the number of rows.
    pub(super) rows: i64,
    /// The digest of the last link.
    pub(super) head: Digest,
}

impl Chain {
    /// The end of the chain of this database.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn of(conn: &Connection) -> Result<Self> {
        let last = "SELECT seq, digest FROM ledger ORDER BY seq DESC LIMIT 1";
        let Some((rows, head)) = find::<(i64, String)>(conn, last, [], |row| Ok(row.try_into()?))?
        else {
            return Ok(Self { rows: 0, head: ledger::GENESIS });
        };
        let invalid = |_| unreadable(format!("the ledger's last digest, {head:?}"));
        Ok(Self { rows, head: head.parse().map_err(invalid)? })
    }

    /// The number of the next row and of its link.
    pub(super) fn next_number(&self) -> i64 {
        self.rows + 1
    }

    /// The name of the column with the row's number: `row` if the table has an id of its own, otherwise `id`.
    pub(super) fn key(columns: &[(&'static str, ValueRef<'_>)]) -> &'static str {
        if columns.iter().any(|(name, _)| *name == "id") { "row" } else { "id" }
    }

    /// Inserts one row and its link within the caller's transaction. The row has the number of its link, so that
    /// both are found without an index, and the rows of all tables are numbered in the order of writing.
    ///
    /// # Errors
    /// [`EvidenceError::NotOneRow`] if anything but this row was written, and any error of the database.
    pub(super) fn append(
        &mut self,
        conn: &Connection,
        table: &'static str,
        columns: &[(&'static str, ValueRef<'_>)],
    ) -> Result<()> {
        let number = self.next_number();
        let key = Self::key(columns);
        let all =
            || std::iter::once((key, ValueRef::Integer(number))).chain(columns.iter().copied());
        let names: Vec<_> = all().map(|(name, _)| name).collect();
        let places = vec!["?"; names.len()].join(",");
        let sql = format!("INSERT INTO {table} ({}) VALUES ({places})", names.join(","));
        let values = params_from_iter(all().map(|(_, value)| ToSqlOutput::Borrowed(value)));
        insert_one(conn, table, key, number, |conn| {
            Ok(conn.prepare_cached(&sql)?.execute(values)?)
        })?;

        let entry = ledger::entry(table, all());
        let head = ledger::link(&self.head, &entry);
        insert_one(conn, "ledger", "seq", number, |conn| {
            Ok(conn
                .prepare_cached("INSERT INTO ledger (seq, table_name, digest) VALUES (?1, ?2, ?3)")?
                .execute((number, table, head.hex()))?)
        })?;
        *self = Self { rows: number, head };
        Ok(())
    }
}

/// Runs an insert, and fails unless it wrote exactly this row. A trigger may ignore the row or write others.
fn insert_one(
    conn: &Connection,
    table: &'static str,
    key: &str,
    number: i64,
    insert: impl FnOnce(&Connection) -> Result<usize>,
) -> Result<()> {
    let before = conn.total_changes();
    let inserted = insert(conn)?;
    // `total_changes` includes rows that triggers wrote; the statement's own count does not.
    let written = conn.total_changes() - before;
    let exists = has_row(conn, table, key, number)?;
    if inserted == 1 && written == 1 && exists {
        return Ok(());
    }
    Err(EvidenceError::NotOneRow { table, inserted, written, exists })
}
