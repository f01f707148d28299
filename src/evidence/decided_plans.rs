//! Which plans were authorized or rejected, where and when, and whether as a revision (SPEC §13).

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::error::Result;
use super::revised_plans::{BASE, REVISED};
use super::rows::digest;
use super::{EvidenceReader, EvidenceStore, RevisionRecord, write_run};
use crate::authorization::PlanAuthorization;
use crate::plan::{Digest, Plan};
use crate::run::DecidedPlan;

/// The number of decisions that are looked through, the newest first. There is one for each run, so that a plan that was
/// decided about before so many others is not in an inbox any more.
const MAX_DECISIONS: i64 = 10_000;

impl EvidenceStore {
    /// As [`Self::record_authorization`], for a plan that may be a person's revision of another one.
    ///
    /// # Errors
    /// As there.
    pub fn record_revised(
        &mut self,
        authorization: &PlanAuthorization,
        plan: &Plan,
        revision: Option<&RevisionRecord<'_>>,
    ) -> Result<()> {
        self.write(|appender| write_run::authorization(appender, authorization, plan, revision))
    }
}

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
            // A decision about a revision is one about what was proposed, too.
            let sql = format!(
                "SELECT {BASE}, a.workspace, a.timestamp
                 FROM (SELECT * FROM decisions WHERE run_id IS NULL ORDER BY id DESC LIMIT ?1) AS d
                 JOIN authorizations AS a ON a.id = d.authorization_id
                 WHERE d.decision = '{REVISED}' AND a.timestamp >= ?2"
            );
            decided.extend(source.all(&sql, (MAX_DECISIONS, since_ms), |row| {
                Ok(DecidedPlan {
                    plan: digest(row, 0)?,
                    workspace: row.get(1)?,
                    at_ms: row.get(2)?,
                })
            })?);
            decided.retain(|it| plans.contains(&it.plan));
            decided.sort_by_key(|it| Reverse(it.at_ms));
            Ok(decided)
        })
    }
}
