//! Which plans were authorized or rejected, where and when (SPEC §13).

use std::collections::BTreeSet;

use super::EvidenceReader;
use super::error::Result;
use super::rows::digest;
use crate::plan::Digest;
use crate::run::DecidedPlan;

/// The number of decisions that are looked through, the newest first. There is one for each run, so that a plan that was
/// decided about before so many others is not in an inbox any more.
const MAX_DECISIONS: i64 = 10_000;

impl EvidenceReader {
    /// The decisions about these plans at `since_ms` (Unix milliseconds) or later, the newest first.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn decided_plans(
        &mut self,
        plans: &BTreeSet<Digest>,
        since_ms: i64,
    ) -> Result<Vec<DecidedPlan>> {
        self.query(|source| {
            let sql = "SELECT plan_digest, workspace, timestamp
                 FROM (SELECT plan_digest, workspace, timestamp
                       FROM authorizations ORDER BY row DESC LIMIT ?1)
                 WHERE timestamp >= ?2";
            let mut decided = source.all(sql, (MAX_DECISIONS, since_ms), |row| {
                Ok(DecidedPlan {
                    plan: digest(row, 0)?,
                    workspace: row.get(1)?,
                    at_ms: row.get(2)?,
                })
            })?;
            decided.retain(|it| plans.contains(&it.plan));
            Ok(decided)
        })
    }
}
