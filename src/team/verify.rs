//! Computes the chains on the server anew, from its rows.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::conditions::whole_origin;
use super::connection::Connection;
use super::error::Result;
use super::rows::Param;
use super::{Server, TeamError};
use crate::evidence::{CopiedChain, PurgedRange};
use crate::plan::Digest;

/// How long the server may say nothing.
const PATIENCE: Duration = Duration::from_secs(120);
/// After how many rows the progress is told.
const TELL_EVERY: u64 = 4_096;

/// What the verification of one chain found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OriginReport {
    /// Whether no record was changed, removed or added.
    pub ok: bool,
    /// The evidence that it was pushed from.
    pub origin: String,
    /// The number of records that were verified.
    pub rows: u64,
    /// How many of them had been purged when they were pushed, or were purged there since.
    pub purged: u64,
    /// The digest of the last link that was verified.
    pub head: Digest,
    /// The first difference; null if there is none.
    pub first_bad: Option<String>,
}

/// Verifies the chain of each origin on the server, or of this one: the whole name, or the id in it. `progress` gets the number of verified rows of an origin and of all its
/// rows, many times a second.
///
/// # Errors
/// When the server cannot be used. A change is not an error but a difference in the report.
pub fn verify(
    server: &Server,
    origin: Option<&str>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<OriginReport>> {
    let mut connection = Connection::open(server, PATIENCE.into())?;
    // One snapshot, so that what is pushed meanwhile is no difference.
    connection.run("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", &[])?;
    let mut origins = Vec::new();
    // What the login entered and never began is an origin without rows.
    let sql = "SELECT l.origin, count(*), max(l.sequence) FROM countersign.ledger AS l
               WHERE l.origin = $1::text OR $1::text IS NULL GROUP BY 1 ORDER BY 1";
    let wanted = origin.map(whole_origin);
    connection.rows::<TeamError>(sql, &[Param::Text(wanted.as_deref())], |row| {
        origins.push((row.owned(0), row.int(1).unwrap_or_default().unsigned_abs()));
        Ok(())
    })?;
    let mut reports = Vec::new();
    for (origin, rows) in origins {
        reports.push(verify_origin(&mut connection, origin, rows, progress)?);
    }
    Ok(reports)
}

fn verify_origin(
    connection: &mut Connection,
    origin: String,
    all: u64,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<OriginReport> {
    let mut ranges = Vec::new();
    let sql = "SELECT l.entry FROM countersign.ledger AS l
               WHERE l.origin = $1::text AND l.table_name = 'purged_rows' ORDER BY l.sequence";
    connection.rows::<TeamError>(sql, &[Param::Text(Some(&origin))], |row| {
        ranges.extend(row.text(0).and_then(range));
        Ok(())
    })?;
    let mut chain = CopiedChain::new(ranges);
    let mut first_bad = None;
    let sql = "SELECT l.sequence, l.table_name, l.hash, l.entry FROM countersign.ledger AS l
               WHERE l.origin = $1::text ORDER BY l.sequence";
    let read = connection.rows(sql, &[Param::Text(Some(&origin))], |row| {
        let (seq, table) = (row.int(0).unwrap_or_default(), row.owned(1));
        let hash = row.bytes(2).and_then(|it| <[u8; 32]>::try_from(it).ok());
        let digest = Digest::from_bytes(hash.unwrap_or_default());
        match chain.push(seq, &table, &digest, row.text(3)) {
            Some(difference) => Err(Stopped::Difference(difference)),
            None => {
                if chain.rows().is_multiple_of(TELL_EVERY) {
                    progress(chain.rows(), all);
                }
                Ok(())
            }
        }
    });
    match read {
        Ok(_) => {}
        Err(Stopped::Difference(difference)) => first_bad = Some(difference),
        Err(Stopped::Failed(error)) => return Err(error),
    }
    let first_bad = first_bad.or_else(|| chain.unfinished());
    Ok(OriginReport {
        ok: first_bad.is_none(),
        origin,
        rows: chain.rows(),
        purged: chain.purged(),
        head: chain.head(),
        first_bad,
    })
}

/// Why a chain is not read to its end.
enum Stopped {
    Difference(String),
    Failed(TeamError),
}

impl From<TeamError> for Stopped {
    fn from(error: TeamError) -> Self {
        Self::Failed(error)
    }
}

/// The range of purged rows in this record.
fn range(entry: &str) -> Option<PurgedRange> {
    let record: Value = serde_json::from_str(entry).ok()?;
    let columns = record.get("columns")?;
    let number = |name: &str| columns.get(name)?.as_i64();
    Some(PurgedRange {
        id: number("id")?,
        first: number("first_row")?,
        last: number("last_row")?,
        links_digest: columns.get("links_digest")?.as_str()?.to_owned(),
    })
}
