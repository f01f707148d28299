//! The loop's own verification (SPEC §10), the gate: if every step of an attempt succeeded and no `verify` among them
//! meets the order, another run with a single `verify`, under the decision that authorized the plan.

use serde_json::json;

use super::attempts::{AttemptEnding, CurrentAttempt, Halt};
use super::{BoundedLoop, results};
use crate::authorization::{ForAttempt, PlanAuthorization};
use crate::engine::{NotRecorded, review};
use crate::plan::{
    ACTION_PLAN_VERSION, COMMANDS_FILE, Finding, Plan, RiskLevel, Severity, VerifyScope, is_valid,
    parse,
};
use crate::run::{
    ActionError, ActionErrorCode, ActionRecord, ActionStatus, Happened, Outcome, Review, RunEvent,
    StepResult, VERIFY_GATE,
};
use crate::tools::ToolError;

impl BoundedLoop<'_> {
    /// Verifies the changes of the attempt.
    pub(super) fn gate(
        &mut self,
        open: &mut CurrentAttempt,
        plan: &Plan,
        authorization: &PlanAuthorization,
    ) -> Result<AttemptEnding, Halt> {
        let index = plan.steps.len();
        let Some(scope) = self.setup.order.verify else {
            return Ok(unverified(open, index, "not asked for"));
        };
        if !self.toolbox.can_verify(scope) {
            let missing = "the workspace has no verify command";
            return Ok(match self.verifiable {
                false => unverified(open, index, missing),
                true => failed_before_run(open, index, scope, format!("{missing} any more")),
            });
        }
        self.check_not_stopped()?;
        self.tell(&RunEvent::VerifyStarted);
        let (gate, review) = self.review_gate(scope)?;
        let review = match review {
            Ok(review) if is_valid(&review.findings) => review,
            Ok(review) => {
                if let Some(finding) = review.untrusted() {
                    return Ok(not_authorized(Some(index), &finding.message));
                }
                let message = first_error(&review).map(|finding| finding.message.clone());
                let message = message.unwrap_or_default();
                return Ok(failed_before_run(open, index, scope, message));
            }
            Err(error) => return Ok(failed_before_run(open, index, scope, error.to_string())),
        };
        let attempt = authorization.attempt.as_deref();
        if let Some(attempt) = attempt.filter(|attempt| attempt.class_id.is_some()) {
            let outside = self.verification_outside_class(&review, attempt.attempt)?;
            if !outside.is_empty() {
                let why = format!("outside the authorization class: {}", outside.join("; "));
                return Ok(not_authorized(Some(index), &why));
            }
        }
        let authorization = match self.authorize_gate(&gate, review, authorization) {
            Ok(authorization) => authorization,
            Err(NotRecorded::Evidence(error)) => return Err(error.into()),
            Err(error) => return Ok(not_authorized(Some(index), &error.to_string())),
        };
        let applied = self.apply(&gate, &authorization);
        // A verification that cannot run counts as failed.
        let fails = matches!(
            applied.ending.happened,
            Happened::ActionFailed { .. } | Happened::PlannerRejected { .. }
        );
        if fails && applied.run_id.is_none() {
            return Ok(failed_before_run(open, index, scope, applied.ending.message));
        }
        let action = applied.actions.into_iter().next().map(|action| ActionRecord {
            action_index: index,
            kind: VERIFY_GATE.to_owned(),
            ..action
        });
        let result = applied.results.last();
        let skipped = result.is_some_and(|result| result.outcome == Outcome::Skipped);
        let verify = result.and_then(|result| results::verification(scope, result));
        let verified = verify.as_ref().is_some_and(|verify| verify.passed);
        open.record.actions.extend(action);
        open.record.verify = verify.or(open.record.verify.take());
        let results = applied.results.into_iter();
        open.results.extend(results.map(|result| StepResult { step_index: index, ..result }));
        let message = applied.ending.message;
        let succeeded = |message| AttemptEnding {
            verified,
            ..AttemptEnding::new(Happened::Succeeded, message)
        };
        Ok(match applied.ending.happened {
            Happened::Succeeded if verified => {
                succeeded("every step succeeded and the verification passed")
            }
            Happened::Succeeded if skipped => {
                succeeded("every step succeeded; a person left the verification out")
            }
            Happened::Succeeded => {
                let why = "the verification ended without a result";
                unverifiable(Happened::InternalError, Some(index), why)
            }
            _ if fails => unverifiable(Happened::VerifyFailed, Some(index), &message),
            other => unverifiable(other, Some(index), &message),
        })
    }

    /// Authorizes the verification under `decision`, which authorized the plan, and records that.
    fn authorize_gate(
        &mut self,
        gate: &Plan,
        review: Review,
        decision: &PlanAuthorization,
    ) -> Result<PlanAuthorization, NotRecorded> {
        let now_ms = self.clock.now_ms();
        let mut authorization =
            PlanAuthorization::pending(gate, review.binding, decision.method, now_ms);
        if let Some(attempt) = decision.attempt.as_deref() {
            let note = format!(
                "the loop's own verification, under the same decision as authorization {}: {}",
                decision.authorization_id, attempt.note
            );
            authorization = authorization.for_attempt(ForAttempt { note, ..attempt.clone() });
        }
        let authorization = authorization
            .approve(now_ms, self.setup.policy.authorization_ttl_ms)
            .with_boot_time(self.clock.since_boot());
        self.executor.record_authorization(&authorization, gate, None)?;
        Ok(authorization)
    }

    /// The plan of the verification, and its review now.
    fn review_gate(
        &mut self,
        scope: VerifyScope,
    ) -> Result<(Plan, Result<Review, ToolError>), Halt> {
        let policy = self.policy()?;
        let Some(gate) = gate_plan(&self.setup.order.goal, scope) else {
            return Err(Halt::new(Happened::InternalError, "the verification has no plan"));
        };
        let setup = self.setup;
        let review = review(&gate, &setup.order.workspace, &policy, Some(&setup.location));
        Ok((gate, review))
    }

    /// The risk of the verification, or why it is unknown; `None` if nothing will be verified.
    pub(super) fn verification_risk(
        &mut self,
    ) -> Result<Result<Option<RiskLevel>, ToolError>, Halt> {
        match self.setup.order.verify.filter(|scope| self.toolbox.can_verify(*scope)) {
            Some(scope) => Ok(self.review_gate(scope)?.1.map(|review| review.impact.worst)),
            None => Ok(Ok(None)),
        }
    }

    /// Ends the attempt before anything is changed if the commands file cannot be used to verify: it has changed since
    /// the loop began, it is not trusted, or it is faulty. A plan must not correct that.
    pub(super) fn check_verification_usable(&mut self) -> Result<(), Halt> {
        let Some(scope) = self.setup.order.verify else { return Ok(()) };
        self.check_verification_unchanged(None)?;
        let review = match self.review_gate(scope)? {
            (_, Ok(review)) => review,
            (_, Err(error)) => return Err(not_authorized(None, &error.to_string()).into()),
        };
        match first_error(&review).filter(|_| review.workspace_commands.is_some()) {
            Some(finding) => Err(not_authorized(None, &finding.message).into()),
            None => Ok(()),
        }
    }

    /// Ends the attempt if the commands file has changed since the loop began, because a plan must not change how it is
    /// verified.
    pub(super) fn check_verification_unchanged(&self, index: Option<usize>) -> Result<(), Halt> {
        let now = match self.toolbox.digest_of(COMMANDS_FILE) {
            Ok(now) if self.commands == Some(now) => return Ok(()),
            Ok(_) => "is not as it was when the loop began".to_owned(),
            Err(error) => format!("cannot be read: {error}"),
        };
        let why = format!(
            "{COMMANDS_FILE}, which says how the program is verified, {now}: look at it, and start the loop again"
        );
        Err(not_authorized(index, &why).into())
    }
}

/// The success of an attempt that is not verified.
fn unverified(open: &mut CurrentAttempt, index: usize, why: &str) -> AttemptEnding {
    open.record.actions.push(ActionRecord::skipped(index, VERIFY_GATE, why.to_owned()));
    let message = format!("every step succeeded; not verified: {why}");
    AttemptEnding::new(Happened::Succeeded, message)
}

fn first_error(review: &Review) -> Option<&Finding> {
    review.findings.iter().find(|finding| finding.severity == Severity::Error)
}

/// The failure of a verification that cannot run.
fn failed_before_run(
    open: &mut CurrentAttempt,
    index: usize,
    scope: VerifyScope,
    message: String,
) -> AttemptEnding {
    let summary = format!("Verify the program, {}", scope.as_str());
    open.record.actions.push(ActionRecord {
        status: ActionStatus::Failed,
        error: Some(ActionError {
            code: ActionErrorCode::ValidationFailed,
            message: message.clone(),
            retryable: true,
            details: json!({}),
        }),
        ..ActionRecord::skipped(index, VERIFY_GATE, summary)
    });
    unverifiable(Happened::VerifyFailed, Some(index), &message)
}

fn not_authorized(action_index: Option<usize>, why: &str) -> AttemptEnding {
    unverifiable(Happened::NotAuthorized, action_index, why)
}

/// The end of an attempt at its verification.
fn unverifiable(happened: Happened, action_index: Option<usize>, why: &str) -> AttemptEnding {
    let ending = AttemptEnding::new(happened, format!("verification: {why}"));
    AttemptEnding { action_index, ..ending }
}

/// The plan of the gate: a single `verify`.
fn gate_plan(goal: &str, scope: VerifyScope) -> Option<Plan> {
    let plan = json!({
        "version": ACTION_PLAN_VERSION,
        "goal": format!("Verify what was done to reach: {goal}"),
        "metadata": { "planner": "countersign" },
        "actions": [{ "type": "verify", "request": { "scope": scope } }],
    });
    parse(plan.to_string().as_bytes()).plan.ok()
}
