//! Lists runs (SPEC §8): their plan, their end as far as it is known, and how many steps ended in which way.

use std::collections::HashSet;

use uuid::Uuid;

use super::error::Result;
use super::rows::{digest, optional, parse_word, size, uuid, word};
use super::source::Source;
use super::{EvidenceReader, Range, purged};
use crate::run::{Outcome, RunFate, RunSummary, RunTally};

impl EvidenceReader {
    /// The latest runs, newest first.
    ///
    /// # Errors
    /// When the database cannot be opened or read. The other queries refer to this section.
    pub fn runs(&mut self, limit: usize) -> Result<Vec<RunSummary>> {
        self.query(|source| runs(source, "1", None, limit))
    }

    /// One run; `None` if it does not exist.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn run(&mut self, run_id: Uuid) -> Result<Option<RunSummary>> {
        self.query(|source| run(source, run_id))
    }

    /// The latest other runs of the plan of this run, by the id of the plan, newest first.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn other_runs_of_plan(&mut self, run_id: Uuid, limit: usize) -> Result<Vec<RunSummary>> {
        let condition = "r.plan_id = (SELECT plan_id FROM runs WHERE id = ?1) AND r.id <> ?1";
        self.query(|source| runs(source, condition, Some(run_id), limit))
    }

    /// The latest runs whose process ended without recording an end, newest first.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn interrupted_runs(&mut self, range: Range) -> Result<Vec<RunSummary>> {
        self.query(|source| {
            let condition = "NOT EXISTS (SELECT 1 FROM run_ends AS e WHERE e.run_id = r.id)";
            let mut open = runs(source, condition, None, usize::MAX)?;
            open.retain(|run| {
                run.fate == RunFate::Interrupted
                    && (range.since()..=range.until()).contains(&run.started_at_ms)
            });
            open.truncate(usize::try_from(range.limit()).unwrap_or(usize::MAX));
            Ok(open)
        })
    }
}

pub(super) fn fate(source: &Source<'_>, run_id: Uuid) -> Result<(RunFate, Option<i64>)> {
    source.fate(run_id, "SELECT status, timestamp FROM run_ends WHERE run_id = ?1")
}

/// One run; `None` if it does not exist.
pub(super) fn run(source: &Source<'_>, run_id: Uuid) -> Result<Option<RunSummary>> {
    Ok(runs(source, "r.id = ?1", Some(run_id), 1)?.pop())
}

/// The runs that meet a condition about `runs AS r`, in which `?1` is this id, newest first.
fn runs(
    source: &Source<'_>,
    condition: &str,
    run_id: Option<Uuid>,
    limit: usize,
) -> Result<Vec<RunSummary>> {
    let sql = format!(
        "SELECT r.id, r.plan_id, coalesce(p.title, r.plan_id), r.plan_digest, r.workspace,
                p.step_count, r.timestamp, r.parent_run, r.target, r.mode
         FROM runs AS r JOIN plans AS p ON p.id = r.plan_digest
         WHERE ({condition})
         ORDER BY r.timestamp DESC, r.id LIMIT ?2"
    );
    source.all(
        &sql,
        (run_id.map(|id| id.to_string()), i64::try_from(limit).unwrap_or(i64::MAX)),
        |row| {
            let run_id = uuid(row, 0)?;
            let (fate, ended_at_ms) = fate(source, run_id)?;
            let (mut tally, steps_recorded) = tally(source, run_id)?;
            let purged = purged::of_run(source, run_id)?;
            if let Some((_, outcomes)) = &purged {
                purged::add_to(&mut tally, outcomes);
            }
            let purged = purged.map(|(note, _)| note);
            Ok(RunSummary {
                run_id,
                plan_id: row.get(1)?,
                plan_name: row.get(2)?,
                plan_digest: digest(row, 3)?,
                workspace: row.get(4)?,
                target: row.get(8)?,
                mode: word(row, 9)?,
                parent_run: optional(row, 7, uuid)?,
                step_count: size(row, 5)?,
                steps_recorded,
                started_at_ms: row.get(6)?,
                ended_at_ms,
                fate,
                tally,
                purged,
            })
        },
    )
}

/// How many steps of a run ended in which way, and how many have a record. The rows of a run are side by side, so reading
/// them is faster than finding each of its intents an execution.
fn tally(source: &Source<'_>, run_id: Uuid) -> Result<(RunTally, usize)> {
    let (run_id, mut tally) = (run_id.to_string(), RunTally::default());
    let mut executed = HashSet::new();
    let sql = "SELECT id, outcome FROM executions WHERE run_id = ?1";
    source.all(sql, [&run_id], |row| {
        executed.insert(row.get::<_, String>(0)?);
        let outcome = parse_word::<Outcome>(row.get_ref(1)?.as_str().unwrap_or_default());
        outcome.into_iter().for_each(|outcome| tally.add(outcome, 1));
        Ok(())
    })?;
    // An intent is a record, too: that of a step whose outcome is unknown.
    source.all("SELECT id FROM intents WHERE run_id = ?1", [&run_id], |row| {
        tally.unknown +=
            usize::from(!executed.contains(row.get_ref(0)?.as_str().unwrap_or_default()));
        Ok(())
    })?;
    Ok((tally, executed.len() + tally.unknown))
}
