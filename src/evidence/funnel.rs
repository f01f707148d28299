//! The one way in: every row of every table is redacted, inserted and linked here, all in one
//! transaction (SPEC §8).

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{
    Connection, OptionalExtension as _, Transaction, TransactionBehavior, params_from_iter,
};
use serde_json::Value;
use uuid::Uuid;

use super::error::{EvidenceError, Result};
use super::ledger;
use super::redact::{KnownSecrets, Redactor};
use super::vault::Vault;
use crate::plan::Digest;

/// The value of one column.
pub(super) enum Cell {
    Null,
    Number(i64),
    /// A word of ours, an id or a digest: nothing from outside, so nothing to hide.
    Word(String),
    /// Anything else.
    Text(String),
    /// Hidden inside its texts and stored in canonical form.
    Json(Value),
    /// Compressed content.
    Bytes(Vec<u8>),
}

impl Cell {
    pub(super) fn word(text: impl Into<String>) -> Self {
        Self::Word(text.into())
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}
impl From<usize> for Cell {
    fn from(number: usize) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}
impl From<bool> for Cell {
    fn from(truth: bool) -> Self {
        Self::Number(i64::from(truth))
    }
}
impl From<Uuid> for Cell {
    fn from(id: Uuid) -> Self {
        Self::Word(id.to_string())
    }
}
impl From<Digest> for Cell {
    fn from(digest: Digest) -> Self {
        Self::Word(digest.hex())
    }
}
impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
impl From<Value> for Cell {
    fn from(value: Value) -> Self {
        Self::Json(value)
    }
}
impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(self.as_value()))
    }
}

impl Cell {
    fn as_value(&self) -> ValueRef<'_> {
        match self {
            // Json became text when the row passed the funnel.
            Self::Null | Self::Json(_) => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Word(text) | Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }
    }
}

/// One transaction.
pub(super) struct Funnel<'c> {
    tx: Transaction<'c>,
    redactor: &'c Redactor,
    pub(super) vault: &'c Vault,
    known: KnownSecrets,
    seq: i64,
    head: Digest,
}

impl<'c> Funnel<'c> {
    /// Begins; from now on no other process writes.
    pub(super) fn begin(
        conn: &'c mut Connection,
        redactor: &'c Redactor,
        vault: &'c Vault,
    ) -> Result<Self> {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Within the transaction, because another process may have written since.
        let last: Option<(i64, String)> = tx
            .prepare_cached("SELECT seq, digest FROM ledger ORDER BY seq DESC LIMIT 1")?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let (seq, head) = match last {
            None => (0, ledger::GENESIS),
            Some((seq, head)) => (
                seq,
                head.parse().map_err(|_| EvidenceError::Unreadable {
                    what: format!("the ledger's last digest, {head:?}"),
                })?,
            ),
        };
        Ok(Self { tx, redactor, vault, known: KnownSecrets::default(), seq, head })
    }

    /// Commits; durable when this returns.
    pub(super) fn commit(self) -> Result<()> {
        Ok(self.tx.commit()?)
    }

    /// The transaction, for questions.
    pub(super) fn tx(&self) -> &Transaction<'c> {
        &self.tx
    }

    /// Looks for secrets in exact bytes that belong to this record, so that no part of them appears in
    /// its rows.
    pub(super) fn learn(&mut self, exact: &[u8]) {
        self.redactor.learn(&mut self.known, &String::from_utf8_lossy(exact));
    }

    /// Whether exact bytes may only be stored encrypted.
    pub(super) fn is_secret(&self, exact: &[u8]) -> bool {
        self.redactor.finds_in_bytes(exact)
    }

    /// The text as it may be stored.
    pub(super) fn hidden(&self, text: &str) -> String {
        self.redactor.hide(self.vault, &self.known, text).into_owned()
    }

    /// The value as it may be stored, in canonical form.
    pub(super) fn hidden_json(&self, mut value: Value) -> (Value, String) {
        self.redactor.hide_in_json(self.vault, &self.known, &mut value);
        let text = ledger::canonical(&value);
        (value, text)
    }

    /// Inserts one row and its link.
    pub(super) fn insert<const N: usize>(
        &mut self,
        table: &'static str,
        row: [(&'static str, Cell); N],
    ) -> Result<()> {
        let row = row.map(|(name, cell)| {
            let cell = match cell {
                Cell::Text(text) => Cell::Text(self.hidden(&text)),
                Cell::Json(value) => Cell::Word(self.hidden_json(value).1),
                other => other,
            };
            (name, cell)
        });
        let names: Vec<_> = row.iter().map(|(name, _)| *name).collect();
        let marks = vec!["?"; N].join(", ");
        let sql = format!("INSERT INTO {table} ({}) VALUES ({marks})", names.join(", "));
        self.tx
            .prepare_cached(&sql)?
            .execute(params_from_iter(row.iter().map(|(_, cell)| cell)))?;

        let row_id = self.tx.last_insert_rowid();
        let key = if names.contains(&"id") { "row" } else { "id" };
        let columns = row.iter().map(|(name, cell)| (*name, cell.as_value()));
        let entry = ledger::entry(table, columns.chain([(key, ValueRef::Integer(row_id))]));
        self.seq += 1;
        self.head = ledger::link(&self.head, &entry);
        self.tx
            .prepare_cached(
                "INSERT INTO ledger (seq, table_name, row_id, digest, entry)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute((
                self.seq,
                table,
                row_id,
                self.head.hex(),
                (table == "blobs").then_some(entry),
            ))?;
        Ok(())
    }
}
