//! From records to rows: bounded loops, their attempts, and classes that were authorized in advance
//! (SPEC §10).

use rusqlite::OptionalExtension as _;
use serde_json::{Value, json};
use uuid::Uuid;

use super::error::{EvidenceError, Result};
use super::funnel::{Cell, Funnel};
use super::grants;
use super::lock::Lock;
use super::rows::word;
use super::store::EvidenceStore;
use crate::authorization::{AuthorizationClass, Method};
use crate::plan::Digest;
use crate::run::{AttemptRecord, PlanDifference, StopReason};

/// The beginning of a bounded loop.
#[derive(Debug, Clone, Copy)]
pub struct LoopStart<'a> {
    /// The loop.
    pub loop_id: Uuid,
    /// What it is to reach.
    pub goal: &'a str,
    /// Who makes the plans, as the person named it.
    pub planner: &'a str,
    /// The workspace folder.
    pub workspace: &'a str,
    /// How often the planner is asked at most.
    pub max_attempts: u32,
    /// What it verifies by itself: `local`, `full` or `none`.
    pub verify: &'a str,
    /// The class of plans that was authorized in advance; recorded already.
    pub class_id: Option<Uuid>,
    /// When, in Unix milliseconds.
    pub started_at_ms: i64,
}

/// The beginning of an attempt; committed before the planner is started.
#[derive(Debug, Clone, Copy)]
pub struct AttemptStart {
    /// The attempt.
    pub attempt_id: Uuid,
    /// The loop.
    pub loop_id: Uuid,
    /// Which one, from 1.
    pub attempt: u32,
    /// When, in Unix milliseconds.
    pub started_at_ms: i64,
}

/// What went into a planner's process and came out of it.
#[derive(Debug, Clone, Default)]
pub struct PlannerTrace {
    /// What it was asked.
    pub request: Vec<u8>,
    /// What it printed to its standard output.
    pub answer: Vec<u8>,
    /// What it printed to its standard error.
    pub stderr: Vec<u8>,
    /// The code it ended with.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was ended because it took too long.
    pub timed_out: bool,
    /// How long it took, in milliseconds.
    pub duration_ms: i64,
    /// Why its plan is another one than that before, and how they differ.
    pub revised: Option<(String, PlanDifference)>,
}

/// The end of an attempt.
#[derive(Debug, Clone, Copy)]
pub struct AttemptEnd<'a> {
    /// The attempt.
    pub attempt_id: Uuid,
    /// What became of it.
    pub record: &'a AttemptRecord,
    /// The planner's process; none when it was never started.
    pub trace: Option<&'a PlannerTrace>,
    /// When, in Unix milliseconds.
    pub ended_at_ms: i64,
}

/// The end of a loop.
#[derive(Debug, Clone, Copy)]
pub struct LoopEnd<'a> {
    /// The loop.
    pub loop_id: Uuid,
    /// Why.
    pub reason: &'a StopReason,
    /// When, in Unix milliseconds.
    pub ended_at_ms: i64,
}

impl EvidenceStore {
    /// Records an answer given in advance to a class of plans.
    ///
    /// # Errors
    /// Any failure of the database; so for every other commit here.
    pub fn record_class(
        &mut self,
        class_id: Uuid,
        class: &AuthorizationClass,
        method: Method,
        timestamp_ms: i64,
    ) -> Result<()> {
        self.write_and_keep(|funnel, user| {
            funnel.insert(
                "authorization_classes",
                [
                    ("id", class_id.into()),
                    ("class_json", json!(class).into()),
                    ("user_name", user.into()),
                    ("method", word(&method)),
                    ("timestamp", timestamp_ms.into()),
                    ("expires_at", class.expires_at_ms().unwrap_or(timestamp_ms).into()),
                    ("grant_digest", Cell::Grant),
                ],
            )
        })
    }

    /// Takes such an answer back: no attempt is authorized by it from now on. False when there is none, or
    /// it was taken back before.
    ///
    /// # Errors
    /// As [`Self::record_class`].
    pub fn revoke_class(&mut self, class_id: Uuid, timestamp_ms: i64) -> Result<bool> {
        let mut revoked = false;
        self.write_and_keep(|funnel, user| {
            if !class_exists(funnel, class_id)? || is_revoked(funnel.tx(), class_id)? {
                return Ok(());
            }
            revoked = true;
            funnel.insert(
                "authorization_class_revocations",
                [
                    ("class_id", class_id.into()),
                    ("user_name", user.into()),
                    ("timestamp", timestamp_ms.into()),
                ],
            )
        })?;
        Ok(revoked)
    }

    /// Whether such an answer was taken back, by any process. One that was never given, or whose row is not
    /// what this user's program wrote, counts as taken back.
    ///
    /// # Errors
    /// As [`Self::record_class`].
    pub fn is_class_revoked(&self, class_id: Uuid) -> Result<bool> {
        Ok(is_revoked(&self.conn, class_id)?
            || grants::has_lost_rows(&self.conn, "authorization_class_revocations")?
            || !self.is_class_proven(class_id)?)
    }

    fn is_class_proven(&self, class_id: Uuid) -> Result<bool> {
        let mut statement =
            self.conn.prepare_cached("SELECT * FROM authorization_classes WHERE id = ?1")?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([class_id.to_string()])?;
        let Some(row) = rows.next()? else { return Ok(false) };
        grants::is_proven("authorization_classes", &names, row, &self.vault, self.database_id)
    }

    /// Records the start of a loop. From now until [`end_loop`](Self::end_loop), or until this store is
    /// dropped, the loop counts as alive.
    ///
    /// # Errors
    /// As [`Self::record_class`].
    pub fn begin_loop(&mut self, start: &LoopStart<'_>) -> Result<()> {
        let lock = Lock::run(&self.dir, start.loop_id)?;
        let written = self.write(|funnel, user| {
            funnel.insert(
                "loops",
                [
                    ("id", start.loop_id.into()),
                    ("goal", start.goal.into()),
                    ("planner", start.planner.into()),
                    ("workspace", start.workspace.into()),
                    ("max_attempts", i64::from(start.max_attempts).into()),
                    ("verify_scope", start.verify.into()),
                    ("class_id", start.class_id.into()),
                    ("user_name", user.into()),
                    ("timestamp", start.started_at_ms.into()),
                ],
            )
        });
        match written {
            Ok(()) => {
                self.locks.insert(start.loop_id, lock);
                Ok(())
            }
            Err(error) => {
                lock.end();
                Err(error)
            }
        }
    }

    /// Records the start of an attempt; call it before the planner is started.
    ///
    /// # Errors
    /// As [`Self::record_class`].
    pub fn begin_attempt(&mut self, start: &AttemptStart) -> Result<()> {
        self.write(|funnel, _| {
            funnel.insert(
                "attempts",
                [
                    ("id", start.attempt_id.into()),
                    ("loop_id", start.loop_id.into()),
                    ("attempt", i64::from(start.attempt).into()),
                    ("timestamp", start.started_at_ms.into()),
                ],
            )
        })
    }

    /// Records what became of an attempt, with the exact bytes that the planner answered.
    ///
    /// # Errors
    /// As [`Self::record_class`].
    pub fn end_attempt(&mut self, end: &AttemptEnd<'_>) -> Result<()> {
        self.write(|funnel, _| attempt_end(funnel, end))
    }

    /// Records the end of a loop.
    ///
    /// # Errors
    /// As [`Self::record_class`].
    pub fn end_loop(&mut self, end: &LoopEnd<'_>) -> Result<()> {
        let reason = end.reason;
        self.write_and_keep(|funnel, _| {
            funnel.insert(
                "loop_ends",
                [
                    ("loop_id", end.loop_id.into()),
                    ("code", Cell::word(reason.code.as_str())),
                    ("message", reason.message.as_str().into()),
                    ("detail_json", json!(reason.detail).into()),
                    ("timestamp", end.ended_at_ms.into()),
                ],
            )
        })?;
        if let Some(lock) = self.locks.remove(&end.loop_id) {
            lock.end();
        }
        Ok(())
    }

    /// Takes a loop up again whose thread of this process has failed, so that its end can be recorded: it
    /// counts as alive until then. Not for a loop of another process.
    ///
    /// # Errors
    /// As [`Self::record_class`].
    pub fn resume_lock(&mut self, loop_id: Uuid) -> Result<()> {
        if !self.locks.contains_key(&loop_id) {
            let lock = Lock::run(&self.dir, loop_id)?;
            self.locks.insert(loop_id, lock);
        }
        Ok(())
    }

    /// Whether an attempt has an end.
    ///
    /// # Errors
    /// As [`Self::record_class`].
    pub fn attempt_has_ended(&self, attempt_id: Uuid) -> Result<bool> {
        Ok(self
            .conn
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM attempt_ends WHERE attempt_id = ?1)")?
            .query_row([attempt_id.to_string()], |row| row.get(0))?)
    }
}

fn class_exists(funnel: &Funnel<'_>, class_id: Uuid) -> Result<bool> {
    Ok(funnel
        .tx()
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM authorization_classes WHERE id = ?1)")?
        .query_row([class_id.to_string()], |row| row.get(0))?)
}

fn is_revoked(conn: &rusqlite::Connection, class_id: Uuid) -> Result<bool> {
    Ok(conn
        .prepare_cached("SELECT 1 FROM authorization_class_revocations WHERE class_id = ?1")?
        .query_row([class_id.to_string()], |_| Ok(()))
        .optional()?
        .is_some())
}

fn attempt_end(funnel: &mut Funnel<'_>, end: &AttemptEnd<'_>) -> Result<()> {
    let AttemptEnd { attempt_id, record, trace, ended_at_ms } = *end;
    let mut planner = json!(record.planner);
    if let (Some(trace), Some(fields)) = (trace, planner.as_object_mut()) {
        for bytes in [&trace.request, &trace.answer, &trace.stderr] {
            funnel.learn(bytes);
        }
        fields.insert("process".to_owned(), process(funnel, trace)?);
    }
    // A run whose first record could not be written is none.
    let run_id = match record.run_id {
        Some(run_id) if is_recorded(funnel, run_id)? => Some(run_id),
        _ => None,
    };
    funnel.insert(
        "attempt_ends",
        [
            ("attempt_id", attempt_id.into()),
            ("planner_json", planner.into()),
            ("plan_digest", record.plan_digest.into()),
            ("run_id", run_id.into()),
            ("actions_json", json!(record.actions).into()),
            ("verify_json", record.verify.as_ref().map(|verify| json!(verify)).into()),
            ("stop_reason", record.stop_reason.map(|code| Cell::word(code.as_str())).into()),
            ("timestamp", ended_at_ms.into()),
        ],
    )
}

fn is_recorded(funnel: &Funnel<'_>, run_id: Uuid) -> Result<bool> {
    Ok(funnel
        .tx()
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?1)")?
        .query_row([run_id.to_string()], |row| row.get(0))?)
}

/// What is kept of a planner's process: the exact answer by its digest, everything else as text, both apart
/// where they are long.
fn process(funnel: &mut Funnel<'_>, trace: &PlannerTrace) -> Result<Value> {
    let answer = Digest::of(&trace.answer);
    if !trace.answer.is_empty() {
        funnel.exact_blob(&answer, &trace.answer)?;
    }
    let mut text = |bytes: &[u8]| -> Result<Value> {
        let stored = funnel.output_value(bytes)?;
        let Cell::Word(json) = stored.json else { return Ok(Value::Null) };
        serde_json::from_str(&json)
            .map_err(|source| EvidenceError::Content { source: source.into() })
    };
    Ok(json!({
        "request": text(&trace.request)?,
        "stderr": text(&trace.stderr)?,
        "answer": (!trace.answer.is_empty())
            .then(|| json!({ "blob": answer, "bytes": trace.answer.len() })),
        "exit_code": trace.exit_code,
        "signal": trace.signal,
        "timed_out": trace.timed_out,
        "duration_ms": trace.duration_ms,
        "revised": trace.revised.as_ref().map(|(reason, difference)| {
            json!({ "reason": reason, "difference": difference })
        }),
    }))
}
