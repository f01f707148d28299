//! The one way in: every row of every table is redacted, inserted and linked here, all in one
//! transaction (SPEC §8).

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{
    Connection, OptionalExtension as _, Transaction, TransactionBehavior, params_from_iter,
};
use serde_json::Value;
use uuid::Uuid;

use super::error::{EvidenceError, Result};
use super::intake::{TakenContent, TakenStream};
use super::ledger;
use super::redact::{KnownSecrets, Redactor};
use super::vault::Vault;
use super::window::Window;
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

    /// The same of an output that was taken in as it came.
    pub(super) fn learn_from(&mut self, output: &TakenStream) {
        match &output.content {
            TakenContent::Small(bytes) => self.learn(bytes),
            TakenContent::Large(large) => self.known.add_all(&large.sight.known),
        }
    }

    /// Whether any secret of this record is known.
    pub(super) fn knows_secrets(&self) -> bool {
        !self.known.is_empty()
    }

    /// What can be judged of this text, as it may be stored.
    pub(super) fn hidden_stretch(&self, window: &mut Window, is_last: bool) -> String {
        window.take(self.redactor, &self.known, is_last).hidden(self.vault)
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
    pub(super) fn hidden_json(&self, value: Value) -> String {
        self.redactor.hide_in_json(self.vault, &self.known, value)
    }

    /// Inserts one row and its link. The row gets the link's number: so a row and its link find each
    /// other without an index, and all rows stand in the order in which they were written.
    pub(super) fn insert<const N: usize>(
        &mut self,
        table: &'static str,
        row: [(&'static str, Cell); N],
    ) -> Result<()> {
        let row = row.map(|(name, cell)| {
            let cell = match cell {
                Cell::Text(text) => Cell::Text(self.hidden(&text)),
                Cell::Json(value) => Cell::Word(self.hidden_json(value)),
                other => other,
            };
            (name, cell)
        });
        self.seq += 1;
        let key = if row.iter().any(|(name, _)| *name == "id") { "row" } else { "id" };
        let number = [(key, ValueRef::Integer(self.seq))];
        let columns =
            number.into_iter().chain(row.iter().map(|(name, cell)| (*name, cell.as_value())));
        let mut sql = String::with_capacity(512);
        sql.extend(["INSERT INTO ", table, " (", key]);
        for (name, _) in &row {
            sql.push(',');
            sql.push_str(name);
        }
        sql.push_str(") VALUES (?");
        sql.push_str(&",?".repeat(N));
        sql.push(')');
        self.tx.prepare_cached(&sql)?.execute(params_from_iter(
            columns.clone().map(|(_, value)| ToSqlOutput::Borrowed(value)),
        ))?;

        let entry = ledger::entry(table, columns);
        self.head = ledger::link(&self.head, &entry);
        self.tx
            .prepare_cached(
                "INSERT INTO ledger (seq, table_name, digest, entry) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute((self.seq, table, self.head.hex(), (table == "blobs").then_some(entry)))?;
        Ok(())
    }
}
