//! Checks the keyed digests of rows that grant something (SPEC §8). A program that can write the database, but does not
//! have the user's key, can add rows but no valid grants.

use super::error::Result;
use super::proven::is_proven;
use super::rows::list;
use super::source::Source;
use super::{migrations, revocations, schema};

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
