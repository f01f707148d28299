//! Verifies a copy of a chain, record by record, as [`verify`](super::verify) does with the rows of a database. Pure.

use super::ledger;
use super::migrations::PURGEABLE;
use super::purge::ranges::{PurgedRange, PurgedRows};
use crate::plan::Digest;

/// A copy of a chain as far as it was verified.
pub struct CopiedChain {
    rows: u64,
    purged: u64,
    head: Digest,
    ranges: PurgedRows,
}

/// The predecessor of the first link.
pub const fn genesis() -> Digest {
    ledger::GENESIS
}

/// The link of a record after the link `previous`.
pub fn chain_link(previous: &Digest, entry: &[u8]) -> Digest {
    ledger::link(previous, entry)
}

impl CopiedChain {
    /// A chain of which nothing was verified. `ranges` are all that its records say, in the order of their rows.
    pub fn new(ranges: Vec<PurgedRange>) -> Self {
        Self { rows: 0, purged: 0, head: ledger::GENESIS, ranges: PurgedRows::of(ranges) }
    }

    /// Verifies the next record; `entry` is its text, if it is there. Returns what is wrong with it.
    ///
    /// Unlike in a database, a record that was purged may be there: it was copied before.
    pub fn push(
        &mut self,
        seq: i64,
        table: &str,
        digest: &Digest,
        entry: Option<&str>,
    ) -> Option<String> {
        let expected = i64::try_from(self.rows).unwrap_or(i64::MAX).saturating_add(1);
        if seq != expected {
            return Some(format!("record {expected} is missing"));
        }
        let in_range = self.ranges.has(seq) && PURGEABLE.contains(&table);
        match entry {
            Some(entry) => {
                let end = format!(",\"table\":\"{table}\"}}");
                if ledger::link(&self.head, entry) != *digest || !entry.ends_with(&end) {
                    return Some(format!("record {seq} of {table} is not what was written"));
                }
            }
            None if !in_range => return Some(format!("record {seq} of {table} is missing")),
            None => self.purged += 1,
        }
        if in_range && let Some(difference) = self.ranges.take(seq, table, &digest.hex()) {
            return Some(difference);
        }
        self.head = *digest;
        self.rows += 1;
        None
    }

    /// What is wrong with the end of the chain.
    pub fn unfinished(&self) -> Option<String> {
        self.ranges.unfinished()
    }

    /// The number of verified records.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of verified records that are not there, because they were purged.
    pub fn purged(&self) -> u64 {
        self.purged
    }

    /// The digest of the last verified link.
    pub fn head(&self) -> Digest {
        self.head
    }
}
