//! Says of runs, steps and contents whether their records were purged, when and why (SPEC §14). The number of steps by
//! outcome remains known.

use std::collections::BTreeMap;

use rusqlite::Row;
use uuid::Uuid;

use super::EvidenceReader;
use super::error::Result;
use super::migrations::{FORMAT_WITH_LOOP_PURGES, FORMAT_WITH_PURGES};
use super::rows::{count, has_row, json, optional, parse_word, uuid};
use super::source::Source;
use crate::plan::Digest;
use crate::run::{Outcome, PurgeNote, PurgeRecord, RunTally};

/// Purged steps by outcome; `unknown` for those without one.
type Outcomes = BTreeMap<String, u64>;

impl EvidenceReader {
    /// The purge of the records of this step, with the step's run; `None` if there was none. The steps of a run that was
    /// purged as a whole before format 6 are not known any more.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn purge_of_step(&mut self, execution_id: Uuid) -> Result<Option<(Uuid, PurgeNote)>> {
        self.query(|source| of_step(source, execution_id))
    }

    /// All purges, in the order of recording.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn purges(&mut self) -> Result<Vec<PurgeRecord>> {
        self.query(|source| {
            if source.format < FORMAT_WITH_PURGES {
                return Ok(Vec::new());
            }
            let sql = "SELECT id, rule_json, reason, user_name, row_count, timestamp
                       FROM record_purges ORDER BY row";
            source.all(sql, [], |row| {
                Ok(PurgeRecord {
                    purge_id: uuid(row, 0)?,
                    rule: json(row, 1)?,
                    reason: row.get(2)?,
                    user: row.get(3)?,
                    rows: count(row, 4)?,
                    timestamp_ms: row.get(5)?,
                })
            })
        })
    }

    /// The number of runs whose records were purged as a whole.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn purged_runs(&mut self) -> Result<u64> {
        self.query(|source| {
            if source.format < FORMAT_WITH_PURGES {
                return Ok(0);
            }
            let sql = "SELECT count(*) FROM purged_subjects
                       WHERE run_id IS NOT NULL AND execution_id IS NULL";
            let count = source.first(sql, [], |row| Ok(row.get::<_, i64>(0)?))?;
            Ok(count.unwrap_or_default().unsigned_abs())
        })
    }
}

/// The purge of a step alone, or of its run, with the run; `None` if there was none.
fn of_step(source: &Source<'_>, execution_id: Uuid) -> Result<Option<(Uuid, PurgeNote)>> {
    if source.format < FORMAT_WITH_PURGES {
        return Ok(None);
    }
    let columns = "s.run_id, p.timestamp, p.reason, p.user_name";
    let tables = "purged_subjects AS s JOIN record_purges AS p ON p.id = s.purge_id";
    let sql = format!("SELECT {columns} FROM {tables} WHERE s.execution_id = ?1");
    let alone =
        source.first(&sql, [execution_id.to_string()], |row| Ok((uuid(row, 0)?, note(row, 1)?)))?;
    if alone.is_some() || source.format < FORMAT_WITH_LOOP_PURGES {
        return Ok(alone.map(|(run, note)| (run, PurgeNote { steps: 1, ..note })));
    }
    let id = execution_id.into_bytes();
    let sql = format!(
        "SELECT {columns}, s.execution_ids FROM {tables}
         WHERE instr(s.execution_ids, ?1) > 0 ORDER BY s.id"
    );
    let of_runs = source.all(&sql, [id.as_slice()], |row| {
        // The bytes may also stand across two ids.
        let is_one = row.get_ref(4)?.as_blob().is_ok_and(|ids| ids.chunks(16).any(|it| it == id));
        let note = PurgeNote { whole: true, ..note(row, 1)? };
        Ok(is_one.then_some((uuid(row, 0)?, note)))
    })?;
    Ok(of_runs.into_iter().flatten().next())
}

/// The time, the reason and the user of a purge, from this column on.
fn note(row: &Row<'_>, column: usize) -> Result<PurgeNote> {
    let (timestamp_ms, reason) = (row.get(column)?, row.get(column + 1)?);
    let user = row.get(column + 2)?;
    Ok(PurgeNote { timestamp_ms, reason, user, whole: false, steps: 0 })
}

/// The purge of a loop as a whole, or of this attempt with or without its loop; `None` if there was none.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn of_loop(
    source: &Source<'_>,
    loop_id: Uuid,
    attempt_id: Option<Uuid>,
) -> Result<Option<PurgeNote>> {
    if source.format < FORMAT_WITH_LOOP_PURGES {
        return Ok(None);
    }
    let sql = "SELECT p.timestamp, p.reason, p.user_name
               FROM purged_subjects AS s JOIN record_purges AS p ON p.id = s.purge_id
               WHERE s.loop_id = ?1 AND (s.attempt_id IS NULL OR s.attempt_id = ?2)
               ORDER BY s.id LIMIT 1";
    let ids = [Some(loop_id), attempt_id].map(|id| id.map(|id| id.to_string()));
    source.first(sql, ids, |row| Ok(PurgeNote { whole: true, ..note(row, 0)? }))
}

/// What was purged of a run, with the number of its purged steps by outcome; `None` if nothing was.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn of_run(source: &Source<'_>, run_id: Uuid) -> Result<Option<(PurgeNote, Outcomes)>> {
    if source.format < FORMAT_WITH_PURGES {
        return Ok(None);
    }
    let sql = "SELECT s.execution_id IS NULL, s.outcomes_json, p.timestamp, p.reason, p.user_name
               FROM purged_subjects AS s JOIN record_purges AS p ON p.id = s.purge_id
               WHERE s.run_id = ?1 ORDER BY s.id";
    let mut found: Option<(PurgeNote, Outcomes)> = None;
    source.all(sql, [run_id.to_string()], |row| {
        let (note, outcomes) = found.get_or_insert_with(|| {
            let reason = String::new();
            let note = PurgeNote { timestamp_ms: 0, reason, user: None, whole: false, steps: 0 };
            (note, Outcomes::new())
        });
        let more: Option<Outcomes> = optional(row, 1, json)?;
        for (outcome, number) in more.unwrap_or_default() {
            note.steps += number;
            *outcomes.entry(outcome).or_default() += number;
        }
        note.whole |= row.get::<_, bool>(0)?;
        (note.timestamp_ms, note.reason, note.user) = (row.get(2)?, row.get(3)?, row.get(4)?);
        Ok(())
    })?;
    Ok(found)
}

/// Adds purged steps to the steps of a run that are still recorded.
pub(super) fn add_to(tally: &mut RunTally, outcomes: &Outcomes) {
    for (outcome, number) in outcomes {
        let number = usize::try_from(*number).unwrap_or(usize::MAX);
        match parse_word::<Outcome>(outcome) {
            Some(outcome) => tally.add(outcome, number),
            None => tally.unknown += number,
        }
    }
}

/// Whether a person purged this content.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn is_purged_content(source: &Source<'_>, digest: &Digest) -> Result<bool> {
    // Versions before format 5 recorded purges of contents alone.
    Ok(has_row(source.conn, "purges", "digest", digest.hex())?
        || (source.format >= FORMAT_WITH_PURGES
            && has_row(source.conn, "purged_subjects", "content", digest.hex())?))
}
