//! Queries about diagnostics: Q3, Q7 and Q8 (SPEC §8).

use super::error::Result;
use super::queries::{EXECUTIONS, listed, listed_rows};
use super::rows::uuid;
use super::{EvidenceReader, Range};
use crate::run::{LaterMutation, ListedExecution, RecurringDiagnostic};

/// The number of columns that [`EXECUTIONS`] selects.
const COLUMNS: usize = 15;

impl EvidenceReader {
    /// Q3: executions with a diagnostic of this code, time ascending.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q3(&mut self, code: &str, range: Range) -> Result<Vec<ListedExecution>> {
        let sql = format!(
            "{EXECUTIONS} WHERE x.id IN (SELECT execution_id FROM diagnostics WHERE code = ?1)
             AND x.timestamp BETWEEN ?2 AND ?3 ORDER BY x.timestamp, x.id LIMIT ?4"
        );
        let params = (code, range.since(), range.until(), range.limit());
        self.query(|source| listed_rows(source, &sql, params))
    }

    /// Q7: diagnostic codes that were recorded at least `threshold` times in the same file, most frequent first.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q7(&mut self, threshold: u64, range: Range) -> Result<Vec<RecurringDiagnostic>> {
        self.query(|source| {
            let threshold = i64::try_from(threshold).unwrap_or(i64::MAX);
            source.all(
                "SELECT d.code, d.file_name, count(*), min(x.timestamp), max(x.timestamp)
                 FROM diagnostics AS d JOIN executions AS x ON x.id = d.execution_id
                 WHERE d.code IS NOT NULL AND x.timestamp BETWEEN ?1 AND ?2
                 GROUP BY d.code, d.file_name HAVING count(*) >= ?3
                 ORDER BY count(*) DESC, d.code, d.file_name LIMIT ?4",
                (range.since(), range.until(), threshold, range.limit()),
                |group| {
                    let (code, file_name): (String, String) = (group.get(0)?, group.get(1)?);
                    let execution_ids = source.all(
                        "SELECT DISTINCT x.id, x.timestamp FROM diagnostics AS d
                         JOIN executions AS x ON x.id = d.execution_id
                         WHERE d.code = ?1 AND d.file_name = ?2 AND x.timestamp BETWEEN ?3 AND ?4
                         ORDER BY x.timestamp, x.id",
                        (&code, &file_name, range.since(), range.until()),
                        |execution| uuid(execution, 0),
                    )?;
                    Ok(RecurringDiagnostic {
                        code,
                        file_name,
                        count: group.get::<_, i64>(2)?.unsigned_abs(),
                        first_seen_ms: group.get(3)?,
                        last_seen_ms: group.get(4)?,
                        execution_ids,
                    })
                },
            )
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
        self.query(|source| {
            let columns = EXECUTIONS.replacen(
                "x.walls_json",
                "x.walls_json, seen.id, seen.file_name, x.timestamp - seen.timestamp",
                1,
            );
            let sql = format!(
                "{columns}
                 JOIN edges AS g ON g.execution_id = x.id AND g.edge_type = 'AFFECTED'
                      AND g.target_kind = 'file'
                 JOIN (SELECT DISTINCT e.id, e.row, e.timestamp, d.file_name FROM diagnostics AS d
                       JOIN executions AS e ON e.id = d.execution_id WHERE d.code = ?1) AS seen
                      ON seen.file_name = g.target
                 WHERE x.invoked = 1 AND (?2 IS NULL OR seen.file_name = ?2)
                   AND (x.timestamp, x.row) > (seen.timestamp, seen.row)
                   AND x.timestamp BETWEEN ?3 AND ?4
                 ORDER BY x.timestamp, x.id, seen.timestamp, seen.id LIMIT ?5"
            );
            source.all(&sql, (code, file, range.since(), range.until(), range.limit()), |next| {
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
