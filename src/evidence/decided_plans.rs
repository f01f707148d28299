//! When plans were last authorized or rejected (SPEC §13).

use std::collections::{BTreeMap, BTreeSet};

use super::EvidenceReader;
use super::error::Result;
use super::rows::digest;
use crate::plan::Digest;

/// The number of decisions that are looked through, the newest first. There is one for each run, so that a plan that was
/// decided about before so many others is not in an inbox any more.
const MAX_DECISIONS: i64 = 10_000;

impl EvidenceReader {
    /// The time of the latest decision about each of these plans, in Unix milliseconds, of those that were decided about at
    /// `since_ms` or later.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn decided_plans(
        &mut self,
        plans: &BTreeSet<Digest>,
        since_ms: i64,
    ) -> Result<BTreeMap<Digest, i64>> {
        self.query(|source| {
            let sql = "SELECT plan_digest, timestamp
                 FROM (SELECT plan_digest, timestamp FROM authorizations ORDER BY row DESC LIMIT ?1)
                 WHERE timestamp >= ?2";
            let rows = source
                .all(sql, (MAX_DECISIONS, since_ms), |row| Ok((digest(row, 0)?, row.get(1)?)))?;
            let mut latest: BTreeMap<Digest, i64> = BTreeMap::new();
            for (plan, at_ms) in rows.into_iter().filter(|(plan, _)| plans.contains(plan)) {
                let known = latest.entry(plan).or_insert(at_ms);
                *known = at_ms.max(*known);
            }
            Ok(latest)
        })
    }
}
