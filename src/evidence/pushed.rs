//! Reads the records of the chain for a copy of them elsewhere (SPEC §14): only those that were verified, as they are stored.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, Statement};

use super::error::Result;
use super::rows::{digest, find, unreadable};
use super::{EvidenceError, EvidenceLocation, EvidenceReader, blobs, ledger, verify_telling};
use crate::plan::Digest;

/// The maximum size of the text of an artifact that is copied, in bytes. Of a larger one there is only its beginning, which
/// is in its record.
const MAX_CONTENT: i64 = 1 << 20;

/// A record of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainRecord {
    /// The number of the record and of its link.
    pub seq: i64,
    /// The table.
    pub table: String,
    /// The digest of its link.
    pub digest: Digest,
    /// The hashed text of the record; `None` if it was purged.
    pub entry: Option<String>,
    /// The redacted text of an artifact that is too large for its record, by its digest.
    pub content: Option<(Digest, String)>,
}

/// How far the chain was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedChain {
    /// The name of the evidence, as for a checkpoint.
    pub origin: String,
    /// The number of the last record before the first difference. 0 if it is not known where that is.
    pub last: i64,
    /// The first difference, if there is one.
    pub difference: Option<String>,
}

impl EvidenceLocation {
    /// Verifies the evidence, for [`EvidenceReader::chain_records`]. `progress` gets the number of verified rows and of all.
    ///
    /// # Errors
    /// When there is no evidence or it cannot be read. A change is not an error but a difference.
    pub fn verify_chain(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<VerifiedChain> {
        let mut reader = self.reader();
        let origin = match reader.origin() {
            // The difference is found below.
            Err(EvidenceError::Schema { .. }) => String::new(),
            origin => origin?,
        };
        let report = verify_telling(&self.evidence, self.user_folders.clone(), None, progress)?;
        let Some(difference) = report.first_bad else {
            let last = i64::try_from(report.rows).unwrap_or(i64::MAX);
            return Ok(VerifiedChain { origin, last, difference: None });
        };
        // A schema that differs may change what any row seems to be. The kept head tells that the chain is another one or was
        // cut, and not where.
        let is_head = report.kept.is_some_and(|kept| kept.difference.is_some());
        let last = match report.schema.is_empty() && !is_head {
            true => reader.last_certain(i64::try_from(report.rows).unwrap_or(0))?,
            false => 0,
        };
        Ok(VerifiedChain { origin, last, difference: Some(difference) })
    }
}

impl EvidenceReader {
    /// The last record up to this one that is there. The links of purged records before a difference may be part of a range
    /// whose digest was not reached. 0 if no record is behind `verified`, because then the difference is in no record.
    fn last_certain(&mut self, verified: i64) -> Result<i64> {
        self.query(|source| {
            if verified >= source.length()? {
                return Ok(0);
            }
            let mut last = verified;
            let mut records = Records::new(source.conn);
            while last > 0 && records.record(last)?.is_none_or(|record| record.entry.is_none()) {
                last -= 1;
            }
            Ok(last)
        })
    }

    /// The digest of a link.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn link(&mut self, seq: i64) -> Result<Option<Digest>> {
        self.query(|source| {
            source.first("SELECT digest FROM ledger WHERE seq = ?1", [seq], |row| digest(row, 0))
        })
    }

    /// Passes the records after `after` up to `last` to `each`, in the order of the chain. A content that is encrypted,
    /// because it has a secret, is never read.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs), and errors of `each`.
    pub fn chain_records<E: From<EvidenceError>>(
        &mut self,
        after: i64,
        last: i64,
        mut each: impl FnMut(ChainRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(source) = self.source()? else { return Ok(()) };
        let mut records = Records::new(source.conn);
        for seq in after + 1..=last {
            let record = records.record(seq)?;
            let missing = || unreadable(format!("link {seq} of the ledger"));
            each(record.ok_or_else(missing)?)?;
        }
        Ok(())
    }
}

/// Reads records by their number.
struct Records<'c> {
    conn: &'c Connection,
    readers: HashMap<String, Statement<'c>>,
}

impl<'c> Records<'c> {
    fn new(conn: &'c Connection) -> Self {
        Self { conn, readers: HashMap::new() }
    }

    /// The record with this number; `None` if there is no such link.
    fn record(&mut self, seq: i64) -> Result<Option<ChainRecord>> {
        let sql = "SELECT table_name, digest, entry FROM ledger WHERE seq = ?1";
        let link = find(self.conn, sql, [seq], |row| {
            Ok((row.get::<_, String>(0)?, digest(row, 1)?, row.get::<_, Option<String>>(2)?))
        })?;
        let Some((table, digest, stored)) = link else { return Ok(None) };
        if !self.readers.contains_key(&table) {
            let sql = format!("SELECT * FROM \"{table}\" WHERE rowid = ?1");
            self.readers.insert(table.clone(), self.conn.prepare(&sql)?);
        }
        let row = match self.readers.get_mut(&table) {
            Some(reader) => ledger::entry_of(reader, &table, seq)?,
            None => None,
        };
        let content = match table == "execution_artifacts" && row.is_some() {
            true => content(self.conn, seq)?,
            false => None,
        };
        Ok(Some(ChainRecord { seq, table, digest, entry: row.or(stored), content }))
    }
}

/// The text of the artifact in this row, if it is in a blob of text without secrets.
fn content(conn: &Connection, seq: i64) -> Result<Option<(Digest, String)>> {
    let sql = "SELECT a.blob FROM execution_artifacts AS a
               WHERE a.id = ?1 AND a.blob IS NOT NULL
                 AND json_extract(a.content_json, '$.encoding') IS NULL
                 AND (SELECT sum(b.bytes) FROM blobs AS b WHERE b.digest = a.blob) <= ?2";
    let mut statement = conn.prepare_cached(sql)?;
    let found =
        statement.query_row((seq, MAX_CONTENT), |row| row.get::<_, String>(0)).optional()?;
    let Some(digest) = found.and_then(|it| it.parse::<Digest>().ok()) else { return Ok(None) };
    // Without the key: what is encrypted has a secret and stays here.
    let bytes = match blobs::read(conn, None, &digest) {
        Err(EvidenceError::NotAvailable { .. }) => None,
        read => read?,
    };
    // PostgreSQL has no text with a NUL.
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(text.filter(|text| !text.contains('\0')).map(|text| (digest, text)))
}
