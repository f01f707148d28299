//! Answers of a person that are written down: to a plan, and to whether the commands of a workspace are trusted
//! (SPEC §2, §9).

use super::desk::Reader;
use super::messages::{Reply, Setup};
use crate::authorization::{Grants, PlanAuthorization};
use crate::engine::{Clock as _, SystemClock, WorkspaceChoice, review_until};
use crate::evidence::{EvidenceReader, EvidenceStore, TrustDecision, WallsDecision};
use crate::plan::Plan;
use crate::run::{AnsweredBy, CommandsReview, Review};
use crate::tools::ToolError;

pub(super) fn record(
    setup: &Setup,
    workspace: &str,
    commands: &CommandsReview,
    trusted: bool,
) -> Reply {
    let recorded = EvidenceStore::open(&setup.evidence, &setup.secrets).and_then(|mut store| {
        store.record_trust(&TrustDecision {
            workspace,
            digest: commands.digest,
            trusted,
            shown: Some(commands),
            by: AnsweredBy::Window,
            timestamp_ms: SystemClock::default().now_ms(),
        })
    });
    recorded.map_or_else(|error| Reply::Failed(error.failure()), |()| Reply::Trusted)
}

/// Writes down what every plan in a workspace is granted from now on; none to take it back.
pub(super) fn remember(setup: &Setup, workspace: &str, grants: Option<&Grants>) -> Reply {
    let recorded = EvidenceStore::open(&setup.evidence, &setup.secrets).and_then(|mut store| {
        store.record_walls(&WallsDecision {
            workspace,
            grants,
            by: AnsweredBy::Window,
            timestamp_ms: SystemClock::default().now_ms(),
        })
    });
    recorded.map_or_else(|error| Reply::Failed(error.failure()), |()| Reply::Trusted)
}

/// Writes the answer to a plan down.
pub(super) fn answer(setup: &Setup, answer: &PlanAuthorization, plan: &Plan) -> Reply {
    let recorded = EvidenceStore::open(&setup.evidence, &setup.secrets)
        .and_then(|mut store| store.record_authorization(answer, plan));
    recorded.map_or_else(|error| Reply::Failed(error.failure()), |()| Reply::Recorded)
}

impl Reader {
    /// Reviews under what is trusted; the evidence is asked only where the plan would run such commands.
    pub(super) fn review(
        &mut self,
        plan: &Plan,
        choice: &WorkspaceChoice,
    ) -> Result<Review, ToolError> {
        let records = self.records();
        let stop = &self.stop;
        let review = review_until(plan, choice, &self.setup.policy, Some(&records), stop)?;
        if review.workspace_commands.is_none() {
            return Ok(review);
        }
        // Where it cannot be read nothing counts as trusted, and whoever trusts is told why that fails.
        let trust = self.evidence().and_then(EvidenceReader::trust).unwrap_or_default();
        self.setup.policy.trusted_commands = trust.counts;
        self.setup.policy.unproven_trust = trust.without_proof;
        review_until(plan, choice, &self.setup.policy, Some(&records), &self.stop)
    }
}
