//! Rows that grant something count only with a keyed digest (SPEC §8): who can write to the database, but does not
//! have the user's key, can make a record and no grant.

use rusqlite::{Connection, Row};
use uuid::Uuid;

use super::error::Result;
use super::ledger;
use super::vault::Vault;

/// The column with the digest.
const DIGEST: &str = "grant_digest";

/// Whether a row, read with all its columns, carries the keyed digest of what is in it.
///
/// # Errors
/// A row that cannot be read.
pub(super) fn is_proven(
    table: &str,
    names: &[String],
    row: &Row<'_>,
    vault: &Vault,
    database_id: Uuid,
) -> Result<bool> {
    let mut columns = Vec::with_capacity(names.len());
    let mut digest = None;
    for (place, name) in names.iter().enumerate() {
        if name == DIGEST {
            digest = row.get::<_, Option<String>>(place)?;
        } else {
            columns.push((name.as_str(), row.get_ref(place)?));
        }
    }
    let Some(digest) = digest else { return Ok(false) };
    Ok(vault.is_grant(database_id, &ledger::entry(table, columns), &digest))
}

/// Whether the ledger has a link without a row for this table: what is missing may have taken a grant back.
///
/// # Errors
/// A database that cannot be read.
pub(super) fn has_lost_rows(conn: &Connection, table: &str) -> Result<bool> {
    let sql = format!(
        "SELECT (SELECT count(*) <> coalesce(max(seq), 0) FROM ledger)
             OR EXISTS (SELECT 1 FROM ledger AS l WHERE l.table_name = ?1
                        AND NOT EXISTS (SELECT 1 FROM {table} AS t WHERE t.rowid = l.seq))"
    );
    Ok(conn.prepare_cached(&sql)?.query_row([table], |row| row.get(0))?)
}
