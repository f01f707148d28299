//! Purges records by a rule, and keeps the chain (SPEC §14).
//!
//! The rows that say what a run did are deleted; those that say that it happened, when, by whom and how it ended remain
//! (`runs`, `run_ends`, `plans`, `authorizations`). A bounded loop and its end are rows with the goal and a message, so they
//! are deleted, too, and written anew without these texts, as are the plans of its attempts; the attempts (`attempts`)
//! remain. Of contents, those go that no remaining row names. The ledger keeps
//! the link of each deleted row. A row of `purged_rows`, which is chained like any other, names the numbers of these rows
//! and has a digest of their links, so that none of them can be changed later; a verification then takes a stored link in
//! place of the missing row. So rows of all formats can be purged, and a row that nobody purged cannot be missing.
//!
//! Before they go, the rows are compared with their links, so that a purge does not hide that one was changed.

mod forged;
mod loops;
pub(super) mod ranges;
mod record;
mod select;

pub(super) use forged::forged_purge;
pub(super) use select::stored_bytes;

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::Connection;
use select::Selector;
use uuid::Uuid;

use super::append::Appender;
use super::error::Result;
use super::index::Index;
use super::migrations::newest;
use super::restore::remove_leftovers;
use super::rows::list;
use super::{EvidenceError, EvidenceReader, EvidenceStore, fault, lock};
use crate::plan::Digest;
use crate::run::{PurgePreview, PurgeReport, PurgeRule};

/// The folder of the plans that the window makes of runs, in the evidence folder.
const FOLLOW_UP_PLANS: &str = "continuations";
/// The maximum number of rows that are purged while a run is under way, which waits meanwhile and ends if that takes too
/// long.
const MAX_BESIDE_A_RUN: u64 = 200_000;
/// The length of an id as text.
const ID_LENGTH: usize = 36;

impl EvidenceReader {
    /// What a purge by this rule would take now. Nothing is changed.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn purge_preview(&mut self, rule: &PurgeRule, now_ms: i64) -> Result<PurgePreview> {
        self.query(|source| {
            // One snapshot, so that the counts agree.
            let tx = source.conn.unchecked_transaction()?;
            let (format, dir) = (source.format, source.dir);
            Selector { conn: &tx, format, dir, rule, now_ms }.select()
        })
    }
}

impl EvidenceStore {
    /// Deletes the records that a rule names, and records that and why. All or nothing. The file does not become smaller
    /// before [`compact`](Self::compact). Copies of the database from before migrations are deleted after the commit.
    ///
    /// Runs under way are kept, and so is the plan of an approval that can still be used.
    ///
    /// # Errors
    /// [`EvidenceError::Changed`] if one of the rows was changed after it was written, [`EvidenceError::UnderWay`] if a run
    /// is under way that would have to wait too long, and any error of the database; then nothing was purged.
    pub fn purge(&mut self, rule: &PurgeRule, reason: &str, now_ms: i64) -> Result<PurgeReport> {
        // Deleted pages are overwritten, so that the bytes do not remain in the file.
        self.conn.pragma_update(None, "secure_delete", true)?;
        // No row that remains refers to one that goes. To check that again for each row would read whole tables, because
        // not every reference has an index.
        self.conn.pragma_update(None, "foreign_keys", false)?;
        let dir = self.folder().to_owned();
        let mut report = PurgeReport::default();
        let rows = |appender: &mut Appender<'_>| {
            let selector =
                Selector { conn: appender.tx(), format: newest(), dir: &dir, rule, now_ms };
            report.taken = selector.select()?;
            if report.taken.rows > MAX_BESIDE_A_RUN && lock::is_any_alive(&dir) {
                return Err(EvidenceError::UnderWay { path: dir.clone() });
            }
            let deletes_backups = rule.with_old_backups && !report.taken.old_backups.is_empty();
            if !report.taken.is_empty() || deletes_backups {
                let purge_id = Uuid::new_v4();
                fault::point(&dir, "selected");
                record::record(appender, purge_id, (rule, reason), &report.taken, now_ms)?;
                fault::point(&dir, "deleted");
                report.purge_id = Some(purge_id);
                // Again after the commit, because another process may fill it meanwhile.
                Index::discard(&dir);
            }
            Ok(())
        };
        let purged = self.with_temporary_files(|store| store.write_and_keep(rows));
        self.conn.pragma_update(None, "foreign_keys", true)?;
        purged?;
        if report.purge_id.is_some() {
            fault::point(&dir, "committed");
            Index::discard(&dir);
            remove_leftovers(&dir);
            if !rule.takes_contents_only() {
                remove_follow_up_plans(&self.conn, &dir)?;
            }
            self.conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);")?;
            if rule.with_old_backups {
                delete_old_backups(&dir, &mut report);
            }
        }
        Ok(report)
    }

    /// As [`purge`](Self::purge), of one content. It is stored again when it is recorded again.
    ///
    /// # Errors
    /// As for [`purge`](Self::purge).
    pub fn purge_content(
        &mut self,
        digest: &Digest,
        reason: &str,
        now_ms: i64,
    ) -> Result<PurgeReport> {
        let rule = PurgeRule { content: Some(*digest), ..PurgeRule::default() };
        self.purge(&rule, reason, now_ms)
    }
}

/// Deletes the copies that migrations made of the database. The purge is recorded by then, so that what cannot be deleted is
/// no error but said in the report.
fn delete_old_backups(dir: &Path, report: &mut PurgeReport) {
    for (name, bytes) in &report.taken.old_backups {
        match std::fs::remove_file(dir.join(name)) {
            Ok(()) => {
                report.deleted_backups.insert(name.clone(), *bytes);
            }
            Err(error) => {
                report.kept_backups.insert(name.clone(), error.to_string());
            }
        }
        fault::point(dir, "backup deleted");
    }
}

/// Deletes the plans that were made of the purged runs and steps, which have their texts. Their names begin with the id.
fn remove_follow_up_plans(conn: &Connection, dir: &Path) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(dir.join(FOLLOW_UP_PLANS)) else { return Ok(()) };
    let sql = "SELECT id FROM temp.purge_runs UNION SELECT id FROM temp.purge_steps
               UNION SELECT id FROM temp.purge_loops";
    let purged: BTreeSet<String> =
        list(conn, sql, [], |row| Ok(row.get(0)?))?.into_iter().collect();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.get(..ID_LENGTH).is_some_and(|id| purged.contains(id)) {
            // It is made anew whenever it is needed, so what cannot be deleted is not reported.
            let _ = std::fs::remove_file(entry.path());
        }
    }
    Ok(())
}
