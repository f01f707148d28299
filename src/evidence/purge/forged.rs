//! Purges that this program did not make (SPEC §8).

use rusqlite::Connection;

use crate::evidence::error::Result;
use crate::evidence::migrations::FORMAT_WITH_PURGES;
use crate::evidence::proven::is_proven;
use crate::evidence::rows::list;
use crate::evidence::schema;
use crate::evidence::vault::Vault;

/// What is wrong with the first recorded range of deleted rows that has no valid digest with this user's key: another
/// program recorded it. Ranges from before an acceptance of the database count, because another user or computer may have
/// purged them.
///
/// # Errors
/// When the database cannot be read.
pub(in crate::evidence) fn forged_purge(
    conn: &Connection,
    format: i64,
    vault: &Vault,
) -> Result<Option<String>> {
    if format < FORMAT_WITH_PURGES {
        return Ok(None);
    }
    let Some(database_id) = schema::id_of(conn)? else { return Ok(None) };
    let sql = "SELECT * FROM purged_rows
               WHERE id > (SELECT coalesce(max(id), 0) FROM head_acceptances) ORDER BY id";
    let forged = list(conn, sql, [], |row| {
        let number: i64 = row.get("id")?;
        Ok((!is_proven("purged_rows", row, vault, database_id)?).then_some(number))
    })?;
    Ok(forged.into_iter().flatten().next().map(|number| {
        format!("row {number} of purged_rows was not written with this user's key: another program purged")
    }))
}
