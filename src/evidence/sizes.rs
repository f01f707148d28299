//! How large and how old the evidence is (SPEC §14).

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::error::Result;
use super::file_system::{free_space, network_file_system};
use super::migrations::{FORMAT_WITH_PURGES, purgeable};
use super::old_backups::old_backups;
use super::purge::stored_bytes;
use super::rows::{list, value};
use super::source::Source;
use super::{EvidenceReader, schema};
use crate::run::{EvidenceSizes, SizeOfPart};

impl EvidenceReader {
    /// The sizes of the evidence: its files, what is in it, and what could be given back.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn sizes(&mut self) -> Result<EvidenceSizes> {
        let dir = self.location.evidence.clone();
        let mut sizes = self.query(in_database)?;
        let database = schema::database_path(&dir);
        sizes.database_bytes = file_size(&database);
        sizes.log_bytes = file_size(&database.with_extension("db-wal"));
        sizes.index_bytes = file_size(&dir.join("search_index.db"));
        sizes.backups = old_backups(&dir);
        sizes.network_file_system = network_file_system(&dir);
        sizes.free_bytes = free_space(&dir);
        Ok(sizes)
    }

    /// The sizes of the runs by month of their start in `zone`, oldest first, and by plan, largest first. What two runs
    /// recorded at the same time counts for the one that began last.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn sizes_of_runs(&mut self, zone: &TimeZone) -> Result<(Vec<SizeOfPart>, Vec<SizeOfPart>)> {
        self.query(|source| of_runs(source, zone))
    }
}

fn file_size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

fn in_database(source: &Source<'_>) -> Result<EvidenceSizes> {
    let conn = source.conn;
    let number =
        |sql: &str| Ok::<_, super::EvidenceError>(value::<i64>(conn, sql, [])?.unsigned_abs());
    let (oldest_run_ms, newest_run_ms): (Option<i64>, Option<i64>) =
        conn.query_row("SELECT min(timestamp), max(timestamp) FROM runs", [], |row| {
            row.try_into()
        })?;
    let has_purges = source.format >= FORMAT_WITH_PURGES;
    let purged = |sql| if has_purges { number(sql) } else { Ok(0) };
    Ok(EvidenceSizes {
        format: source.format.unsigned_abs(),
        reclaimable_bytes: number("PRAGMA freelist_count")? * number("PRAGMA page_size")?,
        rows: number("SELECT count(*) FROM ledger")?,
        runs: number("SELECT count(*) FROM runs")?,
        executions: number("SELECT count(*) FROM executions")?,
        contents: number("SELECT count(*) FROM blobs WHERE part = 0")?,
        contents_bytes: number("SELECT coalesce(sum(bytes), 0) FROM blobs")?,
        contents_stored_bytes: number("SELECT coalesce(sum(length(data)), 0) FROM blobs")?,
        purges: purged("SELECT count(*) FROM record_purges")?,
        purged_rows: purged("SELECT coalesce(sum(row_count), 0) FROM record_purges")?,
        oldest_run_ms,
        newest_run_ms,
        ..EvidenceSizes::default()
    })
}

/// The runs with what was recorded from the start of each until the start of the next one.
fn of_runs(source: &Source<'_>, zone: &TimeZone) -> Result<(Vec<SizeOfPart>, Vec<SizeOfPart>)> {
    type Run = (i64, i64, String, i64);
    let runs: Vec<Run> = source.all(
        "SELECT r.row, r.timestamp, r.plan_id,
                (SELECT count(*) FROM executions AS x WHERE x.run_id = r.id)
         FROM runs AS r ORDER BY r.row",
        [],
        |row| Ok(row.try_into()?),
    )?;
    let mut bytes = vec![0_u64; runs.len()];
    for table in purgeable(source.format) {
        let sql =
            format!("SELECT t.rowid, {} FROM {table} AS t", stored_bytes(source.conn, table)?);
        list(source.conn, &sql, [], |row| {
            let (number, size): (i64, i64) = row.try_into()?;
            let after = runs.partition_point(|run| run.0 <= number);
            if let Some(bytes) = after.checked_sub(1).and_then(|run| bytes.get_mut(run)) {
                *bytes += size.unsigned_abs();
            }
            Ok(())
        })?;
    }
    let mut months: BTreeMap<String, SizeOfPart> = BTreeMap::new();
    let mut plans: BTreeMap<String, SizeOfPart> = BTreeMap::new();
    for ((_, timestamp_ms, plan_id, steps), bytes) in runs.into_iter().zip(bytes) {
        let month = Timestamp::from_millisecond(timestamp_ms).map_or_else(
            |_| "unknown".to_owned(),
            |at| at.to_zoned(zone.clone()).strftime("%Y-%m").to_string(),
        );
        for (parts, name) in [(&mut months, month), (&mut plans, plan_id)] {
            let part = parts
                .entry(name.clone())
                .or_insert_with(|| SizeOfPart { name, ..SizeOfPart::default() });
            part.runs += 1;
            part.steps += steps.unsigned_abs();
            part.bytes += bytes;
        }
    }
    let mut plans: Vec<_> = plans.into_values().collect();
    plans.sort_by(|one, other| other.bytes.cmp(&one.bytes).then_with(|| one.name.cmp(&other.name)));
    Ok((months.into_values().collect(), plans))
}
