//! Queries about runs, executions and files (SPEC §8): read-only, with a deterministic order. Q3, Q7 and Q8 are in
//! `diagnostics.rs`.

use std::collections::BTreeMap;

use rusqlite::Row;
use serde_json::Value;
use uuid::Uuid;

use super::error::Result;
use super::rows::{
    code, count, digest, json, optional, parse_word, size, unreadable, uuid, word, written_with,
};
use super::source::Source;
use super::{EvidenceReader, Range, SignaturesOf, changed, runs, signatures};
use crate::risk::RiskLevel;
use crate::run::{
    ArtifactRecord, DecidedBy, DecisionRecord, Edge, Execution, ExecutionDetail, FileExecution,
    Known, ListedExecution, RunFate, RunSummary, TargetKind,
};

impl EvidenceReader {
    /// The recorded risk of the steps of a run, by the index of the step, and the decisions about its authorization.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn verdicts_of_run(
        &mut self,
        run_id: Uuid,
    ) -> Result<(BTreeMap<usize, RiskLevel>, Vec<DecisionRecord>)> {
        self.query(|source| {
            let risks = source.all(
                "SELECT step_index, risk_level FROM executions WHERE run_id = ?1
                 UNION SELECT step_index, risk_level FROM intents WHERE run_id = ?1",
                [run_id.to_string()],
                |row| Ok((size(row, 0)?, parse_word::<RiskLevel>(&row.get::<_, String>(1)?))),
            )?;
            let risks = risks.into_iter().filter_map(|(index, risk)| Some((index, risk?)));
            Ok((risks.collect(), decisions(source, "", run_id)?))
        })
    }

    /// The exact bytes of the plan of a run; `None` if the run does not exist or they were purged.
    ///
    /// # Errors
    /// [`NotAvailable`](super::EvidenceError::NotAvailable) if they are encrypted with another key; otherwise as for
    /// [`runs`](Self::runs).
    pub fn plan_of_run(&mut self, run_id: Uuid) -> Result<Option<Vec<u8>>> {
        match self.run(run_id)? {
            Some(run) => self.blob(&run.plan_digest),
            None => Ok(None),
        }
    }

    /// Q1: executions of a tool, time ascending.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q1(&mut self, tool: &str, range: Range) -> Result<Vec<ListedExecution>> {
        self.executions("x.tool_name = ?1", tool, range, OLDEST_FIRST)
    }

    /// Q2: failed and precondition-failed executions of a tool, time descending.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q2(&mut self, tool: &str, range: Range) -> Result<Vec<ListedExecution>> {
        let condition = format!("x.tool_name = ?1 AND {HAS_FAILED}");
        self.executions(&condition, tool, range, "x.timestamp DESC, x.id")
    }

    /// Q4: executions whose tool was called and that have an edge to this file, time ascending.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q4(&mut self, file: &str, range: Range) -> Result<Vec<FileExecution>> {
        self.touched(TargetKind::File, file, range)
    }

    /// Q4 for a file or a symbol.
    pub(super) fn touched(
        &mut self,
        kind: TargetKind,
        target: &str,
        range: Range,
    ) -> Result<Vec<FileExecution>> {
        let found = self.executions(&has_touched(kind), target, range, OLDEST_FIRST)?;
        self.with_edge_types(found, kind, target)
    }

    /// The same executions, each with its edges to this file or symbol.
    pub(super) fn with_edge_types(
        &mut self,
        found: Vec<ListedExecution>,
        kind: TargetKind,
        target: &str,
    ) -> Result<Vec<FileExecution>> {
        let sql = format!(
            "SELECT DISTINCT g.edge_type FROM executions AS x JOIN edges AS g ON {}
             WHERE x.id = ?1 AND g.execution_id = x.id AND g.target = ?2 AND g.target_kind = ?3
             ORDER BY g.edge_type",
            written_with("g.id", "executions", "x.row")
        );
        let with_types = |source: &Source<'_>, listed: ListedExecution| -> Result<_> {
            let params = (listed.row.execution_id.to_string(), target, kind.as_str());
            let edge_types = source.all(&sql, params, |edge| word(edge, 0))?;
            Ok(FileExecution { listed, edge_types })
        };
        self.query(|source| found.into_iter().map(|listed| with_types(source, listed)).collect())
    }

    /// Q5: one execution, or one intent without execution, in full; `None` if there is neither.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn execution(&mut self, id: Uuid) -> Result<Option<ExecutionDetail>> {
        self.query(|source| execution(source, id))
    }

    /// As [`execution`](Self::execution), of this run, whose summary takes as long as the run has steps.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn execution_of(&mut self, run: &RunSummary, id: Uuid) -> Result<Option<ExecutionDetail>> {
        self.query(|source| {
            let row = execution_row(source, id)?.filter(|row| row.run_id == run.run_id);
            row.map(|row| detail(source, row, run.clone())).transpose()
        })
    }

    /// Q6: the latest execution that was executed on this file or changed it; `None` if there is none.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q6(&mut self, file: &str) -> Result<Option<ListedExecution>> {
        let range = Range { limit: 1, ..Range::default() };
        Ok(self.executions(WORKED_ON_FILE, file, range, NEWEST_FIRST)?.pop())
    }

    /// The executions that meet a condition about `?1`, in this order.
    pub(super) fn executions(
        &mut self,
        condition: &str,
        subject: &str,
        range: Range,
        order: &str,
    ) -> Result<Vec<ListedExecution>> {
        let sql = format!(
            "{EXECUTIONS} WHERE {condition} AND x.timestamp BETWEEN ?2 AND ?3
             ORDER BY {order} LIMIT ?4"
        );
        let params = (subject, range.since(), range.until(), range.limit());
        self.query(|source| source.all(&sql, params, |next| listed(source, next)))
    }
}

/// Orders of executions.
pub(super) const OLDEST_FIRST: &str = "x.timestamp, x.id";
pub(super) const NEWEST_FIRST: &str = "x.timestamp DESC, x.row DESC";

/// The condition of Q2.
pub(super) const HAS_FAILED: &str = "x.outcome IN ('failed', 'precondition_failed')";
/// The condition of Q6 about the file `?1`.
pub(super) const WORKED_ON_FILE: &str = "x.invoked = 1 AND x.id IN
    (SELECT execution_id FROM edges WHERE target = ?1 AND target_kind = 'file'
     AND edge_type IN ('EXECUTED_ON', 'AFFECTED'))";

/// The condition of Q4 about the target `?1`.
pub(super) fn has_touched(kind: TargetKind) -> String {
    format!(
        "x.invoked = 1 AND x.id IN
         (SELECT execution_id FROM edges WHERE target = ?1 AND target_kind = '{}')",
        kind.as_str()
    )
}

/// Selects the columns that [`row`] reads, from `executions AS x`.
pub(super) const EXECUTIONS: &str =
    "SELECT x.id, x.run_id, r.plan_id, x.step_id, x.step_index, x.tool_name,
    x.about, x.timestamp, x.duration_ms, x.outcome, x.risk_level, x.exit_code, x.error_code,
    x.error_message, x.walls_json
    FROM executions AS x JOIN runs AS r ON r.id = x.run_id";

/// Selects the same columns for intents without execution.
pub(super) const OPEN_INTENTS: &str =
    "SELECT x.id, x.run_id, r.plan_id, x.step_id, x.step_index, x.tool_name,
    x.about, x.timestamp, NULL, NULL, x.risk_level, NULL, NULL, NULL, x.walls_json
    FROM intents AS x JOIN runs AS r ON r.id = x.run_id
    WHERE NOT EXISTS (SELECT 1 FROM executions AS e WHERE e.id = x.id)";

/// Converts a row of [`EXECUTIONS`] or [`OPEN_INTENTS`].
fn row(source: &Source<'_>, row: &Row<'_>) -> Result<Execution> {
    let run_id = uuid(row, 1)?;
    let known = match optional(row, 9, word)? {
        Some(outcome) => Known::Outcome(outcome),
        None if runs::fate(source, run_id)?.0 == RunFate::Active => Known::Running,
        None => Known::Interrupted,
    };
    Ok(Execution {
        execution_id: uuid(row, 0)?,
        run_id,
        plan_id: row.get(2)?,
        step_id: row.get(3)?,
        step_index: size(row, 4)?,
        tool_name: row.get(5)?,
        about: row.get(6)?,
        timestamp_ms: row.get(7)?,
        duration_ms: row.get(8)?,
        known,
        risk: parse_word(&row.get::<_, String>(10)?),
        exit_code: row.get(11)?,
        error_code: code(row, 12)?,
        error_message: row.get(13)?,
        walls: optional(row, 14, json)?,
    })
}

/// The execution in a row of [`EXECUTIONS`] or [`OPEN_INTENTS`], with whether it was changed after it was written.
pub(super) fn listed(source: &Source<'_>, next: &Row<'_>) -> Result<ListedExecution> {
    let row = row(source, next)?;
    let changed = changed::is_changed_in_list(source.conn, row.execution_id)?;
    Ok(ListedExecution { row, changed })
}

/// One execution, or one intent without execution, as a row of a list.
pub(super) fn execution_row(source: &Source<'_>, id: Uuid) -> Result<Option<Execution>> {
    let find = |sql: &str| source.first(sql, [id.to_string()], |found| row(source, found));
    match find(&format!("{EXECUTIONS} WHERE x.id = ?1"))? {
        Some(found) => Ok(Some(found)),
        None => find(&format!("{OPEN_INTENTS} AND x.id = ?1")),
    }
}

/// The execution in this row, or the intent in it; that with its execution, if it was recorded since.
pub(super) fn execution_at(source: &Source<'_>, number: i64) -> Result<Option<Execution>> {
    let sql = format!("{EXECUTIONS} WHERE x.row = ?1");
    if let Some(found) = source.first(&sql, [number], |found| row(source, found))? {
        return Ok(Some(found));
    }
    let id = source.first("SELECT id FROM intents WHERE row = ?1", [number], |row| uuid(row, 0))?;
    id.map_or(Ok(None), |id| execution_row(source, id))
}

/// The answer to Q5.
fn execution(source: &Source<'_>, id: Uuid) -> Result<Option<ExecutionDetail>> {
    let Some(row) = execution_row(source, id)? else { return Ok(None) };
    let Some(run) = runs::run(source, row.run_id)? else { return Ok(None) };
    detail(source, row, run).map(Some)
}

/// Everything about the execution in a row of this run.
fn detail(source: &Source<'_>, row: Execution, run: RunSummary) -> Result<ExecutionDetail> {
    let id = row.execution_id;
    let text = id.to_string();
    let intent_at_ms =
        source
            .first("SELECT timestamp FROM intents WHERE id = ?1", [&text], |row| Ok(row.get(0)?))?;
    let ledger = source.first(
        "SELECT l.seq, l.digest FROM ledger AS l
         WHERE l.seq IN (SELECT row FROM executions WHERE id = ?1
                         UNION ALL SELECT row FROM intents WHERE id = ?1)
         ORDER BY l.seq DESC LIMIT 1",
        [&text],
        |row| Ok((row.get(0)?, digest(row, 1)?)),
    )?;
    let (ledger_seq, ledger_digest) = ledger.unzip();
    // An interrupted step has an intent only; an execution without effect has no intent.
    let risk = source.first(
        "SELECT risk_rule, risk_reason FROM executions WHERE id = ?1
         UNION ALL SELECT risk_rule, risk_reason FROM intents WHERE id = ?1 LIMIT 1",
        [&text],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let (risk_rule, risk_reason) = risk.unzip();
    let edges = format!(
        "SELECT g.edge_type, g.target_kind, g.target
         FROM executions AS x JOIN edges AS g ON {}
         WHERE x.id = ?1 AND g.execution_id = x.id ORDER BY g.id",
        written_with("g.id", "executions", "x.row")
    );
    Ok(ExecutionDetail {
        run,
        arguments: serde_json::from_value(arguments(source, &text)?).map_err(unreadable)?,
        artifacts: artifacts(source, &text)?,
        edges: source.all(&edges, [&text], |row| {
            Ok(Edge { edge_type: word(row, 0)?, target_kind: word(row, 1)?, target: row.get(2)? })
        })?,
        decisions: decisions(source, &text, row.run_id)?,
        signatures: signatures::read(source, SignaturesOf::Run(row.run_id))?,
        risk_rule,
        risk_reason,
        intent_at_ms,
        has_changes: has_changes(source, &text, row.known)?,
        ledger_seq,
        ledger_digest,
        changed: changed::of_execution(source.conn, id)?,
        row,
    })
}

/// Whether changes of files are recorded of an execution, or are predicted of an intent without execution.
fn has_changes(source: &Source<'_>, id: &str, known: Known) -> Result<bool> {
    let (table, phase) = match known {
        Known::Outcome(_) => ("executions", "actual"),
        Known::Interrupted | Known::Running => ("intents", "predicted"),
    };
    let sql = format!(
        "SELECT 1 FROM {table} AS x JOIN file_contents AS f ON {}
         WHERE x.id = ?1 AND f.execution_id = x.id AND f.phase = ?2 LIMIT 1",
        written_with("f.id", table, "x.row")
    );
    Ok(source.first(&sql, [id, phase], |_| Ok(()))?.is_some())
}

/// The arguments of an execution or intent, as JSON.
pub(super) fn arguments(source: &Source<'_>, id: &str) -> Result<Value> {
    let found = source.first(
        "SELECT arguments_json FROM executions WHERE id = ?1
         UNION ALL SELECT arguments_json FROM intents WHERE id = ?1 LIMIT 1",
        [id],
        |row| json(row, 0),
    )?;
    found.ok_or_else(|| unreadable(format!("the arguments of {id}")))
}

/// The artifacts of an execution, in the order in which they were recorded.
pub(super) fn artifacts(source: &Source<'_>, execution_id: &str) -> Result<Vec<ArtifactRecord>> {
    source.all(
        "SELECT artifact_type, content_json, bytes, blob FROM execution_artifacts
         WHERE execution_id = ?1 ORDER BY id",
        [execution_id],
        |row| {
            Ok(ArtifactRecord {
                artifact_type: row.get(0)?,
                content: json(row, 1)?,
                bytes: count(row, 2)?,
                blob: optional(row, 3, digest)?,
            })
        },
    )
}

/// The decisions about an execution and about the authorization of its run.
fn decisions(source: &Source<'_>, execution_id: &str, run_id: Uuid) -> Result<Vec<DecisionRecord>> {
    source.all(
        "SELECT decision, decided_by, user_name, note, timestamp FROM decisions
         WHERE execution_id = ?1 OR authorization_id =
               (SELECT authorization_id FROM runs WHERE id = ?2)
         ORDER BY timestamp, id",
        [execution_id, &run_id.to_string()],
        |row| {
            Ok(DecisionRecord {
                decision: row.get(0)?,
                by: DecidedBy { place: row.get(1)?, user: row.get(2)? },
                note: row.get(3)?,
                timestamp_ms: row.get(4)?,
            })
        },
    )
}

/// The complete JSON value of an artifact; an empty array if its blob was purged or is not JSON.
pub(super) fn full_content(source: &Source<'_>, artifact: &ArtifactRecord) -> Result<Value> {
    let Some(digest) = &artifact.blob else { return Ok(artifact.content.clone()) };
    let bytes = super::blobs::read(source.conn, source.vault, digest)?;
    Ok(bytes
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_else(|| Value::Array(Vec::new())))
}
