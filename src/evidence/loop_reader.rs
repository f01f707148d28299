//! Reads bounded loops (SPEC §10) as records and as events. Read-only.

use serde_json::Value;
use uuid::Uuid;

use super::error::Result;
use super::migrations::FORMAT_WITH_LOOKS;
use super::rows::{digest, json, optional, size, unreadable, uuid, word};
use super::source::Source;
use super::{EvidenceReader, purged, replay, runs};
use crate::run::{
    AttemptDetail, AttemptRecord, LookRecord, LookScope, LoopDetail, LoopSummary, PlanDifference,
    RunEvent, RunSummary, StopReason,
};

impl EvidenceReader {
    /// The latest bounded loops, newest first.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn loops(&mut self, limit: usize) -> Result<Vec<LoopSummary>> {
        self.query(|source| loops(source, None, limit))
    }

    /// One bounded loop in full, with its attempts.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn bounded_loop(&mut self, loop_id: Uuid) -> Result<Option<LoopDetail>> {
        self.query(|source| detail(source, loop_id))
    }

    /// The events of a bounded loop and of its runs, rebuilt from the rows; empty if there is no such loop.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn replay_loop(&mut self, loop_id: Uuid) -> Result<Vec<RunEvent>> {
        self.query(|source| events(source, loop_id))
    }
}

/// The loops, newest first; or only the one with this id.
fn loops(source: &Source<'_>, loop_id: Option<Uuid>, limit: usize) -> Result<Vec<LoopSummary>> {
    source.all(
        "SELECT l.id, l.goal, l.planner, l.workspace, l.max_attempts, l.verify_scope, l.class_id,
                (SELECT count(*) FROM attempts AS a WHERE a.loop_id = l.id), l.timestamp,
                l.looks, l.target
         FROM loops AS l WHERE ?1 IS NULL OR l.id = ?1
         ORDER BY l.timestamp DESC, l.id LIMIT ?2",
        (loop_id.map(|id| id.to_string()), i64::try_from(limit).unwrap_or(i64::MAX)),
        |row| {
            let loop_id = uuid(row, 0)?;
            let ends = "SELECT code, timestamp FROM loop_ends WHERE loop_id = ?1";
            let (fate, ended_at_ms) = source.fate(loop_id, ends)?;
            Ok(LoopSummary {
                loop_id,
                goal: row.get(1)?,
                planner: row.get(2)?,
                workspace: row.get(3)?,
                max_attempts: row.get(4)?,
                verify: row.get(5)?,
                class_id: optional(row, 6, uuid)?,
                attempts_begun: size(row, 7)?,
                started_at_ms: row.get(8)?,
                ended_at_ms,
                fate,
                looks: optional(row, 9, word)?,
                target: row.get(10)?,
                purged: purged::of_loop(source, loop_id, None)?,
            })
        },
    )
}

/// One loop in full; `None` if it does not exist.
fn detail(source: &Source<'_>, loop_id: Uuid) -> Result<Option<LoopDetail>> {
    let Some(summary) = loops(source, Some(loop_id), 1)?.pop() else { return Ok(None) };
    let stop_reason = source.first(
        "SELECT code, message, detail_json FROM loop_ends WHERE loop_id = ?1",
        [loop_id.to_string()],
        |row| Ok(StopReason { code: word(row, 0)?, message: row.get(1)?, detail: json(row, 2)? }),
    )?;
    let class = source.first(
        "SELECT c.class_json, EXISTS (SELECT 1 FROM authorization_class_revocations AS r
                                      WHERE r.class_id = c.id)
         FROM authorization_classes AS c WHERE c.id = ?1",
        [summary.class_id.map(|id| id.to_string())],
        |row| Ok((json(row, 0)?, row.get(1)?)),
    )?;
    let (class, class_revoked) = class.unzip();
    Ok(Some(LoopDetail {
        attempts: attempts(source, &summary)?,
        summary,
        class,
        class_revoked: class_revoked.unwrap_or_default(),
        stop_reason,
    }))
}

fn attempts(source: &Source<'_>, summary: &LoopSummary) -> Result<Vec<AttemptDetail>> {
    source.all(
        "SELECT a.id, a.attempt, a.timestamp, e.timestamp, e.planner_json, e.plan_digest, e.run_id,
                e.actions_json, e.verify_json, e.stop_reason, e.feedback
         FROM attempts AS a LEFT JOIN attempt_ends AS e ON e.attempt_id = a.id
         WHERE a.loop_id = ?1 ORDER BY a.attempt",
        [summary.loop_id.to_string()],
        |row| {
            let (attempt_id, attempt): (Uuid, u32) = (uuid(row, 0)?, row.get(1)?);
            let ended_at_ms: Option<i64> = row.get(3)?;
            let mut looks: Vec<_> = rounds(source, attempt_id)?.into_iter().flatten().collect();
            let mut planner_process = Value::Null;
            let mut record = None;
            if ended_at_ms.is_some() {
                let mut planner: Value = json(row, 4)?;
                if let Some(process) = planner.get_mut("process") {
                    planner_process = process.take();
                }
                record = Some(AttemptRecord {
                    attempt,
                    max_attempts: summary.max_attempts,
                    planner: serde_json::from_value(planner).map_err(unreadable)?,
                    plan_digest: optional(row, 5, digest)?,
                    run_id: optional(row, 6, uuid)?,
                    actions: json(row, 7)?,
                    verify: optional(row, 8, json)?,
                    stop_reason: optional(row, 9, word)?,
                    looks: std::mem::take(&mut looks),
                    feedback: row.get(10)?,
                });
            }
            Ok(AttemptDetail {
                attempt_id,
                attempt,
                checkpoint: format!("loop:{}:{attempt}", summary.loop_id),
                started_at_ms: row.get(2)?,
                ended_at_ms,
                record,
                looks,
                planner_process,
                runs: runs(source, attempt_id)?,
                purged: purged::of_loop(source, summary.loop_id, Some(attempt_id))?,
            })
        },
    )
}

fn runs(source: &Source<'_>, attempt_id: Uuid) -> Result<Vec<RunSummary>> {
    let sql = "SELECT id FROM runs WHERE attempt_id = ?1 ORDER BY row";
    let runs = source.all(sql, [attempt_id.to_string()], |row| runs::run(source, uuid(row, 0)?))?;
    Ok(runs.into_iter().flatten().collect())
}

/// The events of a loop and of its runs; empty if there is no such loop. The planner's output and the requests for
/// decisions are omitted, because other events contain the plan and the decisions.
fn events(source: &Source<'_>, loop_id: Uuid) -> Result<Vec<RunEvent>> {
    let Some(detail) = detail(source, loop_id)? else { return Ok(Vec::new()) };
    let LoopSummary { max_attempts, .. } = detail.summary;
    let mut events = vec![RunEvent::LoopStarted {
        loop_id,
        goal: detail.summary.goal.clone(),
        planner: detail.summary.planner.clone(),
        workspace: detail.summary.workspace.clone(),
        max_attempts,
        class_id: detail.summary.class_id,
        looks: detail.summary.looks.unwrap_or(LookScope::None),
        target: detail.summary.target.clone(),
        timestamp_ms: detail.summary.started_at_ms,
    }];
    for attempt in detail.attempts {
        events.push(RunEvent::AttemptStarted {
            attempt: attempt.attempt,
            max_attempts,
            timestamp_ms: attempt.started_at_ms,
        });
        let rounds = rounds(source, attempt.attempt_id)?;
        events.extend(
            rounds
                .into_iter()
                .zip(1..)
                .map(|(looks, round)| RunEvent::PlannerLooked { round, looks }),
        );
        if let Some(record) = &attempt.record {
            let report = Box::new(record.planner.clone());
            events.push(RunEvent::PlannerAnswered { report, plan_digest: record.plan_digest });
        }
        events.extend(revised(&attempt.planner_process)?);
        for (index, run) in attempt.runs.iter().enumerate() {
            // The first run of an attempt is that of its plan, a second one the loop's verification.
            if index == 0 {
                events.extend(authorized(source, run.run_id)?);
            } else {
                events.push(RunEvent::VerifyStarted);
            }
            events.extend(replay::events(source, run.run_id)?);
        }
        let is_last_but_one = attempt.attempt.saturating_add(1) == max_attempts
            && attempt.record.as_ref().is_some_and(|record| record.stop_reason.is_none());
        if let Some(record) = attempt.record {
            events.push(RunEvent::AttemptEnded { record: Box::new(record) });
        }
        if is_last_but_one {
            events.push(RunEvent::BudgetWarning { attempts_left: 1 });
        }
    }
    if let Some(stop_reason) = detail.stop_reason {
        events.push(RunEvent::LoopEnded { stop_reason: Box::new(stop_reason) });
    }
    Ok(events)
}

/// What the planner of an attempt looked at, in rounds.
fn rounds(source: &Source<'_>, attempt_id: Uuid) -> Result<Vec<Vec<LookRecord>>> {
    if source.format < FORMAT_WITH_LOOKS {
        return Ok(Vec::new());
    }
    source.all(
        "SELECT looks_json FROM planner_looks WHERE attempt_id = ?1 ORDER BY round, id",
        [attempt_id.to_string()],
        |row| json(row, 0),
    )
}

/// The event for a plan that replaced another one, from the recorded process of the planner.
fn revised(process: &Value) -> Result<Option<RunEvent>> {
    let Some(revised) = process.get("revised").filter(|revised| !revised.is_null()) else {
        return Ok(None);
    };
    let reason = revised.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned();
    let difference = revised.get("difference").cloned().unwrap_or_default();
    let difference: PlanDifference = serde_json::from_value(difference).map_err(unreadable)?;
    Ok(Some(RunEvent::PlanRevised { reason, difference: Box::new(difference) }))
}

/// The event for the authorization of a run's plan.
fn authorized(source: &Source<'_>, run_id: Uuid) -> Result<Option<RunEvent>> {
    source.first(
        "SELECT d.note FROM runs AS r JOIN decisions AS d
         ON d.authorization_id = r.authorization_id AND d.decision = 'authorize'
         WHERE r.id = ?1",
        [run_id.to_string()],
        |row| Ok(RunEvent::AuthorizationDecided { approved: true, how: row.get(0)? }),
    )
}
