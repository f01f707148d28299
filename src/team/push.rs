//! Copies the verified records of this computer's evidence to the server.
//!
//! The server is asked what it has, and gets the rest in batches, each of which it checks and commits as a whole. So a push
//! that is killed leaves whole batches, and the next one goes on behind them.

use std::time::Duration;

use serde::Serialize;

use super::connection::Connection;
use super::error::Result;
use super::rows::Param;
use super::{Server, TeamError};
use crate::evidence::{ChainRecord, EvidenceLocation};
use crate::plan::Digest;

/// The maximum number of records in a batch, and of bytes of their texts after which no further one is added.
const BATCH_RECORDS: usize = 500;
const BATCH_BYTES: usize = 4 << 20;

/// How long the server may work on one batch.
const PATIENCE: Duration = Duration::from_secs(300);

/// What a push did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PushReport {
    /// Whether everything is there: nothing was changed on this computer.
    pub ok: bool,
    /// The evidence, by the name that its checkpoints have.
    pub origin: String,
    /// The server, without a password.
    pub server: String,
    /// The number of records that were sent now.
    pub pushed: u64,
    /// The number of records of this evidence on the server.
    pub total: u64,
    /// The first difference on this computer, behind which nothing was pushed; null if there is none.
    pub difference: Option<String>,
}

/// Verifies the evidence here, and pushes what the server does not have yet. `progress` gets what is done, of how much, and
/// whether that are records that were pushed, and not only verified.
///
/// # Errors
/// When the evidence cannot be read, the server cannot be used or refuses a record, or it has another history: then nothing
/// of the present batch is there.
pub fn push(
    location: &EvidenceLocation,
    server: &Server,
    progress: &mut dyn FnMut(u64, u64, bool),
) -> Result<PushReport> {
    let chain = location.verify_chain(&mut |done, all| progress(done, all, false))?;
    let mut reader = location.open()?;
    let mut connection = Connection::open(server, PATIENCE.into())?;
    let head = "SELECT sequence, hash FROM countersign.head_of($1::text)";
    let head = connection.first(head, &[Param::Text(Some(&chain.origin))])?;
    let there = head.as_ref().and_then(|row| row.int(0)).unwrap_or(0);
    let mut report = PushReport {
        ok: chain.difference.is_none(),
        origin: chain.origin,
        server: server.to_string(),
        pushed: 0,
        total: there.unsigned_abs(),
        difference: chain.difference,
    };
    if there > chain.last {
        if report.difference.is_some() {
            return Ok(report);
        }
        refuse_of_others(&mut connection, &report.origin)?;
        return Err(TeamError::AnotherHistory(format!(
            "it has {there} records of this evidence, and here are {}: later ones were removed, or an earlier state was put \
             back",
            chain.last
        )));
    }
    if let Some(row) = &head
        && reader.link(there)?.is_none_or(|link| row.bytes(1) != Some(link.as_bytes()))
    {
        refuse_of_others(&mut connection, &report.origin)?;
        return Err(TeamError::AnotherHistory(format!(
            "its record {there} of this evidence is not the one here"
        )));
    }
    let all = (chain.last - there).unsigned_abs();
    let mut batch = Batch { origin: &report.origin, records: Vec::new(), bytes: 0 };
    let mut done = 0;
    reader.chain_records::<TeamError>(there, chain.last, |record| {
        if batch.add(record) {
            done += batch.send(&mut connection)?;
            progress(done, all, true);
        }
        Ok(())
    })?;
    done += batch.send(&mut connection)?;
    (report.pushed, report.total) = (done, chain.last.unsigned_abs());
    Ok(report)
}

/// An error if the records there are those of other logins.
fn refuse_of_others(connection: &mut Connection, origin: &str) -> Result<()> {
    let sql = "SELECT countersign.is_of_others($1::text)";
    let of_others = connection.first(sql, &[Param::Text(Some(origin))])?;
    match of_others.is_some_and(|row| row.flag(0)) {
        true => Err(TeamError::OfOthers(origin.to_owned())),
        false => Ok(()),
    }
}

/// Records that are sent in one transaction.
struct Batch<'o> {
    origin: &'o str,
    records: Vec<ChainRecord>,
    bytes: usize,
}

impl Batch<'_> {
    /// Adds a record. Returns whether the batch is to be sent.
    fn add(&mut self, record: ChainRecord) -> bool {
        self.bytes += record.entry.as_ref().map_or(0, String::len);
        self.bytes += record.content.as_ref().map_or(0, |(_, text)| text.len());
        self.records.push(record);
        self.records.len() >= BATCH_RECORDS || self.bytes >= BATCH_BYTES
    }

    /// Sends the records, and forgets them. Returns how many were inserted: another program may push the same evidence at the
    /// same time.
    fn send(&mut self, connection: &mut Connection) -> Result<u64> {
        let Some(last) = self.records.last().map(|it| (it.seq, it.digest)) else { return Ok(0) };
        connection.run("BEGIN TRANSACTION READ WRITE", &[])?;
        let sent = self.insert(connection, last);
        let ended = connection.run(if sent.is_ok() { "COMMIT" } else { "ROLLBACK" }, &[]);
        let inserted = sent?;
        ended?;
        (self.bytes, self.records) = (0, Vec::new());
        Ok(inserted)
    }

    fn insert(&self, connection: &mut Connection, (seq, digest): (i64, Digest)) -> Result<u64> {
        let contents = || self.records.iter().filter_map(|it| it.content.as_ref());
        if contents().next().is_some() {
            let insert = "INSERT INTO countersign.contents (digest, text)
                          SELECT DISTINCT ON (digest) * FROM unnest($1::bytea[], $2::text[])
                              AS new (digest, text)
                          ON CONFLICT DO NOTHING";
            let digests = contents().map(|(digest, _)| &digest.as_bytes()[..]).collect();
            let texts = contents().map(|(_, text)| Some(text.as_str())).collect();
            connection.run(insert, &[Param::BytesOf(digests), Param::Texts(texts)])?;
        }
        let insert = "INSERT INTO countersign.ledger (origin, sequence, table_name, hash, entry)
                      SELECT $1::text, * FROM unnest($2::bigint[], $3::text[], $4::bytea[], $5::text[])
                      ON CONFLICT DO NOTHING";
        let records = || self.records.iter();
        let params = [
            Param::Text(Some(self.origin)),
            Param::Ints(records().map(|it| it.seq).collect()),
            Param::Texts(records().map(|it| Some(it.table.as_str())).collect()),
            Param::BytesOf(records().map(|it| &it.digest.as_bytes()[..]).collect()),
            Param::Texts(records().map(|it| it.entry.as_deref()).collect()),
        ];
        let inserted = connection.run(insert, &params)?;
        // A record that was there already may be another one.
        let at = "SELECT countersign.hash_at($1::text, $2::bigint)";
        let there = connection.first(at, &[Param::Text(Some(self.origin)), Param::Int(seq)])?;
        if there.as_ref().and_then(|row| row.bytes(0)) != Some(digest.as_bytes()) {
            let what = format!("its record {seq} of this evidence is not the one here");
            return Err(TeamError::AnotherHistory(what));
        }
        Ok(inserted)
    }
}
