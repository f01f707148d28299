//! Answers of a person that are written down: to a plan, and to whether the commands of a workspace are trusted
//! (SPEC §2, §9).

use std::sync::Arc;

use super::desk::Reader;
use super::messages::{Reply, Setup};
use crate::authorization::{Grants, PlanAuthorization};
use crate::engine::{Clock as _, SystemClock, WorkspaceChoice, review_trusting, review_until};
use crate::evidence::{EvidenceReader, TrustDecision, WallsDecision};
use crate::plan::{Plan, ShownPlan};
use crate::risk::Policy;
use crate::run::{AnsweredBy, CommandsReview, Review};
use crate::tools::ToolError;

pub(super) fn record(
    setup: &Setup,
    workspace: &str,
    commands: &CommandsReview,
    trusted: bool,
) -> Reply {
    let recorded = setup.location.store().and_then(|mut store| {
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
    let recorded = setup.location.store().and_then(|mut store| {
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
    let recorded =
        setup.location.store().and_then(|mut store| store.record_authorization(answer, plan));
    recorded.map_or_else(|error| Reply::Failed(error.failure()), |()| Reply::Recorded)
}

impl Reader {
    /// Reviews under what is trusted.
    pub(super) fn review(
        &mut self,
        plan: &Result<Plan, Option<ShownPlan>>,
        choice: &WorkspaceChoice,
    ) -> Result<Option<Review>, ToolError> {
        let (location, stop) = (self.setup.location.clone(), Arc::clone(&self.stop));
        let mut policy = self.setup.policy.clone();
        let review = |plan: &Plan, policy: &Policy| {
            review_until(plan, choice, policy, Some(&location), &stop)
        };
        // Where it cannot be read nothing counts as trusted, and whoever trusts is told why that fails.
        let trust = || Ok(self.evidence().and_then(EvidenceReader::trust).unwrap_or_default());
        let reviewed = review_trusting(plan, &mut policy, review, trust);
        self.setup.policy = policy;
        reviewed
    }
}
