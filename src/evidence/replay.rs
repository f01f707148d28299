//! A recorded run as the events it was made of (SPEC §3): the same way from events to screen serves a
//! live run and an old one.
//!
//! Absent on purpose: pieces of output, whose whole is in the results, and the questions to a person,
//! whose answers say it.

mod host;

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Row;
use serde_json::Value;
use uuid::Uuid;

use super::error::{EvidenceError, Result};
use super::reader::{EvidenceReader, Source};
use super::{blobs, queries};
use crate::plan::Code;
use crate::run::{
    Answer, AnsweredBy, ArtifactRecord, Attempt, Control, Decision, Outcome, RunEvent, RunStatus,
    StepResult, StreamEnds, StreamExcerpt, WITH_ITS_COMMAND,
};

impl EvidenceReader {
    /// The folders of the evidence, of the user's key and of the kept heads.
    pub fn folders(&self) -> [&std::path::Path; 3] {
        [&self.dir, &self.folders.key, &self.folders.state]
    }

    /// The attempt of a bounded loop that this run is of, be it that of its plan or the loop's own
    /// verification; `None` for every other run.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn attempt_of(&mut self, run_id: Uuid) -> Result<Option<Attempt>> {
        self.ask(|source| {
            let mut statement = source.conn.prepare_cached(
                "SELECT a.loop_id, a.attempt FROM runs AS r JOIN attempts AS a ON a.id = r.attempt_id
                 WHERE r.id = ?1",
            )?;
            let mut rows = statement.query([run_id.to_string()])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            Ok(Some(Attempt { loop_id: queries::uuid(row, 0)?, number: row.get(1)? }))
        })
    }
}

/// Rows of one run in the order in which they were written.
const ROWS: &str = "
    SELECT row, 'intents' FROM intents WHERE run_id = ?1
    UNION ALL SELECT row, 'executions' FROM executions WHERE run_id = ?1
    UNION ALL SELECT id, 'decisions' FROM decisions WHERE run_id = ?1
    UNION ALL SELECT id, 'run_ends' FROM run_ends WHERE run_id = ?1
    ORDER BY 1";

/// The events of this run; none when there is no such run.
pub(super) fn events(source: &Source<'_>, run_id: Uuid) -> Result<Vec<RunEvent>> {
    let Some(run) = queries::runs(source, Some(run_id), 1)?.pop() else { return Ok(Vec::new()) };
    let mut replay = Replay {
        source,
        starts: starts(source, run_id)?,
        started: BTreeSet::new(),
        notes: BTreeMap::new(),
        step_count: run.step_count,
        events: vec![RunEvent::RunStarted {
            run_id,
            plan_id: run.plan_id,
            step_count: run.step_count,
            timestamp_ms: run.started_at_ms,
        }],
    };
    if run.target.is_some()
        && let Some(host) = host::reached(source, run_id)?
    {
        replay.events.push(RunEvent::HostReached { host: Box::new(host) });
    }
    let mut statement = source.conn.prepare_cached(ROWS)?;
    let mut rows = statement.query([run_id.to_string()])?;
    while let Some(row) = rows.next()? {
        let (id, table): (i64, String) = (row.get(0)?, row.get(1)?);
        match table.as_str() {
            "intents" => replay.intent(id)?,
            "executions" => replay.execution(id)?,
            "decisions" => replay.decision(id)?,
            _ => replay.run_end(id)?,
        }
    }
    Ok(replay.events)
}

/// When each step started.
fn starts(source: &Source<'_>, run_id: Uuid) -> Result<BTreeMap<usize, i64>> {
    Ok(source
        .conn
        .prepare_cached(
            "SELECT step_index, timestamp FROM intents WHERE run_id = ?1
             UNION SELECT step_index, timestamp FROM executions WHERE run_id = ?1",
        )?
        .query_map([run_id.to_string()], |row| Ok((queries::size(row.get(0)?), row.get(1)?)))?
        .collect::<Result<_, _>>()?)
}

struct Replay<'a> {
    source: &'a Source<'a>,
    starts: BTreeMap<usize, i64>,
    started: BTreeSet<usize>,
    /// What people said when they decided about a step.
    notes: BTreeMap<usize, String>,
    step_count: usize,
    events: Vec<RunEvent>,
}

impl Replay<'_> {
    fn start(&mut self, step_id: String, step_index: usize, timestamp_ms: i64) {
        if self.started.insert(step_index) {
            let timestamp_ms = self.starts.get(&step_index).copied().unwrap_or(timestamp_ms);
            self.events.push(RunEvent::StepStarted { step_id, step_index, timestamp_ms });
        }
    }

    fn intent(&mut self, id: i64) -> Result<()> {
        let (step_id, index, timestamp_ms): (String, i64, i64) = self
            .source
            .conn
            .prepare_cached("SELECT step_id, step_index, timestamp FROM intents WHERE row = ?1")?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        self.start(step_id, queries::size(index), timestamp_ms);
        Ok(())
    }

    fn execution(&mut self, id: i64) -> Result<()> {
        let result = Box::new(step_result(self.source, id)?);
        self.start(result.step_id.clone(), result.step_index, result.timestamp_ms);
        self.events.push(match result.outcome {
            Outcome::Succeeded => RunEvent::StepCompleted { result },
            Outcome::Skipped | Outcome::DoneByHand => {
                // Only a verification is skipped without anybody being asked.
                let reason = self.notes.remove(&result.step_index);
                let reason = reason.unwrap_or_else(|| WITH_ITS_COMMAND.to_owned());
                RunEvent::StepSkipped { result, reason }
            }
            Outcome::Failed
            | Outcome::Denied
            | Outcome::PreconditionFailed
            | Outcome::Cancelled => RunEvent::StepFailed { result },
        });
        Ok(())
    }

    fn decision(&mut self, id: i64) -> Result<()> {
        struct Decided {
            step_id: Option<String>,
            step_index: Option<i64>,
            decision: String,
            by: String,
            note: String,
            timestamp_ms: i64,
        }
        let decided = self
            .source
            .conn
            .prepare_cached(
                "SELECT step_id, step_index, decision, decided_by, note, timestamp
                 FROM decisions WHERE id = ?1",
            )?
            .query_row([id], |row| {
                Ok(Decided {
                    step_id: row.get(0)?,
                    step_index: row.get(1)?,
                    decision: row.get(2)?,
                    by: row.get(3)?,
                    note: row.get(4)?,
                    timestamp_ms: row.get(5)?,
                })
            })?;
        if let (Some(step_id), Some(index)) = (&decided.step_id, decided.step_index) {
            let index = queries::size(index);
            self.start(step_id.clone(), index, decided.timestamp_ms);
            self.notes.insert(index, decided.note.clone());
        }
        let answer = Decision::from_text(&decided.decision);
        if let (Some(decision), Some(step_id)) = (answer, decided.step_id) {
            let by = serde_json::from_value(decided.by.into()).unwrap_or(AnsweredBy::Window);
            let answer = Answer { decision, by, note: decided.note };
            self.events.push(RunEvent::ConfirmationDecided { step_id, answer });
        }
        match control(&decided.decision) {
            Some(control @ Control::Pause) => {
                self.events.push(RunEvent::ControlRequested { control });
                self.events.push(RunEvent::Paused);
            }
            Some(Control::Resume) => self.events.push(RunEvent::Resumed),
            Some(control) => self.events.push(RunEvent::ControlRequested { control }),
            None => {}
        }
        Ok(())
    }

    fn run_end(&mut self, id: i64) -> Result<()> {
        let sql = queries::readable(
            self.source,
            "SELECT status, error_code, error_message, cancelled_by, completed_steps, left_running_json
             FROM run_ends WHERE id = ?1",
        );
        let (left_running, event) =
            self.source.conn.prepare_cached(&sql)?.query_row([id], |row| {
                Ok((row.get::<_, Option<String>>(5)?, end_event(row, self.step_count)))
            })?;
        let processes: Vec<String> = match left_running {
            Some(names) => serde_json::from_str(&names).map_err(queries::unreadable)?,
            None => Vec::new(),
        };
        if !processes.is_empty() {
            self.events.push(RunEvent::LeftRunning { processes });
        }
        self.events.push(event?);
        Ok(())
    }
}

fn end_event(row: &Row<'_>, step_count: usize) -> Result<RunEvent> {
    let status: String = row.get(0)?;
    Ok(match RunStatus::from_text(&status) {
        Some(RunStatus::Completed) => RunEvent::RunCompleted { step_count },
        Some(RunStatus::Failed) => RunEvent::RunFailed {
            code: code(row.get(1)?).unwrap_or(Code::EvidenceStore),
            message: row.get::<_, Option<String>>(2)?.unwrap_or_default(),
        },
        Some(RunStatus::Cancelled) => RunEvent::RunCancelled {
            reason: row
                .get::<_, Option<String>>(3)?
                .as_deref()
                .and_then(control)
                .unwrap_or(Control::StopNow),
            completed_steps: queries::size(row.get(4)?),
        },
        None => {
            return Err(EvidenceError::Unreadable { what: format!("the status {status:?}") });
        }
    })
}

fn control(text: &str) -> Option<Control> {
    Control::ALL.into_iter().find(|control| control.as_str() == text)
}

fn code(text: Option<String>) -> Option<Code> {
    text.as_deref().and_then(Code::from_text)
}

/// The result of a step from its rows.
fn step_result(source: &Source<'_>, row_id: i64) -> Result<StepResult> {
    let sql = queries::readable(
        source,
        "SELECT x.id, x.step_id, x.step_index, x.tool_name, x.outcome, x.exit_code, x.error_message,
                x.error_code, x.next, x.timestamp, x.duration_ms, x.walls_json
         FROM executions x WHERE x.row = ?1",
    );
    let mut statement = source.conn.prepare_cached(&sql)?;
    let mut rows = statement.query([row_id])?;
    let Some(row) = rows.next()? else {
        return Err(EvidenceError::Unreadable { what: format!("row {row_id} of executions") });
    };
    let execution_id = queries::uuid(row, 0)?;
    let outcome: String = row.get(4)?;
    let outcome = Outcome::from_text(&outcome)
        .ok_or_else(|| EvidenceError::Unreadable { what: format!("the outcome {outcome:?}") })?;
    let mut result = StepResult {
        step_id: row.get(1)?,
        step_index: queries::size(row.get(2)?),
        tool_name: row.get(3)?,
        success: outcome == Outcome::Succeeded,
        outcome,
        execution_id,
        exit_code: row.get(5)?,
        stdout: None,
        stdout_bytes: 0,
        stdout_truncated: false,
        stderr: None,
        stderr_bytes: 0,
        stderr_truncated: false,
        error_message: row.get(6)?,
        error_code: code(row.get(7)?),
        next: row.get(8)?,
        timestamp_ms: row.get(9)?,
        duration_ms: row.get(10)?,
        diagnostic_artifacts: Vec::new(),
        needs: None,
        walls: queries::walls(row, 11)?,
        wall_notes: Vec::new(),
        refused_write: None,
    };
    for artifact in queries::artifacts(source, &execution_id.to_string())? {
        match artifact.artifact_type.as_str() {
            "stdout" => {
                let output = output(source, &result.tool_name, &artifact)?;
                result.stdout_truncated = output.truncated;
                result.stdout_bytes = artifact.bytes;
                result.stdout = Some(output.text);
            }
            "stderr" => {
                let output = output(source, &result.tool_name, &artifact)?;
                result.stderr_truncated = output.truncated;
                result.stderr_bytes = artifact.bytes;
                result.stderr = Some(output.text);
            }
            "step_context" => {
                let mut value = whole(source, &artifact)?;
                let mut field = |name: &str| value.get_mut(name).map(serde_json::Value::take);
                // Earlier versions wrote none of these; what cannot be read of them is no reason to lose the rest.
                result.needs = field("needs").and_then(|it| serde_json::from_value(it).ok());
                let notes = field("wall_notes").and_then(|it| serde_json::from_value(it).ok());
                result.wall_notes = notes.unwrap_or_default();
                result.refused_write =
                    field("refused_write").and_then(|it| serde_json::from_value(it).ok());
            }
            "diagnostics" => {
                let value = whole(source, &artifact)?;
                result.diagnostic_artifacts = serde_json::from_value(value).map_err(|error| {
                    EvidenceError::Unreadable { what: format!("diagnostics: {error}") }
                })?;
            }
            _ => {}
        }
    }
    Ok(result)
}

fn output(
    source: &Source<'_>,
    tool_name: &str,
    artifact: &ArtifactRecord,
) -> Result<StreamExcerpt> {
    let Some(digest) = &artifact.blob else {
        let text = artifact.content.as_str().unwrap_or_default();
        return Ok(StreamExcerpt::of(tool_name, text.as_bytes()));
    };
    // A file has a limit; what a program prints may be too large for memory.
    let excerpt = if tool_name == "file_read" {
        let whole = blobs::read(source.conn, source.vault, digest);
        whole.map(|bytes| bytes.map(|bytes| StreamExcerpt::of(tool_name, &bytes)))
    } else {
        let mut ends = StreamEnds::default();
        let push = |part: &[u8]| {
            ends.push(part);
            Ok(())
        };
        let found = blobs::read_each(source.conn, source.vault, digest, push);
        found.map(|found| found.then(|| ends.excerpt()))
    };
    match excerpt {
        Ok(Some(excerpt)) => Ok(excerpt),
        // Purged or sealed: the head is what there is, and it says that it is a part.
        Ok(None) | Err(EvidenceError::NotAvailable { .. }) => Ok(StreamExcerpt {
            text: head(artifact).to_owned(),
            bytes: artifact.bytes,
            truncated: true,
        }),
        Err(error) => Err(error),
    }
}

fn head(artifact: &ArtifactRecord) -> &str {
    artifact.content.get("head").and_then(Value::as_str).unwrap_or_default()
}

fn whole(source: &Source<'_>, artifact: &ArtifactRecord) -> Result<Value> {
    let Some(digest) = &artifact.blob else { return Ok(artifact.content.clone()) };
    let bytes = blobs::read(source.conn, source.vault, digest)?;
    Ok(bytes
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_else(|| Value::Array(Vec::new())))
}
