//! Checks that no revocation is missing (SPEC §8, §9), because without it what it revoked would be granted again.
//!
//! A digest of all revocations is kept with the head of the chain, outside the folder of the evidence. Revocations are
//! few, so the check takes as long with millions of rows as with ten.

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::error::Result;
use super::heads::{KeptHeads, Reason};
use super::rows::list;
use super::source::Source;
use super::{classes, grants, ledger, remembered_walls, schema, trust};
use crate::plan::Digest;

/// The first revocations of a database, in the order in which they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptRevocations {
    /// Their number.
    count: i64,
    /// The digest of what they revoke.
    digest: Digest,
}

impl KeptRevocations {
    /// At most the first `count` revocations of this database.
    fn first(conn: &Connection, count: i64) -> Result<Self> {
        let classes = classes::REVOCATIONS;
        let sql = format!(
            "SELECT id, decision, note FROM decisions WHERE run_id IS NULL AND decision = ?1
             UNION ALL SELECT id, decision, note FROM decisions WHERE run_id IS NULL AND decision = ?2
             UNION ALL SELECT id, '{classes}', class_id FROM {classes}
             ORDER BY id LIMIT ?3"
        );
        let mut found = Self { count: 0, digest: ledger::GENESIS };
        list(conn, &sql, (trust::REVOKED, remembered_walls::REVOKED, count), |row| {
            let revoked: (i64, String, String) = row.try_into()?;
            found.count += 1;
            found.digest = ledger::link(&found.digest, serde_json::json!(revoked).to_string());
            Ok(())
        })?;
        Ok(found)
    }
}

/// Whether a revocation is missing or was changed. Where none are kept, or from an older program, every row that has a
/// link is looked for, which takes seconds with millions of rows.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn some_are_missing(source: &Source<'_>) -> Result<bool> {
    // Read before the database, which may grow meanwhile.
    let kept = kept_of(source)?;
    Ok(!are_complete(source, kept)?)
}

/// What is to be kept of the revocations; `None` if it is not known that they are complete. Those that were kept stay so
/// while one of them is missing.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn to_keep(source: &Source<'_>, reason: Reason) -> Result<Option<KeptRevocations>> {
    let kept = match reason {
        Reason::Grown => kept_of(source)?,
        Reason::Accepted => None,
    };
    if !are_complete(source, kept)? {
        return Ok(kept);
    }
    KeptRevocations::first(source.conn, i64::MAX).map(Some)
}

fn kept_of(source: &Source<'_>) -> Result<Option<KeptRevocations>> {
    let kept = KeptHeads::read(source.user_folders, source.vault);
    Ok(schema::id_of(source.conn)?.and_then(|database_id| kept.revocations(database_id)))
}

fn are_complete(source: &Source<'_>, kept: Option<KeptRevocations>) -> Result<bool> {
    match kept {
        Some(kept) => Ok(KeptRevocations::first(source.conn, kept.count)? == kept),
        None => Ok(!grants::has_lost_rows(source, "decisions")?
            && !grants::has_lost_rows(source, classes::REVOCATIONS)?),
    }
}
