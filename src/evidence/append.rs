//! Redacts, inserts and links the rows of a transaction (SPEC §8). Every row is written here, except the row with the
//! database's id, which `schema.rs` writes.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use serde_json::Value;
use uuid::Uuid;

use super::capture::{CapturedContent, CapturedStream};
use super::chain::Chain;
use super::chunks::Chunks;
#[cfg(any(test, feature = "inspection"))]
use super::error::EvidenceError;
use super::error::Result;
use super::ledger;
use super::redact::{self, KnownSecrets};
use super::vault::Vault;
use crate::plan::Digest;

/// The value of one column.
#[derive(Default)]
pub(super) enum Cell {
    #[default]
    Null,
    Number(i64),
    /// Text that is not redacted: a fixed word, an id, a digest, or text that is redacted already.
    Word(String),
    /// Any other text. It is redacted.
    Text(String),
    /// A value whose strings are redacted; stored in canonical form.
    Json(Value),
    /// Compressed content.
    Bytes(Vec<u8>),
    /// The keyed digest of the rest of the row, which makes the row a grant.
    Grant,
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
    fn from(flag: bool) -> Self {
        Self::Number(i64::from(flag))
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
            // `insert` converts JSON to text first. The digest of a grant is computed while its column is null.
            Self::Null | Self::Json(_) | Self::Grant => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Word(text) | Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }
    }
}

/// A transaction that appends rows.
pub(super) struct Appender<'c> {
    tx: Transaction<'c>,
    /// The name of the user, from the environment.
    pub(super) user: Option<&'c str>,
    pub(super) vault: &'c Vault,
    known: KnownSecrets,
    chain: Chain,
    database_id: Uuid,
    /// For tests: the table whose inserts fail, or `ledger` for every table. A trigger cannot do this, because the
    /// schema check would find the trigger first.
    #[cfg(any(test, feature = "inspection"))]
    pub(super) failing_table: Option<String>,
}

impl<'c> Appender<'c> {
    /// Begins an immediate transaction, so that no other process writes until it ends.
    pub(super) fn begin(
        conn: &'c mut Connection,
        user: Option<&'c str>,
        vault: &'c Vault,
        database_id: Uuid,
        known: KnownSecrets,
    ) -> Result<Self> {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Read within the transaction, because another process may have appended rows since.
        let chain = Chain::of(&tx)?;
        Ok(Self {
            tx,
            user,
            vault,
            known,
            chain,
            database_id,
            #[cfg(any(test, feature = "inspection"))]
            failing_table: None,
        })
    }

    /// Commits. Returns the end of the chain, and the secrets that are also redacted in
    /// later records of the run.
    pub(super) fn commit(self) -> Result<(Chain, KnownSecrets)> {
        self.tx.commit()?;
        Ok((self.chain, self.known.for_later_records()))
    }

    /// Gives up what was inserted. Returns the secrets that were found so far.
    pub(super) fn roll_back(self) -> Result<KnownSecrets> {
        self.tx.rollback()?;
        Ok(self.known)
    }

    /// The transaction, for queries.
    pub(super) fn tx(&self) -> &Transaction<'c> {
        &self.tx
    }

    /// Finds the secrets in exact bytes of this record, so that they are redacted wherever they occur in its rows.
    pub(super) fn learn_secrets(&mut self, exact: &[u8]) {
        self.known.learn(&String::from_utf8_lossy(exact));
    }

    /// Begins with another run, whose records have their own secrets.
    pub(super) fn forget_secrets(&mut self) {
        self.known = KnownSecrets::default();
    }

    /// As [`Self::learn_secrets`], for captured output.
    pub(super) fn learn_secrets_of(&mut self, output: &CapturedStream) {
        match &output.content {
            CapturedContent::Small(bytes) => self.learn_secrets(bytes),
            CapturedContent::Large(large) => self.known.add_all(&large.scan.known),
        }
    }

    /// Whether any secret of this or an earlier record is known.
    pub(super) fn has_known_secrets(&self) -> bool {
        !self.known.is_empty()
    }

    /// The next chunk of this text, redacted; with `is_last`, all of its rest.
    pub(super) fn next_redacted_chunk(&self, chunks: &mut Chunks, is_last: bool) -> String {
        chunks.take(&self.known, is_last).redacted(self.vault)
    }

    /// Whether exact bytes contain a secret, so that they may be stored only in encrypted form.
    pub(super) fn contains_secret(&self, exact: &[u8]) -> bool {
        self.known.occur_in(&String::from_utf8_lossy(exact)) || redact::bytes_contain_secret(exact)
    }

    /// The redacted text.
    pub(super) fn redacted(&self, text: &str) -> String {
        self.known.redact(self.vault, text).into_owned()
    }

    /// The redacted value in canonical form.
    pub(super) fn redacted_json(&self, value: Value) -> String {
        self.known.redact_json(self.vault, value)
    }

    /// Redacts a row and inserts it with its link. A [`Cell::Grant`] becomes the keyed digest of the rest of the row.
    pub(super) fn insert(
        &mut self,
        table: &'static str,
        row: impl IntoIterator<Item = (&'static str, Cell)>,
    ) -> Result<()> {
        #[cfg(any(test, feature = "inspection"))]
        if self.failing_table.as_deref().is_some_and(|name| name == table || name == "ledger") {
            return Err(EvidenceError::Injected { table });
        }
        let redacted = |cell| match cell {
            Cell::Text(text) => Cell::Text(self.redacted(&text)),
            Cell::Json(value) => Cell::Word(self.redacted_json(value)),
            other => other,
        };
        let mut row: Vec<_> = row.into_iter().map(|(name, cell)| (name, redacted(cell))).collect();
        if let Some(grant_index) = row.iter().position(|(_, cell)| matches!(cell, Cell::Grant)) {
            let columns = columns(&row);
            let number = (Chain::key(&columns), ValueRef::Integer(self.chain.next_number()));
            // The digest's own column is still null, and null columns are not part of an entry.
            let entry = ledger::entry(table, columns.into_iter().chain([number]));
            let digest = self.vault.grant_digest(self.database_id, &entry);
            if let Some((_, cell)) = row.get_mut(grant_index) {
                *cell = Cell::Word(digest);
            }
        }
        self.chain.append(&self.tx, table, &columns(&row))
    }
}

fn columns<'r>(row: &'r [(&'static str, Cell)]) -> Vec<(&'static str, ValueRef<'r>)> {
    row.iter().map(|(name, cell)| (*name, cell.as_value())).collect()
}
