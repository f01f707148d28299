//! Queries about diagnostics: Q3, Q7 and Q8 (SPEC §8).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use uuid::Uuid;

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
        let found = "SELECT d.code, d.file_name, r.workspace, x.timestamp, x.id, count(*)
             FROM diagnostics AS d JOIN executions AS x ON x.id = d.execution_id
             JOIN runs AS r ON r.id = x.run_id
             -- Few of them recur, so most need not be looked up.
             WHERE (d.code, d.file_name) IN (SELECT code, file_name FROM diagnostics
                 WHERE code IS NOT NULL GROUP BY code, file_name HAVING count(*) >= ?4)
               AND x.timestamp BETWEEN ?1 AND ?2 AND (?3 IS NULL OR r.workspace = ?3)
             GROUP BY d.code, d.file_name, r.workspace, x.id";
        let least = i64::try_from(threshold).unwrap_or(i64::MAX);
        let params = (range.since(), range.until(), workspace, least);
        self.query(|source| {
            let mut groups: BTreeMap<[String; 3], Vec<(i64, Uuid, u64)>> = BTreeMap::new();
            source.all(found, params, |row| {
                let group = [row.get(0)?, row.get(1)?, row.get(2)?];
                let seen = (row.get(3)?, uuid(row, 4)?, count(row, 5)?);
                groups.entry(group).or_default().push(seen);
                Ok(())
            })?;
            let number = |seen: &[(i64, Uuid, u64)]| seen.iter().map(|it| it.2).sum::<u64>();
            let mut groups: Vec<_> =
                groups.into_iter().filter(|(_, seen)| number(seen) >= threshold).collect();
            groups.sort_by_key(|(_, seen)| Reverse(number(seen)));
            groups.truncate(usize::try_from(range.limit()).unwrap_or(usize::MAX));
            groups.iter_mut().for_each(|(_, seen)| seen.sort_by_key(|it| (it.0, it.1)));
            let times = groups.iter().flat_map(|(_, seen)| seen).map(|it| it.0);
            let first = times.clone().min().unwrap_or_default();
            let last = times.max().unwrap_or_default();
            let recurring = |(group, seen): ([String; 3], Vec<(i64, Uuid, u64)>)| {
                let [code, file_name, workspace] = group;
                let over_time: Vec<_> = seen.iter().map(|it| (it.0, it.2)).collect();
                RecurringDiagnostic {
                    code,
                    file_name,
                    workspace,
                    count: number(&seen),
                    first_seen_ms: seen.first().map_or(0, |it| it.0),
                    last_seen_ms: seen.last().map_or(0, |it| it.0),
                    execution_ids: seen.iter().map(|it| it.1).collect(),
                    over_time: Some(OverTime::count(&over_time, first, last)),
                }
            };
            Ok(groups.into_iter().map(recurring).collect())
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
