//! Checks whether a database continues the chain whose head is kept outside its folder (SPEC §8).

use std::path::Path;

use rusqlite::Connection;

use super::chain::Chain;
use super::error::Result;
use super::heads::{KeptHead, KeptHeads};
use super::rows::{find, value};
use super::{migrations, schema};
use crate::run::HeadReport;

/// Compares a database and its format with the kept heads. `conn` is `None` if the database does not exist or is empty. A
/// backup that a person was restoring is no difference, although its restore was interrupted: the next writer records it.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn check_head(
    conn: Option<(&Connection, i64)>,
    dir: &Path,
    kept: &KeptHeads,
) -> Result<HeadReport> {
    let report = difference_from(conn, dir, kept)?;
    if let (Some(_), Some((conn, format)), Some(restore)) =
        (&report.difference, conn, kept.restore_in(dir))
    {
        let has_id = format >= migrations::FORMAT_WITH_ID;
        let id = if has_id { schema::id_of(conn)? } else { None };
        if restore.is_done_in(conn, id)? {
            let note = "a restore was interrupted after it had replaced the evidence by the backup; the next command \
                        that records finishes it";
            return Ok(HeadReport { difference: None, note: Some(note.to_owned()), ..report });
        }
    }
    Ok(report)
}

/// As [`check_head`], also for a backup.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn difference_from(
    conn: Option<(&Connection, i64)>,
    dir: &Path,
    kept: &KeptHeads,
) -> Result<HeadReport> {
    let (database_id, rows) = match conn {
        Some((conn, format)) => {
            let has_id = format >= migrations::FORMAT_WITH_ID;
            (if has_id { schema::id_of(conn)? } else { None }, Chain::of(conn)?.rows)
        }
        None => (None, 0),
    };
    let report = |kept: Option<&KeptHead>, difference: Option<String>| HeadReport {
        kept_head: kept.map(|kept| kept.head),
        kept_rows: kept.map(|kept| kept.rows.unsigned_abs()),
        difference,
        note: None,
    };
    if let Some(why) = &kept.unusable {
        return Ok(report(
            None,
            Some(format!("the kept head, the digest of the last record, cannot be used ({why})")),
        ));
    }
    if let Some(other) = kept.latest_other_in(dir, database_id) {
        let records = other.rows;
        let what = if rows == 0 {
            format!(
                "the database that was in this folder, with {records} records, is gone or empty"
            )
        } else {
            format!(
                "another database is in the place of the one that was in this folder, with \
                 {records} records"
            )
        };
        return Ok(report(Some(other), Some(what)));
    }
    let (Some((conn, _)), Some(id)) = (conn, database_id) else {
        let has_no_id = conn.is_some_and(|(_, format)| format >= migrations::FORMAT_WITH_ID);
        return Ok(report(None, has_no_id.then(|| "the database has lost its id".to_owned())));
    };
    let mut latest = None;
    for kept in kept.of(id) {
        let link = "SELECT digest FROM ledger WHERE seq = ?1";
        if find(conn, link, [kept.rows], |row| Ok(row.get(0)?))? != Some(kept.head.hex()) {
            let cut = match rows < kept.rows {
                true => format!("it has {rows} records now and had {} before", kept.rows),
                false => format!("record {} is another one than before", kept.rows),
            };
            let what = format!("the end of the database was removed or replaced: {cut}");
            return Ok(report(Some(kept), Some(what)));
        }
        latest = latest.filter(|latest: &&KeptHead| latest.rows > kept.rows).or(Some(kept));
    }
    // A head is kept before any row after the one with the id is written. Without a kept head, a database with such
    // rows comes from elsewhere.
    let id_row: Option<i64> = value(conn, "SELECT max(row) FROM database_ids", [])?;
    let is_fresh = rows == id_row.unwrap_or(rows);
    if latest.is_none() && !is_fresh {
        let what = format!(
            "this computer keeps no head, the digest of the last record, of this database with {rows} \
             records: it comes from another computer, or the folder with the kept heads was lost"
        );
        return Ok(report(None, Some(what)));
    }
    // A missing copy is reported only if the other one contains a head of this database.
    let note = latest.and_then(|_| kept.note.clone());
    Ok(HeadReport { note, ..report(latest, None) })
}
