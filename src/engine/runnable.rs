//! A plan that passed every check before a run (SPEC §2, DESIGN invariant 1). The engine runs tools only with a
//! `Runnable`, and outside tests only `Runnable::new` makes one.

use std::sync::Arc;

use uuid::Uuid;

use super::history_source::with_history;
use super::{Clock, ExecutionError, review};
use crate::authorization::{
    ApprovedPlan, AuthorizationStatus, Method, PlanAuthorization, Signing, StepWalls,
    persons_needed, why_not_signable,
};
use crate::evidence::{EvidenceError, EvidenceStore};
use crate::plan::{Plan, is_valid, parse};
use crate::remote::{RemoteError, SshClient};
use crate::risk::Policy;
use crate::run::{AskSecret, FleetReview, StopSignal};
use crate::tools::Toolbox;

/// A plan that passed every check.
pub(super) struct Runnable {
    /// The plan, parsed again from the approved bytes.
    pub(super) plan: Plan,
    /// The authorization of the plan.
    pub(super) authorization: PlanAuthorization,
    /// The tools, on the approved workspace.
    pub(super) toolbox: Toolbox,
    /// The approved hosts and files, if the plan runs on several hosts.
    pub(super) fleet: Option<FleetReview>,
    /// The approved walls of each step; `None` for a step that starts no process on this computer.
    pub(super) walls: Vec<Option<StepWalls>>,
}

impl Runnable {
    /// Checks a plan in the order of SPEC §2.
    ///
    /// # Errors
    /// That of the first check that fails.
    pub(super) fn new(
        approved: ApprovedPlan,
        policy: &Policy,
        store: &EvidenceStore,
        clock: &dyn Clock,
    ) -> Result<Self, ExecutionError> {
        let ApprovedPlan { plan, authorization } = approved;
        check_authorization(&authorization, store, clock)?;
        check_signature(&plan, &authorization, policy, store)?;
        if let Some(reason) = &policy.refusal {
            return Err(ExecutionError::NotAuthorized { reason: reason.clone() });
        }
        if plan.plan_id != authorization.plan_id {
            return Err(ExecutionError::PlanIdMismatch {
                plan: plan.plan_id,
                authorization: authorization.plan_id,
            });
        }
        // The plan is parsed from the bytes, so that nothing in memory can differ from what was shown.
        let parsed = parse(&plan.source);
        let approved = authorization.plan_digest;
        if approved != parsed.digest || plan.digest != parsed.digest {
            return Err(ExecutionError::stale("plan bytes", approved, parsed.digest));
        }
        let workspace = authorization.binding.workspace.clone();
        let toolbox = Toolbox::open(workspace.as_ref(), policy)
            .map_err(|error| ExecutionError::stale("workspace", workspace, error))?;
        let toolbox = with_history(toolbox, store.reader());
        let mut findings = parsed.findings;
        let Ok(reread) = parsed.plan else { return Err(ExecutionError::from_findings(&findings)) };
        // Target and mode may differ from those in the bytes; the authorization covers them separately.
        let target = authorization.binding.target.as_ref();
        let reread = match authorization.binding.fleet {
            Some(_) => reread,
            None => reread.on_target(target.map(|target| target.destination.as_str())),
        };
        let reread = reread.in_mode(authorization.binding.mode);
        let (review, _) = review::review_without_preconditions(&reread, &toolbox, policy, true);
        let changes = authorization.binding.changes(&review.binding);
        if !changes.is_empty() {
            return Err(ExecutionError::Stale { changes });
        }
        if reread != plan {
            return Err(ExecutionError::stale("plan in memory", approved, parsed.digest));
        }
        findings.extend(review.findings);
        if !is_valid(&findings) {
            return Err(ExecutionError::from_findings(&findings));
        }
        let walls = review.binding.walls.unwrap_or_default();
        if walls.len() != reread.steps.len() {
            return Err(ExecutionError::stale("walls", reread.steps.len(), walls.len()));
        }
        let fleet = review.fleet;
        if reread.fleet.is_some() != fleet.is_some() {
            return Err(ExecutionError::stale("hosts", reread.fleet.is_some(), fleet.is_some()));
        }
        Ok(Self { plan: reread, authorization, toolbox, fleet, walls })
    }

    /// Connects to the approved host, if the plan has a target. Before that, nothing of the plan is sent or recorded. A
    /// host that presents another key receives nothing.
    ///
    /// # Errors
    /// E004 when it is not the approved host, E307 after a stop, E308 when it cannot be reached or used.
    pub(super) fn connect(
        &mut self,
        policy: &Policy,
        secrets: Option<Arc<dyn AskSecret>>,
        stop: &StopSignal,
    ) -> Result<(), ExecutionError> {
        let Some(approved) = &self.authorization.binding.target else { return Ok(()) };
        let client = SshClient::of_system(policy, self.toolbox.workspace());
        let client = client.map(|client| client.asking(secrets));
        let connected = client.and_then(|client| self.toolbox.connect(&client, approved, stop));
        connected.map_err(|error| match error {
            RemoteError::NotApproved { approved, now } => {
                ExecutionError::stale("target", approved, now)
            }
            RemoteError::Cancelled { .. } => ExecutionError::Cancelled,
            error => ExecutionError::Tool(error.into()),
        })
    }
}

impl ExecutionError {
    /// The error for evidence that failed before anything ran.
    pub(super) fn before_run(source: EvidenceError) -> Self {
        let source = Box::new(source);
        Self::EvidenceStore {
            run_id: Uuid::nil(),
            step_results: Vec::new(),
            not_recorded: None,
            source,
        }
    }
}

/// Fails if the settings ask for a signature of each authorization, and this one has none. It has one if it was recorded by
/// this program with the same settings.
fn check_signature(
    plan: &Plan,
    authorization: &PlanAuthorization,
    policy: &Policy,
    store: &EvidenceStore,
) -> Result<(), ExecutionError> {
    if let Some(reason) = why_not_signable(policy.signing.as_ref(), plan.signatures_required) {
        return Err(ExecutionError::NotAuthorized { reason });
    }
    if !policy.signing.as_ref().is_some_and(Signing::of_authorizations) {
        return Ok(());
    }
    let signed = store.has_signed_authorization(authorization.authorization_id);
    match signed.map_err(ExecutionError::before_run)? {
        true => {}
        false => {
            return Err(ExecutionError::NotAuthorized {
                reason: "your settings ask for a signature of each authorization, and it has none"
                    .to_owned(),
            });
        }
    }
    let needed = persons_needed(policy.signing.as_ref(), plan.signatures_required);
    let reviews = store.count_reviews(authorization.authorization_id);
    let persons = reviews.map_err(ExecutionError::before_run)? + 1;
    if persons < needed {
        let reason = format!("it needs the signatures of {needed} persons, and has {persons}");
        return Err(ExecutionError::NotAuthorized { reason });
    }
    Ok(())
}

/// Fails if the plan is not approved, or if its approval has expired or was used by a run.
fn check_authorization(
    authorization: &PlanAuthorization,
    store: &EvidenceStore,
    clock: &dyn Clock,
) -> Result<(), ExecutionError> {
    let refuse = |reason: String| Err(ExecutionError::NotAuthorized { reason });
    match &authorization.status {
        AuthorizationStatus::Pending => return refuse("nobody has answered yet".to_owned()),
        AuthorizationStatus::Rejected { reason } => {
            let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            return refuse(format!("it was rejected{why}"));
        }
        AuthorizationStatus::Approved => {}
    }
    if authorization.method == Method::AgentCall {
        return refuse("it only permits an agent to make the call itself".to_owned());
    }
    if authorization.is_expired(clock.now_ms(), &clock.since_boot()) {
        return refuse("the authorization has expired".to_owned());
    }
    let used = store.authorization_used_by(authorization.authorization_id);
    match used.map_err(ExecutionError::before_run)? {
        Some(run_id) => refuse(format!("the authorization was used by run {run_id}")),
        None => Ok(()),
    }
}
