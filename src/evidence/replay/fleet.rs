//! Rebuilds the results of the hosts of a run on several hosts. The executions of its steps have the run's target in
//! their column `host`, and those of its hosts a destination.

use uuid::Uuid;

use super::super::EvidenceReader;
use super::super::error::Result;
use super::super::queries;
use super::super::rows::{code, size, unreadable, uuid, word};
use super::super::source::Source;
use super::output::output;
use crate::plan::Fleet;
use crate::run::{HostResult, StreamExcerpt};

/// The hosts of a run, in the order of their first results; empty if it ran on at most one.
pub(super) fn hosts(
    source: &Source<'_>,
    run_id: Uuid,
    target: Option<&str>,
) -> Result<Vec<String>> {
    let Some(target) = target.filter(|target| Fleet::is_label(target)) else {
        return Ok(Vec::new());
    };
    let sql = "SELECT host FROM executions WHERE run_id = ?1 AND host != ?2
               GROUP BY host ORDER BY min(row)";
    source.all(sql, (run_id.to_string(), target), |row| Ok(row.get(0)?))
}

impl EvidenceReader {
    /// How each step of a run on several hosts ended on each of them, in the order of the records; empty for other runs.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn host_results(&mut self, run_id: Uuid) -> Result<Vec<HostResult>> {
        let target = self.run(run_id)?.and_then(|run| run.target);
        let Some(target) = target.filter(|target| Fleet::is_label(target)) else {
            return Ok(Vec::new());
        };
        let sql = "SELECT row FROM executions WHERE run_id = ?1 AND host != ?2 ORDER BY row";
        self.query(|source| {
            let rows: Vec<i64> =
                source.all(sql, (run_id.to_string(), &target), |row| Ok(row.get(0)?))?;
            rows.into_iter().map(|row| result(source, row)).collect()
        })
    }
}

/// Whether this execution is that of a step on one of several hosts.
pub(super) fn is_of_host(source: &Source<'_>, row_id: i64, target: Option<&str>) -> Result<bool> {
    let Some(target) = target.filter(|target| Fleet::is_label(target)) else { return Ok(false) };
    let sql = "SELECT coalesce(host, ?2) != ?2 FROM executions WHERE row = ?1";
    Ok(source.first(sql, (row_id, target), |row| Ok(row.get(0)?))?.unwrap_or(false))
}

/// The result of this execution on its host.
pub(super) fn result(source: &Source<'_>, row_id: i64) -> Result<HostResult> {
    let sql = "SELECT id, host, step_id, step_index, outcome, exit_code, error_code, error_message,
                      timestamp, duration_ms, invoked
               FROM executions WHERE row = ?1";
    let result = source.first(sql, [row_id], |row| {
        Ok(HostResult {
            execution_id: uuid(row, 0)?,
            host: row.get(1)?,
            step_id: row.get(2)?,
            step_index: size(row, 3)?,
            outcome: word(row, 4)?,
            may_have_run: row.get(10)?,
            exit_code: row.get(5)?,
            error_code: code(row, 6)?,
            error_message: row.get(7)?,
            output: String::new(),
            output_bytes: 0,
            group: String::new(),
            timestamp_ms: row.get(8)?,
            duration_ms: row.get(9)?,
        })
    })?;
    let result = result.ok_or_else(|| unreadable(format!("there is no execution {row_id}")))?;
    let artifacts = queries::artifacts(source, &result.execution_id.to_string())?;
    let printed = |kind: &str| match artifacts.iter().find(|it| it.artifact_type == kind) {
        Some(artifact) => output(source, "shell", artifact),
        None => Ok(StreamExcerpt::of("shell", b"")),
    };
    Ok(result.printing(&printed("stdout")?, &printed("stderr")?))
}
