//! Questions about runs, executions and files (SPEC §8): read-only, in a deterministic order, ties by
//! id. The empty answer is an answer. Q3, Q7 and Q8 are in `diagnostics.rs`.

use std::borrow::Cow;

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension as _, Params, Row};
use serde_json::Value;
use uuid::Uuid;

use super::changed;
use super::error::{EvidenceError, Result};
use super::reader::Source;
use super::schema;
use crate::authorization::StepWalls;
use crate::plan::{Code, Digest};
use crate::run::{
    ArtifactRecord, DecisionRecord, EdgeRecord, ExecutionDetail, ExecutionRow, FileExecution,
    Known, Outcome, RunFate, RunStatus, RunSummary, TargetKind,
};

/// Which part of the answers; the default is all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// From this start of a step on, in Unix milliseconds.
    pub since_ms: Option<i64>,
    /// Up to and with this start of a step, in Unix milliseconds.
    pub until_ms: Option<i64>,
    /// At most this many; 0 means no limit.
    pub limit: usize,
}

impl Range {
    pub(super) fn since(self) -> i64 {
        self.since_ms.unwrap_or(i64::MIN)
    }

    pub(super) fn until(self) -> i64 {
        self.until_ms.unwrap_or(i64::MAX)
    }

    /// For SQL, where -1 is no limit.
    pub(super) fn limit(self) -> i64 {
        if self.limit == 0 { -1 } else { i64::try_from(self.limit).unwrap_or(-1) }
    }
}

/// The columns that [`row`] reads, of `executions AS x`.
pub(super) const EXECUTIONS: &str =
    "SELECT x.id, x.run_id, r.plan_id, x.step_id, x.step_index, x.tool_name,
    x.about, x.timestamp, x.duration_ms, x.outcome, x.risk_level, x.exit_code, x.error_code,
    x.error_message, x.walls_json
    FROM executions AS x JOIN runs AS r ON r.id = x.run_id";

/// The same of an intent that has no execution.
const OPEN_INTENTS: &str = "SELECT x.id, x.run_id, r.plan_id, x.step_id, x.step_index, x.tool_name,
    x.about, x.timestamp, NULL, NULL, x.risk_level, NULL, NULL, NULL, x.walls_json
    FROM intents AS x JOIN runs AS r ON r.id = x.run_id
    WHERE NOT EXISTS (SELECT 1 FROM executions AS e WHERE e.id = x.id)";

/// SQL: whether the row with the number `row` was written with the row of `table` whose number is
/// `parent`, or before the next one of that table.
pub(super) fn written_with(row: &str, table: &str, parent: &str) -> String {
    format!(
        "({row} > {parent} AND {row} < ifnull((SELECT min(following.row) FROM {table} AS following
                                       WHERE following.row > {parent}), {}))",
        i64::MAX
    )
}

pub(super) fn unreadable(what: impl std::fmt::Display) -> EvidenceError {
    EvidenceError::Unreadable { what: what.to_string() }
}

pub(super) fn uuid(row: &Row<'_>, column: usize) -> Result<Uuid> {
    let text: String = row.get(column)?;
    text.parse().map_err(|_| unreadable(format!("the id {text:?}")))
}

pub(super) fn optional_uuid(row: &Row<'_>, column: usize) -> Result<Option<Uuid>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => uuid(row, column).map(Some),
    }
}

pub(super) fn digest(text: &str) -> Result<Digest> {
    text.parse().map_err(unreadable)
}

pub(super) fn size(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default()
}

pub(super) fn row(source: &Source<'_>, row: &Row<'_>) -> Result<ExecutionRow> {
    let run_id = uuid(row, 1)?;
    let known = match row.get::<_, Option<String>>(9)? {
        Some(text) => Known::Outcome(
            Outcome::from_text(&text).ok_or_else(|| unreadable(format!("the outcome {text:?}")))?,
        ),
        None => match fate(source, run_id)? {
            RunFate::Active => Known::Running,
            RunFate::Ended(_) | RunFate::Interrupted => Known::Interrupted,
        },
    };
    let risk = row.get::<_, String>(10)?;
    Ok(ExecutionRow {
        execution_id: uuid(row, 0)?,
        run_id,
        plan_id: row.get(2)?,
        step_id: row.get(3)?,
        step_index: size(row.get(4)?),
        tool_name: row.get(5)?,
        about: row.get(6)?,
        timestamp_ms: row.get(7)?,
        duration_ms: row.get(8)?,
        known,
        risk: serde_json::from_value(risk.into()).ok(),
        exit_code: row.get(11)?,
        error_code: row.get::<_, Option<String>>(12)?.as_deref().and_then(Code::from_text),
        error_message: row.get(13)?,
        walls: walls(row, 14)?,
    })
}

/// The walls of an execution; none where they are not recorded.
pub(super) fn walls(row: &Row<'_>, column: usize) -> Result<Option<StepWalls>> {
    let text: Option<String> = row.get(column)?;
    text.map(|walls| serde_json::from_str(&walls).map_err(unreadable)).transpose()
}

/// The question without the columns that an older format does not have.
pub(super) fn readable<'s>(source: &Source<'_>, sql: &'s str) -> Cow<'s, str> {
    if source.format < schema::FORMAT_WITH_WALLS {
        Cow::Owned(sql.replace("x.walls_json", "NULL").replace("left_running_json", "NULL"))
    } else {
        Cow::Borrowed(sql)
    }
}

pub(super) fn rows(
    source: &Source<'_>,
    sql: &str,
    params: impl Params,
) -> Result<Vec<ExecutionRow>> {
    let mut statement = source.conn.prepare_cached(&readable(source, sql))?;
    let mut found = statement.query(params)?;
    let mut all = Vec::new();
    while let Some(next) = found.next()? {
        all.push(row(source, next)?);
    }
    Ok(all)
}

/// One execution, or one intent without execution, as a row of a list.
pub(super) fn execution_row(source: &Source<'_>, id: Uuid) -> Result<Option<ExecutionRow>> {
    let id = id.to_string();
    let found = rows(source, &format!("{EXECUTIONS} WHERE x.id = ?1"), [&id])?.pop();
    match found {
        Some(found) => Ok(Some(found)),
        None => Ok(rows(source, &format!("{OPEN_INTENTS} AND x.id = ?1"), [&id])?.pop()),
    }
}

fn fate(source: &Source<'_>, run_id: Uuid) -> Result<RunFate> {
    // The lock first: a run that ends between the two looks has an end then.
    let alive = source.is_alive(run_id);
    let status: Option<String> = source
        .conn
        .prepare_cached("SELECT status FROM run_ends WHERE run_id = ?1")?
        .query_row([run_id.to_string()], |row| row.get(0))
        .optional()?;
    Ok(match status {
        Some(text) => RunFate::Ended(
            RunStatus::from_text(&text)
                .ok_or_else(|| unreadable(format!("the status {text:?}")))?,
        ),
        None if alive => RunFate::Active,
        None => RunFate::Interrupted,
    })
}

/// The runs, newest first, or only the one with this id.
pub(super) fn runs(
    source: &Source<'_>,
    run_id: Option<Uuid>,
    limit: usize,
) -> Result<Vec<RunSummary>> {
    let mut statement = source.conn.prepare_cached(
        "SELECT r.id, r.plan_id, coalesce(p.title, r.plan_id), r.plan_digest, r.workspace,
                p.step_count, (SELECT count(*) FROM executions AS x WHERE x.run_id = r.id),
                r.timestamp, e.timestamp, r.parent_run, r.target
         FROM runs AS r JOIN plans AS p ON p.id = r.plan_digest
         LEFT JOIN run_ends AS e ON e.run_id = r.id
         WHERE ?1 IS NULL OR r.id = ?1
         ORDER BY r.timestamp DESC, r.id LIMIT ?2",
    )?;
    let id = run_id.map(|id| id.to_string());
    let mut found = statement.query((id, i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut all = Vec::new();
    while let Some(row) = found.next()? {
        let run_id = uuid(row, 0)?;
        all.push(RunSummary {
            run_id,
            plan_id: row.get(1)?,
            plan_name: row.get(2)?,
            plan_digest: digest(&row.get::<_, String>(3)?)?,
            workspace: row.get(4)?,
            target: row.get(10)?,
            parent_run: optional_uuid(row, 9)?,
            step_count: size(row.get(5)?),
            steps_recorded: size(row.get(6)?),
            started_at_ms: row.get(7)?,
            ended_at_ms: row.get(8)?,
            fate: fate(source, run_id)?,
        });
    }
    Ok(all)
}

pub(super) fn q1(source: &Source<'_>, tool: &str, range: Range) -> Result<Vec<ExecutionRow>> {
    rows(
        source,
        &format!(
            "{EXECUTIONS} WHERE x.tool_name = ?1 AND x.timestamp BETWEEN ?2 AND ?3
             ORDER BY x.timestamp, x.id LIMIT ?4"
        ),
        (tool, range.since(), range.until(), range.limit()),
    )
}

pub(super) fn q2(source: &Source<'_>, tool: &str, range: Range) -> Result<Vec<ExecutionRow>> {
    rows(
        source,
        &format!(
            "{EXECUTIONS} WHERE x.tool_name = ?1 AND x.timestamp BETWEEN ?2 AND ?3
             AND x.outcome IN ('failed', 'precondition_failed')
             ORDER BY x.timestamp DESC, x.id LIMIT ?4"
        ),
        (tool, range.since(), range.until(), range.limit()),
    )
}

/// Q4 of a file; the same of a symbol.
pub(super) fn q4(
    source: &Source<'_>,
    kind: TargetKind,
    target: &str,
    range: Range,
) -> Result<Vec<FileExecution>> {
    let found = rows(
        source,
        &format!(
            "{EXECUTIONS} WHERE x.invoked = 1 AND x.timestamp BETWEEN ?2 AND ?3 AND x.id IN
             (SELECT execution_id FROM edges WHERE target = ?1 AND target_kind = ?5)
             ORDER BY x.timestamp, x.id LIMIT ?4"
        ),
        (target, range.since(), range.until(), range.limit(), kind.as_str()),
    )?;
    let mut edges = source.conn.prepare_cached(&format!(
        "SELECT DISTINCT g.edge_type FROM executions AS x JOIN edges AS g ON {}
         WHERE x.id = ?1 AND g.execution_id = x.id AND g.target = ?2 AND g.target_kind = ?3
         ORDER BY g.edge_type",
        written_with("g.id", "executions", "x.row")
    ))?;
    found
        .into_iter()
        .map(|row| {
            let edge_types = edges
                .query_map((row.execution_id.to_string(), target, kind.as_str()), |edge| {
                    edge.get(0)
                })?
                .collect::<Result<_, _>>()?;
            Ok(FileExecution { row, edge_types })
        })
        .collect()
}

pub(super) fn q6(source: &Source<'_>, file: &str) -> Result<Option<ExecutionRow>> {
    let mut found = rows(
        source,
        &format!(
            "{EXECUTIONS} WHERE x.invoked = 1 AND x.id IN
             (SELECT execution_id FROM edges WHERE target = ?1 AND target_kind = 'file'
              AND edge_type IN ('EXECUTED_ON', 'AFFECTED'))
             ORDER BY x.timestamp DESC, x.row DESC LIMIT 1"
        ),
        [file],
    )?;
    Ok(found.pop())
}

/// Q5.
pub(super) fn execution(source: &Source<'_>, id: Uuid) -> Result<Option<ExecutionDetail>> {
    let Some(row) = execution_row(source, id)? else { return Ok(None) };
    let Some(run) = runs(source, Some(row.run_id), 1)?.pop() else { return Ok(None) };
    let (conn, text) = (source.conn, id.to_string());
    let intent_at_ms = conn
        .prepare_cached("SELECT timestamp FROM intents WHERE id = ?1")?
        .query_row([&text], |row| row.get(0))
        .optional()?;
    let ledger: Option<(i64, String)> = conn
        .prepare_cached(
            "SELECT l.seq, l.digest FROM ledger AS l
             WHERE l.seq IN (SELECT row FROM executions WHERE id = ?1
                             UNION ALL SELECT row FROM intents WHERE id = ?1)
             ORDER BY l.seq DESC LIMIT 1",
        )?
        .query_row([&text], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (ledger_seq, ledger_digest) = ledger.unzip();
    Ok(Some(ExecutionDetail {
        run,
        arguments: serde_json::from_value(arguments(source, &text)?).map_err(unreadable)?,
        artifacts: artifacts(source, &text)?,
        edges: conn
            .prepare_cached(&format!(
                "SELECT g.edge_type, g.target_kind, g.target
                 FROM executions AS x JOIN edges AS g ON {}
                 WHERE x.id = ?1 AND g.execution_id = x.id ORDER BY g.id",
                written_with("g.id", "executions", "x.row")
            ))?
            .query_map([&text], |row| {
                Ok(EdgeRecord {
                    edge_type: row.get(0)?,
                    target_kind: row.get(1)?,
                    target: row.get(2)?,
                })
            })?
            .collect::<Result<_, _>>()?,
        decisions: decisions(source, &text, row.run_id)?,
        intent_at_ms,
        ledger_seq,
        ledger_digest: ledger_digest.as_deref().map(digest).transpose()?,
        changed: changed::of_execution(conn, id)?,
        row,
    }))
}

/// The arguments of an execution or intent, as JSON.
pub(super) fn arguments(source: &Source<'_>, id: &str) -> Result<Value> {
    let arguments: String = source
        .conn
        .prepare_cached(
            "SELECT arguments_json FROM executions WHERE id = ?1
             UNION ALL SELECT arguments_json FROM intents WHERE id = ?1 LIMIT 1",
        )?
        .query_row([id], |row| row.get(0))?;
    serde_json::from_str(&arguments).map_err(unreadable)
}

/// The artifacts of an execution, in the order in which they were recorded.
pub(super) fn artifacts(source: &Source<'_>, execution_id: &str) -> Result<Vec<ArtifactRecord>> {
    let mut statement = source.conn.prepare_cached(
        "SELECT artifact_type, content_json, bytes, blob FROM execution_artifacts
         WHERE execution_id = ?1 ORDER BY id",
    )?;
    let mut found = statement.query([execution_id])?;
    let mut all = Vec::new();
    while let Some(row) = found.next()? {
        all.push(ArtifactRecord {
            artifact_type: row.get(0)?,
            content: serde_json::from_str(&row.get::<_, String>(1)?).map_err(unreadable)?,
            bytes: row.get::<_, i64>(2)?.unsigned_abs(),
            blob: row.get::<_, Option<String>>(3)?.as_deref().map(digest).transpose()?,
        });
    }
    Ok(all)
}

/// What was decided about a step, and the authorization of its run.
fn decisions(source: &Source<'_>, execution_id: &str, run_id: Uuid) -> Result<Vec<DecisionRecord>> {
    Ok(source
        .conn
        .prepare_cached(
            "SELECT decision, decided_by, user_name, note, timestamp FROM decisions
             WHERE execution_id = ?1 OR authorization_id =
                   (SELECT authorization_id FROM runs WHERE id = ?2)
             ORDER BY timestamp, id",
        )?
        .query_map([execution_id, &run_id.to_string()], |row| {
            let (by, user): (String, Option<String>) = (row.get(1)?, row.get(2)?);
            Ok(DecisionRecord {
                decision: row.get(0)?,
                by: match user {
                    Some(user) => format!("{by} ({user})"),
                    None => by,
                },
                note: row.get(3)?,
                timestamp_ms: row.get(4)?,
            })
        })?
        .collect::<Result<_, _>>()?)
}
