//! Answers Q1 to Q8 for a planner: a few rows of each, for one workspace (SPEC §8, §10). Evidence of other workspaces
//! is omitted, because the planner may not see it, and the same paths denote other files there.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::error::Result;
use super::queries::{EXECUTIONS, listed_rows};
use super::{EvidenceReader, Range};
use crate::run::{EdgeType, EvidenceSummary, Execution, Focus, ListedExecution, ToolCount};

/// The maximum number of rows of each answer.
const ROWS: usize = 20;
/// The maximum number each of codes, files and executions of a focus that are used.
const MAX_OF_FOCUS: usize = 10;
/// The maximum number of rows that a query reads before the rows of other workspaces are removed.
const MAX_ROWS_READ: usize = 2_000;

const RUNS: &str = "SELECT id FROM runs WHERE workspace = ?1";
const WITH_DIAGNOSTICS: &str = "SELECT x.id FROM executions AS x JOIN runs AS r ON r.id = x.run_id
    WHERE r.workspace = ?1 AND x.id IN (SELECT execution_id FROM diagnostics)";

impl EvidenceReader {
    /// The answers to Q1 to Q8 for one workspace, a few rows of each.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn summary(&mut self, workspace: &str, focus: &Focus) -> Result<EvidenceSummary> {
        let mut summary = EvidenceSummary { tools: self.tools(workspace)?, ..Default::default() };
        let mut cut = BTreeSet::new();
        if focus.codes.len().max(focus.files.len()).max(focus.executions.len()) > MAX_OF_FOCUS {
            cut.insert("focus");
        }
        let own = self.ids(RUNS, workspace)?;
        let is_own = |row: &Execution| own.contains(&row.run_id);
        let range = Range { limit: MAX_ROWS_READ, ..Range::default() };
        summary.q1 = self.latest(workspace, "")?;
        summary.q2 =
            self.latest(workspace, "AND x.outcome IN ('failed', 'precondition_failed')")?;
        for code in focus.codes.iter().take(MAX_OF_FOCUS) {
            summary.q3.extend(self.q3(code, range)?.into_iter().filter(|it| is_own(&it.row)));
            let later = self.q8(code, None, range)?;
            summary.q8.extend(later.into_iter().filter(|later| is_own(&later.listed.row)));
        }
        for file in focus.files.iter().take(MAX_OF_FOCUS) {
            let touched = self.q4(file, range)?;
            let touched = touched.into_iter().filter(|touched| is_own(&touched.listed.row));
            let touched: Vec<_> = touched.collect();
            let worked_on = touched.iter().rev().find(|touched| {
                touched
                    .edge_types
                    .iter()
                    .any(|edge| matches!(edge, EdgeType::ExecutedOn | EdgeType::Affected))
            });
            summary.q6.extend(worked_on.map(|touched| touched.listed.clone()));
            summary.q4.extend(touched);
        }
        for id in focus.executions.iter().take(MAX_OF_FOCUS) {
            summary.q5.extend(self.execution(*id)?);
        }
        let executions = self.ids(WITH_DIAGNOSTICS, workspace)?;
        summary.q7 = self.q7(2, range)?;
        for seen in &mut summary.q7 {
            seen.execution_ids.retain(|id| executions.contains(id));
        }
        // Executions in other workspaces do not count.
        summary.q7.retain(|seen| seen.execution_ids.len() > 1);
        summary.q3.sort_by_key(|it| (it.row.timestamp_ms, it.row.execution_id));
        summary.q4.sort_by_key(|it| (it.listed.row.timestamp_ms, it.listed.row.execution_id));
        summary.q8.sort_by_key(|it| (it.listed.row.timestamp_ms, it.listed.row.execution_id));
        keep_newest(&mut summary.q3, "q3", &mut cut);
        keep_newest(&mut summary.q4, "q4", &mut cut);
        keep_newest(&mut summary.q8, "q8", &mut cut);
        // For Q1 and Q2, one more row than is kept was read, which shows whether rows are cut.
        keep_first(&mut summary.q1, "q1", &mut cut);
        keep_first(&mut summary.q2, "q2", &mut cut);
        keep_first(&mut summary.q7, "q7", &mut cut);
        summary.q1.reverse();
        summary.cut = cut.into_iter().map(str::to_owned).collect();
        Ok(summary)
    }

    /// The latest executions of a workspace, newest first, at most one more than [`ROWS`]. `suffix` is a further
    /// condition.
    fn latest(&mut self, workspace: &str, suffix: &str) -> Result<Vec<ListedExecution>> {
        let sql = format!(
            "{EXECUTIONS} WHERE r.workspace = ?1 {suffix}
             ORDER BY x.timestamp DESC, x.row DESC LIMIT ?2"
        );
        let limit = Range { limit: ROWS + 1, ..Range::default() }.limit();
        self.query(|source| listed_rows(source, &sql, (workspace, limit)))
    }

    /// The tools that were used in a workspace, the latest first.
    fn tools(&mut self, workspace: &str) -> Result<Vec<ToolCount>> {
        let sql =
            "SELECT x.tool_name, count(*), sum(x.outcome IN ('failed', 'precondition_failed')),
                    max(x.timestamp)
             FROM executions AS x JOIN runs AS r ON r.id = x.run_id WHERE r.workspace = ?1
             GROUP BY x.tool_name ORDER BY max(x.timestamp) DESC, x.tool_name";
        self.query(|source| {
            source.all(sql, [workspace], |row| {
                Ok(ToolCount {
                    tool_name: row.get(0)?,
                    count: row.get::<_, i64>(1)?.unsigned_abs(),
                    failed: row.get::<_, i64>(2)?.unsigned_abs(),
                    last_ms: row.get(3)?,
                })
            })
        })
    }

    fn ids(&mut self, sql: &str, workspace: &str) -> Result<BTreeSet<Uuid>> {
        self.query(|source| {
            let ids = source.all(sql, [workspace], |row| Ok(row.get::<_, String>(0)?))?;
            Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
        })
    }
}

/// Keeps the last [`ROWS`] rows, which are the newest. `name` is added to `cut` if there are more.
fn keep_newest<T>(rows: &mut Vec<T>, name: &'static str, cut: &mut BTreeSet<&'static str>) {
    let older = rows.len().saturating_sub(ROWS);
    rows.drain(..older);
    cut.extend((older > 0).then_some(name));
}

/// Keeps the first [`ROWS`] rows. `name` is added to `cut` if there are more.
fn keep_first<T>(rows: &mut Vec<T>, name: &'static str, cut: &mut BTreeSet<&'static str>) {
    cut.extend((rows.len() > ROWS).then_some(name));
    rows.truncate(ROWS);
}
