//! What became of a plan that was proposed: the last decision about it, and its last run (SPEC §13).

use uuid::Uuid;

use super::EvidenceReader;
use super::error::Result;
use super::revised_plans;
use super::rows::uuid;
use super::runs::run;
use super::source::Source;
use crate::plan::Digest;
use crate::run::{DecidedBy, ExecutionDetail, LastDecision, PlanState, RunSummary};

impl EvidenceReader {
    /// What became of the plan with these bytes in this workspace since a time in Unix milliseconds. `workspace` is
    /// without links.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn plan_state(
        &mut self,
        plan: &Digest,
        workspace: &str,
        since_ms: i64,
    ) -> Result<PlanState> {
        self.query(|source| {
            let params = (plan.hex(), workspace, since_ms);
            let mut decision = decision(source, params.clone())?;
            // What a person decided about a revision is the answer to what was proposed.
            let revised = revised_plans::latest_of(source, plan, workspace, since_ms)?;
            if let Some((authorization_id, revised)) = revised {
                let of_revision = decided(source, "id = ?1", [authorization_id.to_string()])?;
                let at_ms = |it: &Option<LastDecision>| it.as_ref().map(|it| it.timestamp_ms);
                if at_ms(&of_revision) >= at_ms(&decision) {
                    decision = of_revision;
                    let sql = "SELECT run_id FROM authorization_uses WHERE authorization_id = ?1";
                    let params = [authorization_id.to_string()];
                    let run_id = source.first(sql, params, |row| uuid(row, 0))?;
                    let run = run_id.map(|run_id| run(source, run_id)).transpose()?.flatten();
                    return Ok(PlanState { decision, run, revised: revised.parse().ok() });
                }
            }
            let sql = "SELECT id FROM runs
                       WHERE plan_digest = ?1 AND workspace = ?2 AND timestamp >= ?3
                       ORDER BY timestamp DESC, row DESC LIMIT 1";
            let run_id = source.first(sql, params, |row| uuid(row, 0))?;
            let run = run_id.map(|run_id| run(source, run_id)).transpose()?.flatten();
            Ok(PlanState { decision, run, revised: None })
        })
    }

    /// The executions of a run in the order of its steps, at most `limit`.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn executions_of(&mut self, run: &RunSummary, limit: u32) -> Result<Vec<ExecutionDetail>> {
        let sql = "SELECT id FROM executions WHERE run_id = ?1
                   ORDER BY step_index, timestamp, row LIMIT ?2";
        let params = (run.run_id.to_string(), limit);
        let ids: Vec<Uuid> = self.query(|source| source.all(sql, params, |row| uuid(row, 0)))?;
        let details = ids.into_iter().map(|id| self.execution_of(run, id));
        details.filter_map(Result::transpose).collect()
    }
}

fn decision(source: &Source<'_>, params: impl rusqlite::Params) -> Result<Option<LastDecision>> {
    decided(source, "plan_digest = ?1 AND workspace = ?2 AND timestamp >= ?3", params)
}

/// The last authorization or rejection of those that meet a condition.
fn decided(
    source: &Source<'_>,
    condition: &str,
    params: impl rusqlite::Params,
) -> Result<Option<LastDecision>> {
    let sql = format!(
        "SELECT status = 'approved', coalesce(reason, ''), method, user_name, timestamp, expires_at
         FROM authorizations WHERE {condition} ORDER BY timestamp DESC, row DESC LIMIT 1"
    );
    source.first(&sql, params, |row| {
        Ok(LastDecision {
            is_approved: row.get(0)?,
            reason: row.get(1)?,
            by: DecidedBy { place: row.get(2)?, user: row.get(3)? },
            timestamp_ms: row.get(4)?,
            expires_at_ms: row.get(5)?,
        })
    })
}
