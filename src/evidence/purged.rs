//! Says of runs, steps and contents whether their records were purged, when and why (SPEC §14). The number of steps by
//! outcome remains known.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::EvidenceReader;
use super::error::Result;
use super::migrations::FORMAT_WITH_PURGES;
use super::rows::{count, has_row, json, optional, parse_word, uuid};
use super::source::Source;
use crate::plan::Digest;
use crate::run::{Outcome, PurgeNote, PurgeRecord, RunTally};

/// Purged steps by outcome; `unknown` for those without one.
type Outcomes = BTreeMap<String, u64>;

impl EvidenceReader {
    /// The purge of the records of this step, with the step's run; `None` if there was none. The steps of a run that was
    /// purged as a whole are not known any more.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn purge_of_step(&mut self, execution_id: Uuid) -> Result<Option<(Uuid, PurgeNote)>> {
        self.query(|source| {
            if source.format < FORMAT_WITH_PURGES {
                return Ok(None);
            }
            let sql = "SELECT s.run_id, p.timestamp, p.reason, p.user_name
                       FROM purged_subjects AS s JOIN record_purges AS p ON p.id = s.purge_id
                       WHERE s.execution_id = ?1";
            source.first(sql, [execution_id.to_string()], |row| {
                let (timestamp_ms, reason, user) = (row.get(1)?, row.get(2)?, row.get(3)?);
                let note = PurgeNote { timestamp_ms, reason, user, whole: false, steps: 1 };
                Ok((uuid(row, 0)?, note))
            })
        })
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
