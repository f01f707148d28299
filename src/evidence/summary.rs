//! Answers Q1 to Q8 for a planner: a few rows of each, for one workspace (SPEC §8, §10). Evidence of other workspaces
//! is omitted, because the planner may not see it, and the same paths denote other files there.

use std::collections::BTreeSet;

use super::diagnostics::HAS_CODE;
use super::error::Result;
use super::queries::{EXECUTIONS, HAS_FAILED, NEWEST_FIRST, WORKED_ON_FILE, has_touched, listed};
use super::rows::count;
use super::{EvidenceReader, Range};
use crate::run::{EvidenceSummary, Focus, ListedExecution, TargetKind, ToolCount};

/// The maximum number of rows of each answer.
const ROWS: usize = 20;
/// One more row than is kept shows whether rows are cut.
const ONE_MORE: Range = Range { since_ms: None, until_ms: None, limit: ROWS + 1 };
/// The maximum number each of codes, files and executions of a focus that are used.
const MAX_OF_FOCUS: usize = 10;
/// The maximum number of recurring diagnostics that are read before those of one execution are removed.
const MAX_RECURRING: usize = 2_000;

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
        summary.q1 = self.latest(workspace, "?1 IS NULL", None)?;
        summary.q2 = self.latest(workspace, &format!("?1 IS NULL AND {HAS_FAILED}"), None)?;
        for code in focus.codes.iter().take(MAX_OF_FOCUS) {
            summary.q3.extend(self.latest(workspace, HAS_CODE, Some(code))?);
            // Newest first; the changes of one code keep the order of their diagnostics when they are sorted.
            let later = self.later_mutations(code, None, ONE_MORE, Some(workspace))?;
            summary.q8.extend(later.into_iter().rev());
        }
        for file in focus.files.iter().take(MAX_OF_FOCUS) {
            let touched = self.latest(workspace, &has_touched(TargetKind::File), Some(file))?;
            summary.q4.extend(self.with_edge_types(touched, TargetKind::File, file)?);
            let worked_on = self.latest(workspace, WORKED_ON_FILE, Some(file))?;
            summary.q6.extend(worked_on.into_iter().next());
        }
        for id in focus.executions.iter().take(MAX_OF_FOCUS) {
            summary.q5.extend(self.execution(*id)?);
        }
        let range = Range { limit: MAX_RECURRING, ..Range::default() };
        summary.q7 = self.recurring(2, range, Some(workspace))?;
        // Several diagnostics of one execution are no recurrence.
        summary.q7.retain(|seen| seen.execution_ids.len() > 1);
        summary.q7.iter_mut().for_each(|seen| seen.over_time = None);
        summary.q3.sort_by_key(|it| (it.row.timestamp_ms, it.row.execution_id));
        summary.q4.sort_by_key(|it| (it.listed.row.timestamp_ms, it.listed.row.execution_id));
        summary.q8.sort_by_key(|it| (it.listed.row.timestamp_ms, it.listed.row.execution_id));
        keep_newest(&mut summary.q3, "q3", &mut cut);
        keep_newest(&mut summary.q4, "q4", &mut cut);
        keep_newest(&mut summary.q8, "q8", &mut cut);
        keep_first(&mut summary.q1, "q1", &mut cut);
        keep_first(&mut summary.q2, "q2", &mut cut);
        keep_first(&mut summary.q7, "q7", &mut cut);
        summary.q1.reverse();
        summary.cut = cut.into_iter().map(str::to_owned).collect();
        Ok(summary)
    }

    /// The latest executions of a workspace that meet a condition about the subject `?1`, newest first.
    fn latest(
        &mut self,
        workspace: &str,
        condition: &str,
        subject: Option<&str>,
    ) -> Result<Vec<ListedExecution>> {
        let sql = format!(
            "{EXECUTIONS} WHERE {condition} AND r.workspace = ?2 ORDER BY {NEWEST_FIRST} LIMIT ?3"
        );
        let params = (subject, workspace, ONE_MORE.limit());
        self.query(|source| source.all(&sql, params, |next| listed(source, next)))
    }

    /// The tools that were used in a workspace, the latest first.
    fn tools(&mut self, workspace: &str) -> Result<Vec<ToolCount>> {
        let sql = format!(
            "SELECT x.tool_name, count(*), sum({HAS_FAILED}), max(x.timestamp)
             FROM executions AS x JOIN runs AS r ON r.id = x.run_id WHERE r.workspace = ?1
             GROUP BY x.tool_name ORDER BY max(x.timestamp) DESC, x.tool_name"
        );
        self.query(|source| {
            source.all(&sql, [workspace], |row| {
                Ok(ToolCount {
                    tool_name: row.get(0)?,
                    count: count(row, 1)?,
                    failed: count(row, 2)?,
                    last_ms: row.get(3)?,
                })
            })
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
