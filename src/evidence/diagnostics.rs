//! Queries about diagnostics: Q3, Q7 and Q8 (SPEC §8).

use super::error::Result;
use super::queries::{EXECUTIONS, OLDEST_FIRST, listed};
use super::rows::{count, uuid};
use super::{EvidenceReader, Range};
use crate::run::{LaterMutation, ListedExecution, OverTime, RecurringDiagnostic};

/// The number of columns that [`EXECUTIONS`] selects.
const COLUMNS: usize = 15;
/// The condition of Q3 about the code `?1`.
pub(super) const HAS_CODE: &str = "x.id IN (SELECT execution_id FROM diagnostics WHERE code = ?1)";

impl EvidenceReader {
    /// Q3: executions with a diagnostic of this code, time ascending.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q3(&mut self, code: &str, range: Range) -> Result<Vec<ListedExecution>> {
        self.executions(HAS_CODE, code, range, OLDEST_FIRST)
    }

    /// Q7: diagnostic codes that were recorded at least `threshold` times in the same file, most frequent first.
    /// A path names another file in each workspace.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q7(&mut self, threshold: u64, range: Range) -> Result<Vec<RecurringDiagnostic>> {
        self.recurring(threshold, range, None)
    }

    /// Q7, in one workspace or in all.
    pub(super) fn recurring(
        &mut self,
        threshold: u64,
        range: Range,
        workspace: Option<&str>,
    ) -> Result<Vec<RecurringDiagnostic>> {
        let found = "FROM diagnostics AS d JOIN executions AS x ON x.id = d.execution_id
             JOIN runs AS r ON r.id = x.run_id
             WHERE x.timestamp BETWEEN ?1 AND ?2 AND (?3 IS NULL OR r.workspace = ?3)";
        let groups = format!(
            "SELECT d.code, d.file_name, count(*), min(x.timestamp), max(x.timestamp), r.workspace
             {found} AND d.code IS NOT NULL
             GROUP BY d.code, d.file_name, r.workspace HAVING count(*) >= ?4
             ORDER BY count(*) DESC, d.code, d.file_name, r.workspace LIMIT ?5"
        );
        let executions = format!(
            "SELECT x.id, x.timestamp, count(*) {found} AND d.code = ?4 AND d.file_name = ?5
             GROUP BY x.id ORDER BY x.timestamp, x.id"
        );
        let (since, until) = (range.since(), range.until());
        let threshold = i64::try_from(threshold).unwrap_or(i64::MAX);
        self.query(|source| {
            let params = (since, until, workspace, threshold, range.limit());
            let mut times = Vec::new();
            let mut rows = source.all(&groups, params, |group| {
                let (code, file_name): (String, String) = (group.get(0)?, group.get(1)?);
                let workspace: String = group.get(5)?;
                let params = (since, until, &workspace, &code, &file_name);
                let seen = source.all(&executions, params, |found| {
                    Ok((uuid(found, 0)?, found.get::<_, i64>(1)?, count(found, 2)?))
                })?;
                let execution_ids = seen.iter().map(|(id, ..)| *id).collect();
                times
                    .push(seen.into_iter().map(|(_, at, number)| (at, number)).collect::<Vec<_>>());
                Ok(RecurringDiagnostic {
                    code,
                    file_name,
                    workspace,
                    count: count(group, 2)?,
                    first_seen_ms: group.get(3)?,
                    last_seen_ms: group.get(4)?,
                    execution_ids,
                    over_time: None,
                })
            })?;
            let first = rows.iter().map(|row| row.first_seen_ms).min().unwrap_or_default();
            let last = rows.iter().map(|row| row.last_seen_ms).max().unwrap_or_default();
            for (row, seen) in rows.iter_mut().zip(&times) {
                row.over_time = Some(OverTime::count(seen, first, last));
            }
            Ok(rows)
        })
    }

    /// Q8: executions that changed a file after a diagnostic in it was recorded, time ascending. Whether the diagnostic
    /// was the reason for the change is unknown.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q8(
        &mut self,
        code: &str,
        file: Option<&str>,
        range: Range,
    ) -> Result<Vec<LaterMutation>> {
        self.later_mutations(code, file, range, None)
    }

    /// Q8, in all workspaces, or in one with the time descending.
    pub(super) fn later_mutations(
        &mut self,
        code: &str,
        file: Option<&str>,
        range: Range,
        workspace: Option<&str>,
    ) -> Result<Vec<LaterMutation>> {
        let columns = EXECUTIONS.replacen(
            "x.walls_json",
            "x.walls_json, seen.id, seen.file_name, x.timestamp - seen.timestamp",
            1,
        );
        let order = match workspace {
            None => "x.timestamp, x.id, seen.timestamp, seen.id",
            Some(_) => "x.timestamp DESC, x.id DESC, seen.timestamp DESC, seen.id DESC",
        };
        let sql = format!(
            "{columns}
             JOIN edges AS g ON g.execution_id = x.id AND g.edge_type = 'AFFECTED'
                  AND g.target_kind = 'file'
             JOIN (SELECT DISTINCT e.id, e.row, e.timestamp, d.file_name, s.workspace
                   FROM diagnostics AS d JOIN executions AS e ON e.id = d.execution_id
                   JOIN runs AS s ON s.id = e.run_id WHERE d.code = ?1) AS seen
                  ON seen.file_name = g.target AND seen.workspace = r.workspace
             WHERE x.invoked = 1 AND (?2 IS NULL OR seen.file_name = ?2)
               AND (x.timestamp, x.row) > (seen.timestamp, seen.row)
               AND x.timestamp BETWEEN ?3 AND ?4
               AND (?5 IS NULL OR r.workspace = ?5)
             ORDER BY {order} LIMIT ?6"
        );
        let params = (code, file, range.since(), range.until(), workspace, range.limit());
        self.query(|source| {
            source.all(&sql, params, |next| {
                Ok(LaterMutation {
                    listed: listed(source, next)?,
                    diagnostic_execution_id: uuid(next, COLUMNS)?,
                    file_name: next.get(COLUMNS + 1)?,
                    after_ms: next.get(COLUMNS + 2)?,
                })
            })
        })
    }
}
