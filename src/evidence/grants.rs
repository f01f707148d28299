//! Checks the keyed digests of rows that grant something (SPEC §8). A program that can write the database, but does not
//! have the user's key, can add rows but no valid grants.

use rusqlite::Row;
use uuid::Uuid;

use super::error::Result;
use super::rows::{list, value};
use super::source::Source;
use super::vault::Vault;
use super::{ledger, migrations, revocations, schema};

/// The column with the digest.
const DIGEST: &str = "grant_digest";

/// The decisions outside of runs that grant or revoke one kind of thing.
pub(super) struct GrantDecisions {
    /// The rows, in the order in which they were written.
    pub(super) rows: Vec<GrantDecision>,
    /// Whether a revocation is missing, perhaps of one of the grants. False without this check if no row is proven.
    pub(super) some_are_missing: bool,
}

/// One decision that grants or revokes something.
pub(super) struct GrantDecision {
    pub(super) decision: String,
    pub(super) note: String,
    pub(super) request_json: Option<String>,
    /// Whether the row has a valid keyed digest of this user.
    pub(super) is_proven: bool,
}

/// The decisions whose column `decision` has one of these two values. Without a key, or before [`FORMAT_WITH_ID`], none
/// is proven.
///
/// [`FORMAT_WITH_ID`]: migrations::FORMAT_WITH_ID
///
/// # Errors
/// When the database cannot be read.
pub(super) fn decisions(source: &Source<'_>, kinds: [&str; 2]) -> Result<GrantDecisions> {
    let Source { conn, format, vault, .. } = *source;
    let vault_and_id = match vault {
        Some(vault) if format >= migrations::FORMAT_WITH_ID => {
            schema::id_of(conn)?.map(|database_id| (vault, database_id))
        }
        _ => None,
    };
    // For both at once, SQLite would read all decisions without a run, of which each approval of a plan is one.
    let sql = "SELECT * FROM decisions WHERE run_id IS NULL AND decision = ?1
               UNION ALL SELECT * FROM decisions WHERE run_id IS NULL AND decision = ?2
               ORDER BY id";
    let rows = list(conn, sql, kinds, |row| {
        let is_proven = match vault_and_id {
            Some((vault, database_id)) => is_proven("decisions", row, vault, database_id)?,
            None => false,
        };
        Ok(GrantDecision {
            decision: row.get("decision")?,
            note: row.get("note")?,
            request_json: row.get("request_json")?,
            is_proven,
        })
    })?;
    let some_are_missing =
        rows.iter().any(|row| row.is_proven) && revocations::some_are_missing(source)?;
    Ok(GrantDecisions { rows, some_are_missing })
}

/// Whether a row has a valid keyed digest. The row must have all columns of its table.
///
/// # Errors
/// When the row cannot be read.
pub(super) fn is_proven(
    table: &str,
    row: &Row<'_>,
    vault: &Vault,
    database_id: Uuid,
) -> Result<bool> {
    let mut columns = Vec::new();
    let mut digest = None;
    for (index, name) in row.as_ref().column_names().enumerate() {
        if name == DIGEST {
            digest = row.get::<_, Option<String>>(index)?;
        } else {
            columns.push((name, row.get_ref(index)?));
        }
    }
    let Some(digest) = digest else { return Ok(false) };
    Ok(vault.is_grant_digest(database_id, &ledger::entry(table, columns), &digest))
}

/// Whether a link of the ledger is missing, or a row of this table that has a link. A missing row may have revoked a
/// grant, unless this user purged it, which takes no grants and no revocations.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn has_lost_rows(source: &Source<'_>, table: &str) -> Result<bool> {
    let Source { conn, format, vault, .. } = *source;
    let has_gap = "SELECT count(*) <> coalesce(max(seq), 0) FROM ledger";
    if value(conn, has_gap, [])? {
        return Ok(true);
    }
    let sql = format!(
        "SELECT l.seq FROM ledger AS l WHERE l.table_name = ?1
         AND NOT EXISTS (SELECT 1 FROM {table} AS t WHERE t.rowid = l.seq) ORDER BY l.seq"
    );
    let missing: Vec<i64> = list(conn, &sql, [table], |row| Ok(row.get(0)?))?;
    if missing.is_empty() {
        return Ok(false);
    }
    if table != "decisions" || format < migrations::FORMAT_WITH_PURGES {
        return Ok(true);
    }
    let (Some(vault), Some(database_id)) = (vault, schema::id_of(conn)?) else { return Ok(true) };
    let mut purged = Vec::new();
    list(conn, "SELECT * FROM purged_rows ORDER BY first_row", [], |row| {
        if is_proven("purged_rows", row, vault, database_id)? {
            purged.push((row.get::<_, i64>("first_row")?, row.get::<_, i64>("last_row")?));
        }
        Ok(())
    })?;
    Ok(missing.into_iter().any(|row| {
        let before = purged.partition_point(|(first, _)| *first <= row);
        before.checked_sub(1).and_then(|index| purged.get(index)).is_none_or(|range| range.1 < row)
    }))
}
