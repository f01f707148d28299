//! Selects runs and their steps for an export (SPEC §14), page by page and by row number, so that memory does not grow
//! with the number of executions.

use rusqlite::params_from_iter;
use rusqlite::types::Value as SqlValue;
use uuid::Uuid;

use super::error::Result;
use super::rows::{count, parse_word, uuid, written_with};
use super::{EvidenceError, EvidenceReader, runs};
use crate::run::{Known, Outcome, RunFate, SearchQuery};

/// A step that a selection found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedStep {
    /// The number of its row, by which the next page begins.
    pub row: i64,
    /// The execution.
    pub execution_id: Uuid,
    /// The tool.
    pub tool_name: String,
    /// The outcome, as in `evidence search --outcome`.
    pub outcome: String,
    /// The step in its plan.
    pub step_id: String,
    /// When it began, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// How long its tool took, in milliseconds; `None` as for [`took_ms`](crate::run::took_ms).
    pub took_ms: Option<i64>,
}

impl EvidenceReader {
    /// Reads everything in `read` from the evidence as it is now, whatever is recorded meanwhile.
    ///
    /// # Errors
    /// When the evidence cannot be read, and errors of `read`.
    pub fn in_snapshot<T, E: From<EvidenceError>>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let run = |reader: &mut Self, sql: &str| {
            reader.query(|source| Ok(source.conn.execute_batch(sql)?))
        };
        run(self, "BEGIN")?;
        let result = read(self);
        let ended = run(self, "COMMIT");
        let value = result?;
        ended?;
        Ok(value)
    }

    /// The first run after row number `after` that meets the filters about runs, with its own number: the run, the
    /// loop and the plan.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn next_selected_run(
        &mut self,
        query: &SearchQuery,
        after: i64,
    ) -> Result<Option<(i64, Uuid)>> {
        let mut filter = Filter::default();
        filter.add("r.row > ?", Some(after.into()));
        filter.add("r.id = ?", query.run_id.map(|id| id.to_string().into()));
        filter.add(
            "r.attempt_id IN (SELECT a.id FROM attempts AS a WHERE a.loop_id = ?)",
            query.loop_id.map(|id| id.to_string().into()),
        );
        filter.add("r.plan_id = ?", text(&query.plan_id));
        let sql = format!(
            "SELECT r.row, r.id FROM runs AS r WHERE {} ORDER BY r.row LIMIT 1",
            filter.condition()
        );
        self.query(|source| {
            source.first(&sql, params_from_iter(filter.values), |row| {
                Ok((row.get(0)?, uuid(row, 1)?))
            })
        })
    }

    /// The next steps of a run after row number `after` that meet the filters about steps, in the order of recording. A
    /// step without an outcome is found by its intent.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn selected_steps(
        &mut self,
        query: &SearchQuery,
        run_id: Uuid,
        after: i64,
        limit: usize,
    ) -> Result<Vec<SelectedStep>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.query(|source| {
            let open = match runs::fate(source, run_id)?.0 {
                RunFate::Active => Known::Running,
                _ => Known::Interrupted,
            };
            let mut filter = Filter::default();
            let parts = [
                filter.of_steps(query, run_id, after, "executions", "x.outcome"),
                filter.of_steps(query, run_id, after, "intents", &format!("'{}'", open.as_str())),
            ];
            let sql = format!("{} ORDER BY 1 LIMIT {limit}", parts.join(" UNION ALL "));
            source.all(&sql, params_from_iter(filter.values), |row| {
                let outcome: String = row.get(3)?;
                let took: Option<i64> = row.get(6)?;
                let took = took.zip(parse_word::<Outcome>(&outcome));
                Ok(SelectedStep {
                    row: row.get(0)?,
                    execution_id: uuid(row, 1)?,
                    tool_name: row.get(2)?,
                    outcome,
                    step_id: row.get(4)?,
                    timestamp_ms: row.get(5)?,
                    took_ms: took.and_then(|(ms, outcome)| outcome.took(ms)),
                })
            })
        })
    }
}

impl EvidenceReader {
    /// The diagnostics with a code of these executions, each once for its code and file.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn diagnostics_of(&mut self, executions: &[Uuid]) -> Result<Vec<SelectedDiagnostic>> {
        let ids: Vec<_> = executions.iter().map(Uuid::to_string).collect();
        let sql = "SELECT d.execution_id, d.code, d.file_name, count(*) FROM diagnostics AS d
             WHERE d.execution_id IN (SELECT value FROM json_each(?1)) AND d.code IS NOT NULL
             GROUP BY d.execution_id, d.code, d.file_name
             ORDER BY d.execution_id, d.code, d.file_name";
        self.query(|source| {
            source.all(sql, [serde_json::json!(ids).to_string()], |row| {
                Ok(SelectedDiagnostic {
                    execution_id: uuid(row, 0)?,
                    code: row.get(1)?,
                    file_name: row.get(2)?,
                    count: count(row, 3)?,
                })
            })
        })
    }
}

/// How often an execution has a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedDiagnostic {
    /// The execution.
    pub execution_id: Uuid,
    /// The code of the diagnostic.
    pub code: String,
    /// The file; empty if it is about none.
    pub file_name: String,
    /// How often it was reported.
    pub count: u64,
}

/// Conditions of a query with their values.
#[derive(Default)]
struct Filter {
    conditions: Vec<String>,
    values: Vec<SqlValue>,
}

impl Filter {
    /// Adds a condition, with the value in place of each `?`, if there is a value.
    fn add(&mut self, condition: &str, value: Option<SqlValue>) {
        if let Some(value) = value {
            self.values.push(value);
            self.conditions.push(condition.replace('?', &format!("?{}", self.values.len())));
        }
    }

    /// All conditions so far, which the next query does not have.
    fn condition(&mut self) -> String {
        std::mem::take(&mut self.conditions).join(" AND ")
    }

    /// A query of the steps of a run in `table`: of `executions`, or of `intents` without execution.
    fn of_steps(
        &mut self,
        query: &SearchQuery,
        run_id: Uuid,
        after: i64,
        table: &str,
        outcome: &str,
    ) -> String {
        let has_outcome = table == "executions";
        self.add("x.run_id = ?", Some(run_id.to_string().into()));
        self.add("x.row > ?", Some(after.into()));
        if !has_outcome {
            let open = "NOT EXISTS (SELECT 1 FROM executions AS e WHERE e.id = x.id)";
            self.conditions.push(open.to_owned());
        }
        self.add("x.tool_name = ?", text(&query.tool));
        self.add(&format!("{outcome} = ?"), text(&query.outcome));
        self.add("x.risk_level = ?", text(&query.risk));
        self.add("x.host = ?", text(&query.host));
        let edges = |condition: &str| {
            let rows = written_with("g.id", "executions", "x.row");
            format!(
                "EXISTS (SELECT 1 FROM edges AS g WHERE {rows} AND g.execution_id = x.id
                         AND {condition})"
            )
        };
        // The contents of files stand behind the intent and behind the execution.
        let contents = |table: &str| {
            let rows = written_with("f.id", table, "o.row");
            format!(
                "EXISTS (SELECT 1 FROM {table} AS o JOIN file_contents AS f ON {rows}
                         WHERE o.id = x.id AND f.execution_id = x.id AND instr(f.path, ?) > 0)"
            )
        };
        let touched = format!(
            "({} OR {} OR {})",
            edges("g.target_kind = 'file' AND instr(g.target, ?) > 0"),
            contents("executions"),
            contents("intents")
        );
        self.add(&touched, text(&query.path));
        let wrote = "g.target_kind = 'file' AND g.edge_type = 'AFFECTED'
                     AND (? = '*' OR instr(g.target, ?) > 0)";
        self.add(&edges(wrote), text(&query.wrote));
        let code = if has_outcome { "x.error_code" } else { "NULL" };
        let codes = format!(
            "({code} = ? COLLATE NOCASE
              OR EXISTS (SELECT 1 FROM diagnostics AS d
                         WHERE d.execution_id = x.id AND d.code = ? COLLATE NOCASE)
              OR {})",
            edges("g.target_kind = 'diagnostic' AND g.target = ? COLLATE NOCASE")
        );
        self.add(&codes, text(&query.code));
        self.add("x.timestamp >= ?", query.since_ms.map(SqlValue::from));
        self.add("x.timestamp <= ?", query.until_ms.map(SqlValue::from));
        let duration = if has_outcome { "x.duration_ms" } else { "NULL" };
        format!(
            "SELECT x.row, x.id, x.tool_name, {outcome}, x.step_id, x.timestamp, {duration}
             FROM {table} AS x WHERE {}",
            self.condition()
        )
    }
}

fn text(value: &Option<String>) -> Option<SqlValue> {
    value.as_ref().map(|text| text.clone().into())
}
