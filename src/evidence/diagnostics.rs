//! Questions about diagnostics: Q3, Q7 and Q8 (SPEC §8).

use super::error::Result;
use super::queries::{EXECUTIONS, Range, readable, row, rows, uuid};
use super::reader::Source;
use crate::run::{ExecutionRow, LaterMutation, RecurringDiagnostic};

/// How many columns [`EXECUTIONS`] selects.
const COLUMNS: usize = 15;

pub(super) fn q3(source: &Source<'_>, code: &str, range: Range) -> Result<Vec<ExecutionRow>> {
    rows(
        source,
        &format!(
            "{EXECUTIONS} WHERE x.id IN (SELECT execution_id FROM diagnostics WHERE code = ?1)
             AND x.timestamp BETWEEN ?2 AND ?3 ORDER BY x.timestamp, x.id LIMIT ?4"
        ),
        (code, range.since(), range.until(), range.limit()),
    )
}

pub(super) fn q7(
    source: &Source<'_>,
    threshold: u64,
    range: Range,
) -> Result<Vec<RecurringDiagnostic>> {
    let mut groups = source.conn.prepare_cached(
        "SELECT d.code, d.file_name, count(*), min(x.timestamp), max(x.timestamp)
         FROM diagnostics AS d JOIN executions AS x ON x.id = d.execution_id
         WHERE d.code IS NOT NULL AND x.timestamp BETWEEN ?1 AND ?2
         GROUP BY d.code, d.file_name HAVING count(*) >= ?3
         ORDER BY count(*) DESC, d.code, d.file_name LIMIT ?4",
    )?;
    let mut ids = source.conn.prepare_cached(
        "SELECT DISTINCT x.id, x.timestamp FROM diagnostics AS d
         JOIN executions AS x ON x.id = d.execution_id
         WHERE d.code = ?1 AND d.file_name = ?2 AND x.timestamp BETWEEN ?3 AND ?4
         ORDER BY x.timestamp, x.id",
    )?;
    let threshold = i64::try_from(threshold).unwrap_or(i64::MAX);
    let mut found = groups.query((range.since(), range.until(), threshold, range.limit()))?;
    let mut all = Vec::new();
    while let Some(group) = found.next()? {
        let (code, file_name): (String, String) = (group.get(0)?, group.get(1)?);
        let mut execution_ids = Vec::new();
        let mut executions = ids.query((&code, &file_name, range.since(), range.until()))?;
        while let Some(execution) = executions.next()? {
            execution_ids.push(uuid(execution, 0)?);
        }
        all.push(RecurringDiagnostic {
            code,
            file_name,
            count: group.get::<_, i64>(2)?.unsigned_abs(),
            first_seen_ms: group.get(3)?,
            last_seen_ms: group.get(4)?,
            execution_ids,
        });
    }
    Ok(all)
}

pub(super) fn q8(
    source: &Source<'_>,
    code: &str,
    file: Option<&str>,
    range: Range,
) -> Result<Vec<LaterMutation>> {
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
    let mut statement = source.conn.prepare_cached(&readable(source, &sql))?;
    let mut found = statement.query((code, file, range.since(), range.until(), range.limit()))?;
    let mut all = Vec::new();
    while let Some(next) = found.next()? {
        all.push(LaterMutation {
            row: row(source, next)?,
            diagnostic_execution_id: uuid(next, COLUMNS)?,
            file_name: next.get(COLUMNS + 1)?,
            after_ms: next.get(COLUMNS + 2)?,
        });
    }
    Ok(all)
}
