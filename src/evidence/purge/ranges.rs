//! The ranges of deleted rows, with the digests of their links.

use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

use crate::evidence::error::Result;
use crate::evidence::rows::list;
use crate::plan::Digest;

/// A range of rows without a gap, whose links are hashed one after the other.
pub(in crate::evidence) struct LinkRange {
    pub(in crate::evidence) first: i64,
    pub(in crate::evidence) last: i64,
    hash: Sha256,
}

impl LinkRange {
    /// The range of this link alone.
    pub(in crate::evidence) fn of(seq: i64, table: &str, digest: &str) -> Self {
        let mut range = Self { first: seq, last: seq, hash: Sha256::new() };
        range.push(seq, table, digest);
        range
    }

    /// Adds the next link.
    pub(in crate::evidence) fn push(&mut self, seq: i64, table: &str, digest: &str) {
        self.last = seq;
        self.hash.update(format!("{seq} {table} {digest}\n").as_bytes());
    }

    /// The digest of the links.
    pub(in crate::evidence) fn digest(self) -> Digest {
        Digest::from_bytes(self.hash.finalize().into())
    }
}

/// A range of purged rows, as a record says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgedRange {
    /// The number of the record that says it.
    pub id: i64,
    /// The first row.
    pub first: i64,
    /// The last row.
    pub last: i64,
    /// The digest of their links.
    pub links_digest: String,
}

/// The recorded ranges, for a verification that goes through the links in their order.
#[derive(Default)]
pub(in crate::evidence) struct PurgedRows {
    /// By their first row, in reverse order: the next one is the last.
    left: Vec<PurgedRange>,
    open: Option<LinkRange>,
    /// The number of purged rows so far.
    pub(in crate::evidence) rows: u64,
}

impl PurgedRows {
    /// Reads all ranges.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(in crate::evidence) fn read(conn: &Connection) -> Result<Self> {
        let sql =
            "SELECT id, first_row, last_row, links_digest FROM purged_rows ORDER BY first_row DESC";
        let left = list(conn, sql, [], |row| {
            let (id, first, last) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(PurgedRange { id, first, last, links_digest: row.get(3)? })
        })?;
        Ok(Self { left, ..Self::default() })
    }

    /// These ranges.
    pub(in crate::evidence) fn of(mut ranges: Vec<PurgedRange>) -> Self {
        ranges.sort_by_key(|range| std::cmp::Reverse(range.first));
        Self { left: ranges, ..Self::default() }
    }

    /// Whether a row was purged after it was written.
    pub(in crate::evidence) fn has(&mut self, seq: i64) -> bool {
        while self.left.last().is_some_and(|range| range.last < seq) {
            self.left.pop();
        }
        self.left.last().is_some_and(|range| range.first <= seq && seq < range.id)
    }

    /// Takes the link of a row that [`has`](Self::has) found. Returns what is wrong with the links of its range, if it is
    /// the last one.
    pub(in crate::evidence) fn take(
        &mut self,
        seq: i64,
        table: &str,
        digest: &str,
    ) -> Option<String> {
        self.rows += 1;
        match &mut self.open {
            Some(range) => range.push(seq, table, digest),
            None => self.open = Some(LinkRange::of(seq, table, digest)),
        }
        let recorded = self.left.last().filter(|range| range.last == seq)?;
        let (first, last) = (recorded.first, recorded.last);
        let is_same = self.open.take().is_some_and(|range| {
            range.first == first && range.digest().hex() == recorded.links_digest
        });
        (!is_same).then(|| {
            format!("the links of the purged rows {first} to {last} are not what was purged")
        })
    }

    /// The first range that ends beyond the chain, in which rows before another range would be skipped.
    pub(in crate::evidence) fn unfinished(&self) -> Option<String> {
        let open = self.open.as_ref()?;
        Some(format!("the purge of the rows from {} does not end with them", open.first))
    }
}
