//! Rows with a digest that only the user's key makes.

use rusqlite::Row;
use uuid::Uuid;

use super::error::Result;
use super::ledger;
use super::vault::Vault;

/// The column with the digest.
const DIGEST: &str = "grant_digest";

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
