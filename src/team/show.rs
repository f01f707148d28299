//! One execution in full, from its records on the server.

use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::connection::Connection;
use super::error::Result;
use super::rows::{Param, Row};
use super::search::{execution, is_linked};
use super::{Patience, Server, TeamError};
use crate::plan::{Digest, Mode};
use crate::run::{
    ArtifactRecord, DecidedBy, DecisionRecord, Edge, EdgeType, ExecutionDetail, RunFate, RunStatus,
    RunSummary, RunTally, TargetKind,
};

/// The maximum number of records of an execution that are read.
const RECORDS: usize = 50_000;

/// An execution on the server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TeamExecution {
    /// The execution.
    #[serde(flatten)]
    pub detail: ExecutionDetail,
    /// The evidence that it was pushed from.
    pub origin: String,
}

/// Reads the execution with this id, or the step with this id that has no execution, of each origin that has one.
///
/// # Errors
/// When the server cannot be used.
pub fn executions(server: &Server, id: Uuid, patience: Patience) -> Result<Vec<TeamExecution>> {
    let mut connection = Connection::open(server, patience)?;
    connection.run("BEGIN TRANSACTION READ ONLY", &[])?;
    let id = id.to_string();
    let mut origins = Vec::new();
    let sql = "SELECT x.origin FROM countersign.executions AS x WHERE x.id = $1::text
               UNION SELECT i.origin FROM countersign.intents AS i WHERE i.id = $1::text ORDER BY 1";
    connection.rows::<TeamError>(sql, &[Param::Text(Some(&id))], |row| {
        origins.push(row.owned(0));
        Ok(())
    })?;
    let mut found = Vec::new();
    for origin in origins {
        let records = records(&mut connection, &origin, &id)?;
        found.extend(
            detail(&mut connection, &records, &origin, &id)?
                .map(|detail| TeamExecution { detail, origin }),
        );
    }
    Ok(found)
}

/// The text with this digest, whichever computer pushed it; `None` if the server does not have it, or not this text.
///
/// # Errors
/// When the server cannot be used.
pub fn content(server: &Server, digest: &Digest, patience: Patience) -> Result<Option<String>> {
    let mut connection = Connection::open(server, patience)?;
    connection.run("BEGIN TRANSACTION READ ONLY", &[])?;
    let sql = "SELECT c.text FROM countersign.contents AS c WHERE c.digest = ($1::bytea[])[1]";
    let row = connection.first(sql, &[Param::BytesOf(vec![digest.as_bytes().as_slice()])])?;
    let text = row.map(|row| row.owned(0));
    Ok(text.filter(|text| Digest::of(text.as_bytes()) == *digest))
}

/// A record with its link.
struct Record {
    seq: i64,
    table: String,
    digest: Option<Digest>,
    columns: Value,
    is_linked: bool,
}

impl Record {
    fn of(row: &Row) -> Option<Self> {
        let entry = row.text(4)?;
        let record: Value = serde_json::from_str(entry).ok()?;
        let is_first = row.int(0) == Some(1);
        Some(Self {
            seq: row.int(0)?,
            table: row.owned(1),
            digest: row.bytes(2).and_then(|it| it.try_into().ok()).map(Digest::from_bytes),
            is_linked: is_linked(entry, is_first, row.bytes(3), row.bytes(2)),
            columns: record.get("columns")?.clone(),
        })
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.columns.get(name)?.as_str()
    }

    fn owned(&self, name: &str) -> String {
        self.text(name).unwrap_or_default().to_owned()
    }

    fn number(&self, name: &str) -> i64 {
        self.columns.get(name).and_then(Value::as_i64).unwrap_or_default()
    }
}

/// The records of an execution: its own, those that were written directly after it, the decisions about it, and its run with
/// the plan and the end.
fn records(connection: &mut Connection, origin: &str, id: &str) -> Result<Vec<Record>> {
    let sql = format!(
        "WITH own AS (
            SELECT x.sequence, x.run_id FROM countersign.executions AS x WHERE x.origin = $1::text AND x.id = $2::text
            UNION ALL
            SELECT i.sequence, i.run_id FROM countersign.intents AS i WHERE i.origin = $1::text AND i.id = $2::text),
         run AS (SELECT r.* FROM countersign.runs AS r
                 WHERE r.origin = $1::text AND r.id IN (SELECT own.run_id FROM own)),
         wanted AS (
            SELECT own.sequence FROM own
            UNION SELECT run.sequence FROM run
            UNION SELECT p.sequence FROM countersign.plans AS p JOIN run ON p.origin = run.origin AND p.id = run.plan_digest
            UNION SELECT e.sequence FROM countersign.run_ends AS e JOIN run ON e.origin = run.origin AND e.run_id = run.id
            UNION SELECT d.sequence FROM countersign.decisions AS d WHERE d.origin = $1::text AND (d.execution_id = $2::text
                  OR d.authorization_id IN (SELECT run.authorization_id FROM run))
            UNION SELECT l.sequence FROM countersign.executions AS x, LATERAL (
                SELECT min(n.sequence) AS sequence FROM (
                    SELECT min(e.sequence) FROM countersign.executions AS e WHERE e.origin = $1::text AND e.sequence > x.sequence
                    UNION ALL
                    SELECT min(i.sequence) FROM countersign.intents AS i WHERE i.origin = $1::text AND i.sequence > x.sequence
                ) AS n (sequence)) AS next, LATERAL (
                SELECT l.sequence FROM countersign.ledger AS l WHERE l.origin = $1::text AND l.sequence > x.sequence
                    AND (next.sequence IS NULL OR l.sequence < next.sequence)
                    AND l.table_name IN ('execution_artifacts', 'edges') ORDER BY l.sequence LIMIT {RECORDS}) AS l
                WHERE x.origin = $1::text AND x.id = $2::text)
         SELECT l.sequence, l.table_name, l.hash, p.hash, l.entry FROM countersign.ledger AS l
         LEFT JOIN countersign.ledger AS p ON p.origin = l.origin AND p.sequence = l.sequence - 1
         WHERE l.origin = $1::text AND l.sequence IN (SELECT wanted.sequence FROM wanted) ORDER BY l.sequence"
    );
    let mut records = Vec::new();
    connection.rows::<TeamError>(
        &sql,
        &[Param::Text(Some(origin)), Param::Text(Some(id))],
        |row| {
            records.extend(Record::of(&row));
            Ok(())
        },
    )?;
    Ok(records)
}

fn detail(
    connection: &mut Connection,
    records: &[Record],
    origin: &str,
    id: &str,
) -> Result<Option<ExecutionDetail>> {
    let of = |table: &'static str| records.iter().filter(move |it| it.table == table);
    let own = |table: &'static str| of(table).find(|it| it.text("id") == Some(id));
    let parts = |table: &'static str| of(table).filter(|it| it.text("execution_id") == Some(id));
    let intent = own("intents");
    let Some(record) = own("executions").or(intent) else { return Ok(None) };
    let Some(run) = of("runs").next() else { return Ok(None) };
    let Some(run) = summary(connection, records, run, origin)? else { return Ok(None) };
    let is_intent = record.table == "intents";
    let Some(row) = execution(&record.columns, run.plan_id.clone(), is_intent) else {
        return Ok(None);
    };
    let json = |text: Option<&str>| text.and_then(|it| serde_json::from_str(it).ok());
    let mut decisions: Vec<_> = of("decisions")
        .map(|it| DecisionRecord {
            decision: it.owned("decision"),
            by: DecidedBy {
                place: it.owned("decided_by"),
                user: it.text("user_name").map(str::to_owned),
            },
            note: it.owned("note"),
            timestamp_ms: it.number("timestamp"),
        })
        .collect();
    decisions.sort_by_key(|it| it.timestamp_ms);
    let changed = records.iter().filter(|it| !it.is_linked);
    Ok(Some(ExecutionDetail {
        arguments: json(record.text("arguments_json"))
            .and_then(|it| serde_json::from_value(it).ok())
            .unwrap_or_default(),
        artifacts: parts("execution_artifacts")
            .map(|it| ArtifactRecord {
                artifact_type: it.owned("artifact_type"),
                content: json(it.text("content_json")).unwrap_or_default(),
                bytes: it.number("bytes").unsigned_abs(),
                blob: it.text("blob").and_then(|it| it.parse().ok()),
            })
            .collect(),
        edges: parts("edges").filter_map(edge).collect(),
        decisions,
        // They are signed documents with keys of files on the computer that ran it, which the server does not have.
        signatures: Vec::new(),
        risk_rule: record.text("risk_rule").map(str::to_owned),
        risk_reason: record.text("risk_reason").map(str::to_owned),
        intent_at_ms: intent.map(|it| it.number("timestamp")),
        has_changes: false,
        ledger_seq: Some(record.seq),
        ledger_digest: record.digest,
        changed: changed
            .map(|it| format!("row {} of {} is not what was written", it.seq, it.table))
            .collect(),
        run,
        row,
    }))
}

fn edge(record: &Record) -> Option<Edge> {
    let (edge_type, kind) = (record.text("edge_type")?, record.text("target_kind")?);
    Some(Edge {
        edge_type: EdgeType::WORDS.iter().find(|(word, _)| *word == edge_type)?.1,
        target_kind: TargetKind::WORDS.iter().find(|(word, _)| *word == kind)?.1,
        target: record.owned("target"),
    })
}

/// The run of an execution.
fn summary(
    connection: &mut Connection,
    records: &[Record],
    run: &Record,
    origin: &str,
) -> Result<Option<RunSummary>> {
    let of = |table: &'static str| records.iter().find(move |it| it.table == table);
    let (plan, end) = (of("plans"), of("run_ends"));
    let run_id = run.owned("id");
    let sql = "SELECT count(*) FROM countersign.executions AS x WHERE x.origin = $1::text AND x.run_id = $2::text";
    let params = [Param::Text(Some(origin)), Param::Text(Some(&run_id))];
    let steps = connection.first(sql, &params)?.and_then(|row| row.int(0)).unwrap_or_default();
    let status = end.and_then(|it| it.text("status"));
    let status = status.and_then(|text| RunStatus::WORDS.iter().find(|(word, _)| *word == text));
    let mode = run.text("mode").and_then(|text| Mode::WORDS.iter().find(|(word, _)| *word == text));
    let size = |number: i64| usize::try_from(number).unwrap_or_default();
    let plan_id = run.owned("plan_id");
    let (Ok(id), Some(plan_digest)) =
        (run_id.parse(), run.text("plan_digest").and_then(|it| it.parse().ok()))
    else {
        return Ok(None);
    };
    Ok(Some(RunSummary {
        run_id: id,
        plan_name: plan.and_then(|it| it.text("title")).unwrap_or(&plan_id).to_owned(),
        plan_id,
        plan_digest,
        workspace: run.owned("workspace"),
        target: run.text("target").map(str::to_owned),
        mode: mode.map(|(_, mode)| *mode).unwrap_or_default(),
        parent_run: run.text("parent_run").and_then(|it| it.parse().ok()),
        step_count: plan.map_or(0, |it| size(it.number("step_count"))),
        steps_recorded: size(steps),
        started_at_ms: run.number("timestamp"),
        ended_at_ms: end.map(|it| it.number("timestamp")),
        fate: status.map_or(RunFate::Interrupted, |(_, status)| RunFate::Ended(*status)),
        tally: RunTally::default(),
        purged: None,
    }))
}
