//! Checks that no revocation is missing (SPEC §8, §9), because without it what it revoked would be granted again.
//!
//! A digest of all revocations is kept with the head of the chain, outside the folder of the evidence. Revocations are
//! few, so the check takes as long with millions of rows as with ten.

use super::error::Result;
use super::heads::{KeptHeads, Reason};
use super::kept_revocations::{CLASSES_REVOKED, KeptRevocations};
use super::proven::is_proven;
use super::rows::{list, value};
use super::source::Source;
use super::{migrations, schema};

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
    KeptRevocations::of(source.conn).map(Some)
}

fn kept_of(source: &Source<'_>) -> Result<Option<KeptRevocations>> {
    let kept = KeptHeads::read(source.user_folders, source.vault);
    Ok(schema::id_of(source.conn)?.and_then(|database_id| kept.revocations(database_id)))
}

fn are_complete(source: &Source<'_>, kept: Option<KeptRevocations>) -> Result<bool> {
    match kept {
        Some(kept) => kept.are_in(source.conn),
        None => {
            Ok(!has_lost_rows(source, "decisions")? && !has_lost_rows(source, CLASSES_REVOKED)?)
        }
    }
}

/// Whether a link of the ledger is missing, or a row of this table that has a link. A missing row may have revoked a
/// grant, unless this user purged it, which takes no grants and no revocations.
///
/// # Errors
/// When the database cannot be read.
fn has_lost_rows(source: &Source<'_>, table: &str) -> Result<bool> {
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
