//! Rebuilds the events of a run from its rows (SPEC §3), so that live and recorded runs are displayed by the same
//! code.
//!
//! Two kinds of events are omitted: chunks of output, because the results contain the output, and requests for
//! decisions, because the decisions are events.

mod fleet;
mod host;
mod output;

use std::collections::BTreeMap;

use rusqlite::Row;
use uuid::Uuid;

use super::error::Result;
use super::queries::full_content;
use super::rows::{code, json, optional, parse_word, size, unreadable, uuid, word};
use super::source::Source;
use super::{EvidenceReader, queries, runs};
use crate::plan::Code;
use crate::run::{
    Answer, AnsweredBy, Attempt, Control, Decision, Failure, Outcome, RunEnding, RunEvent,
    RunStatus, StepResult,
};
use output::output;

impl EvidenceReader {
    /// The events of a run, rebuilt from its rows; empty if there is no such run.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn replay(&mut self, run_id: Uuid) -> Result<Vec<RunEvent>> {
        self.query(|source| events(source, run_id))
    }

    /// The attempt of a bounded loop to which a run belongs, as the run of its plan or as the loop's own
    /// verification; `None` for every other run.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn attempt_of(&mut self, run_id: Uuid) -> Result<Option<Attempt>> {
        let sql =
            "SELECT a.loop_id, a.attempt FROM runs AS r JOIN attempts AS a ON a.id = r.attempt_id
                   WHERE r.id = ?1";
        self.query(|source| {
            source.first(sql, [run_id.to_string()], |row| {
                Ok(Attempt { loop_id: uuid(row, 0)?, number: row.get(1)? })
            })
        })
    }
}

/// The rows of one run in the order in which they were written, with the step of each.
const ROWS: &str = "
    SELECT row, 'intents', step_index FROM intents WHERE run_id = ?1
    UNION ALL SELECT row, 'executions', step_index FROM executions WHERE run_id = ?1
    UNION ALL SELECT id, 'decisions', step_index FROM decisions WHERE run_id = ?1
    UNION ALL SELECT id, 'run_ends', NULL FROM run_ends WHERE run_id = ?1
    ORDER BY 1";

/// The events of this run; empty if there is no such run.
pub(super) fn events(source: &Source<'_>, run_id: Uuid) -> Result<Vec<RunEvent>> {
    let Some(run) = runs::run(source, run_id)? else { return Ok(Vec::new()) };
    let mut events = vec![RunEvent::RunStarted {
        run_id,
        plan_id: run.plan_id,
        step_count: run.step_count,
        timestamp_ms: run.started_at_ms,
    }];
    if run.target.is_some()
        && let Some(host) = host::reached(source, run_id)?
    {
        events.push(RunEvent::HostReached { host: Box::new(host) });
    }
    let hosts = fleet::hosts(source, run_id, run.target.as_deref())?;
    if !hosts.is_empty() {
        events.push(RunEvent::HostsKnown { hosts });
    }
    let mut starts = starts(source, run_id)?;
    // The notes of the decisions about steps, by index.
    let mut notes = BTreeMap::new();
    source.all(ROWS, [run_id.to_string()], |row| {
        let (id, table, step): (i64, String, Option<i64>) = row.try_into()?;
        // The event for the start of a step precedes the events of its first row.
        events.extend(step.and_then(|index| starts.remove(&index)));
        match table.as_str() {
            "intents" => {}
            "executions" if fleet::is_of_host(source, id, run.target.as_deref())? => {
                let result = Box::new(fleet::result(source, id)?);
                events.push(RunEvent::HostEnded { result });
            }
            "executions" => {
                let mut result = step_result(source, id)?;
                let note = step.and_then(|index| notes.remove(&index));
                result.note = result.outcome.words_of(note.as_deref());
                events.push(RunEvent::step_ended(Box::new(result), note));
            }
            "decisions" => {
                let (note, decision_events) = decision(source, id)?;
                notes.extend(step.map(|index| (index, note)));
                events.extend(decision_events);
            }
            _ => events.extend(run_end(source, id)?),
        }
        Ok(())
    })?;
    Ok(events)
}

/// The event for the start of each step, by the step's index.
fn starts(source: &Source<'_>, run_id: Uuid) -> Result<BTreeMap<i64, RunEvent>> {
    let starts = source.all(
        "SELECT step_index, step_id, tool_name, about, timestamp FROM executions WHERE run_id = ?1
         UNION ALL
         SELECT step_index, step_id, tool_name, about, timestamp FROM intents WHERE run_id = ?1",
        [run_id.to_string()],
        |row| {
            let event = RunEvent::StepStarted {
                step_id: row.get(1)?,
                step_index: size(row, 0)?,
                tool_name: row.get(2)?,
                about: row.get(3)?,
                timestamp_ms: row.get(4)?,
            };
            Ok((row.get(0)?, event))
        },
    )?;
    Ok(starts.into_iter().collect())
}

/// The note of a decision, and its events.
fn decision(source: &Source<'_>, id: i64) -> Result<(String, Vec<RunEvent>)> {
    type Columns = (Option<String>, String, String, String);
    let sql = "SELECT step_id, decision, decided_by, note FROM decisions WHERE id = ?1";
    let found: Option<Columns> = source.first(sql, [id], |row| Ok(row.try_into()?))?;
    let Some((step_id, word, by, note)) = found else { return Ok(Default::default()) };
    let mut events = Vec::new();
    if let (Some(decision), Some(step_id)) = (parse_word::<Decision>(&word), step_id) {
        let by = parse_word(&by).unwrap_or(AnsweredBy::Window);
        let answer = Answer { decision, by, note: note.clone() };
        events.push(RunEvent::ConfirmationDecided { step_id, answer });
    }
    if let Some(control) = parse_word(&word) {
        events.push(RunEvent::ControlRequested { control });
        match control {
            Control::Pause => events.push(RunEvent::Paused),
            Control::Resume => events.push(RunEvent::Resumed),
            _ => {}
        }
    }
    Ok((note, events))
}

fn run_end(source: &Source<'_>, id: i64) -> Result<Vec<RunEvent>> {
    let events = source.first(
        "SELECT status, error_code, error_message, next, cancelled_by, completed_steps,
                left_running_json
         FROM run_ends WHERE id = ?1",
        [id],
        |row| {
            let left_running = optional(row, 6, json)?.unwrap_or_default();
            Ok(RunEvent::run_ended(ending(row)?, size(row, 5)?, left_running))
        },
    )?;
    Ok(events.unwrap_or_default())
}

fn ending(row: &Row<'_>) -> Result<RunEnding> {
    Ok(match word(row, 0)? {
        RunStatus::Completed => RunEnding::Completed,
        RunStatus::Failed => RunEnding::Failed(Failure {
            code: code(row, 1)?.unwrap_or(Code::EvidenceStore),
            message: row.get::<_, Option<String>>(2)?.unwrap_or_default(),
            next: row.get::<_, Option<String>>(3)?.unwrap_or_default(),
        }),
        RunStatus::Cancelled => {
            let by: Option<String> = row.get(4)?;
            RunEnding::Cancelled(by.as_deref().and_then(parse_word).unwrap_or(Control::StopNow))
        }
    })
}

/// The result of a step, from its rows.
fn step_result(source: &Source<'_>, row_id: i64) -> Result<StepResult> {
    let result = source.first(
        "SELECT x.id, x.step_id, x.step_index, x.tool_name, x.outcome, x.exit_code, x.error_message,
                x.error_code, x.next, x.timestamp, x.duration_ms, x.walls_json
         FROM executions x WHERE x.row = ?1",
        [row_id],
        |row| {
            let outcome = word(row, 4)?;
            Ok(StepResult {
                step_id: row.get(1)?,
                step_index: size(row, 2)?,
                tool_name: row.get(3)?,
                success: outcome == Outcome::Succeeded,
                outcome,
                execution_id: uuid(row, 0)?,
                exit_code: row.get(5)?,
                terminal: false,
                stdout: None,
                stdout_bytes: 0,
                stdout_truncated: false,
                stderr: None,
                stderr_bytes: 0,
                stderr_truncated: false,
                error_message: row.get(6)?,
                error_code: code(row, 7)?,
                next: row.get(8)?,
                timestamp_ms: row.get(9)?,
                duration_ms: row.get(10)?,
                diagnostic_artifacts: Vec::new(),
                needs: None,
                walls: optional(row, 11, json)?,
                wall_notes: Vec::new(),
                refused: false,
                refused_write: None,
                note: String::new(),
            })
        },
    )?;
    let missing = || unreadable(format!("row {row_id} of executions"));
    let mut result = result.ok_or_else(missing)?;
    for artifact in queries::artifacts(source, &result.execution_id.to_string())? {
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
                let mut value = full_content(source, &artifact)?;
                let mut field = |name: &str| value.get_mut(name).map(serde_json::Value::take);
                // Earlier versions did not write these fields. A field that cannot be read is omitted, so that the
                // other fields are not lost.
                result.needs = field("needs").and_then(|it| serde_json::from_value(it).ok());
                let notes = field("wall_notes").and_then(|it| serde_json::from_value(it).ok());
                result.wall_notes = notes.unwrap_or_default();
                result.terminal =
                    field("terminal").is_some_and(|it| it == true) || had_terminal(&result);
                result.refused = field("refused").is_some_and(|it| it == true);
                result.refused_write =
                    field("refused_write").and_then(|it| serde_json::from_value(it).ok());
            }
            "diagnostics" => {
                let value = full_content(source, &artifact)?;
                result.diagnostic_artifacts = serde_json::from_value(value)
                    .map_err(|error| unreadable(format!("diagnostics: {error}")))?;
            }
            _ => {}
        }
    }
    Ok(result)
}

/// Whether the step of an earlier version ran in a terminal, as far as its record tells.
fn had_terminal(result: &StepResult) -> bool {
    result.exit_code.is_some()
        && (result.needs.as_ref().is_some_and(|needs| needs.terminal)
            || result.walls.as_ref().is_some_and(|walls| walls.terminal))
}
