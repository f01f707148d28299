//! The answer to the plan of an attempt: given, refused, or given in advance (SPEC §10).

use uuid::Uuid;

use super::attempts::Halt;
use super::authorizer::{AuthorizationRequest, PlanDecision, outside};
use super::bounded::BoundedLoop;
use crate::authorization::{ClassQuestion, ForAttempt, Method, PlanAuthorization};
use crate::evidence::EvidenceError;
use crate::plan::Plan;
use crate::run::{Happened, PlanDifference, Review, RunEvent};

impl BoundedLoop<'_> {
    /// The answer to this plan and no other.
    pub(super) fn authorized(
        &mut self,
        plan: &Plan,
        review: &Review,
        attempt: u32,
    ) -> Result<PlanAuthorization, Halt> {
        let before = self.tried.iter().rev().find(|tried| tried.attempt.plan.is_some());
        let difference = before.and_then(|before| {
            let difference = PlanDifference::between(before.attempt.plan.as_ref()?, plan);
            Some((before.reason.clone(), difference))
        });
        if let Some((reason, difference)) = &difference {
            self.tell(&RunEvent::PlanRevised {
                reason: reason.clone(),
                difference: Box::new(difference.clone()),
            });
        }
        let outside = self.outside(plan, review, attempt)?;
        let class = self.class_id.filter(|_| outside.is_empty());
        let max_risk = self.setup.order.class.as_ref().map(|class| class.max_risk);
        let asked = AuthorizationRequest {
            loop_id: self.loop_id,
            attempt,
            max_attempts: self.max_attempts(),
            plan,
            review,
            outside: &outside,
        };
        self.authorizer.show(&asked);
        let answer = match class {
            Some(class_id) => PlanDecision::Approve {
                method: Method::AuthorizationClass,
                note: format!("inside the authorization class {class_id}"),
            },
            None => {
                self.tell(&RunEvent::AuthorizationNeeded {
                    loop_id: self.loop_id,
                    attempt,
                    plan_digest: plan.digest,
                    outside: outside.clone(),
                });
                self.authorizer.authorize(&asked)
            }
        };
        let attempt_id = self.open.as_mut().map(|open| {
            if let Some(trace) = &mut open.trace {
                trace.revised = difference;
            }
            open.attempt_id
        });
        self.check_not_stopped()?;
        let now_ms = self.clock.now_ms();
        let pending =
            |method| PlanAuthorization::pending(plan, review.binding.clone(), method, now_ms);
        match answer {
            PlanDecision::Stop => Err(self.stopped()),
            PlanDecision::Reject { method, reason } => {
                let authorization = pending(method).reject(now_ms, reason.as_str());
                self.journal().store.record_authorization(&authorization, plan)?;
                self.decided(false, &reason);
                Err(Halt::new(Happened::NotAuthorized, reason))
            }
            PlanDecision::Approve { method, note } => {
                let note = format!("attempt {attempt} of loop {}: {note}", self.loop_id);
                let authorization = pending(method)
                    .for_attempt(ForAttempt {
                        loop_id: self.loop_id,
                        goal: self.setup.order.goal.clone(),
                        attempt_id: attempt_id.unwrap_or_default(),
                        attempt,
                        class_id: class,
                        max_risk: class.and(max_risk),
                        note: note.clone(),
                    })
                    .approve(now_ms, self.setup.policy.authorization_ttl_ms)
                    .given(self.clock.since_boot());
                self.journal().store.record_authorization(&authorization, plan)?;
                self.decided(true, &note);
                Ok(authorization)
            }
        }
    }

    fn outside(&mut self, plan: &Plan, review: &Review, attempt: u32) -> Result<Vec<String>, Halt> {
        let (Some(class), Some(class_id)) = (&self.setup.order.class, self.class_id) else {
            return Ok(Vec::new());
        };
        let mut parts = outside(class, plan, review, &self.toolbox, attempt, self.clock.now_ms());
        let max_risk = class.max_risk;
        // Checked now, before the plan changes anything.
        if let Some(risk) = self.verification_risk()?.filter(|risk| *risk > max_risk) {
            parts.push(format!("the risk {} of the verification", risk.as_str()));
        }
        parts.extend(self.revoked(class_id)?);
        Ok(parts)
    }

    /// Why the class no longer lets the attempt be verified. Which tools and paths it names is about plans: to
    /// verify was decided when the loop was started.
    pub(super) fn outside_by_now(
        &mut self,
        review: &Review,
        attempt: u32,
    ) -> Result<Vec<String>, EvidenceError> {
        let (Some(class), Some(class_id)) = (&self.setup.order.class, self.class_id) else {
            return Ok(Vec::new());
        };
        // What the commands that verify may have beyond their walls was trusted with them.
        let question = ClassQuestion {
            worst: review.impact.worst,
            attempt,
            now_ms: self.clock.now_ms(),
            ..ClassQuestion::default()
        };
        let mut parts = class.outside(&question);
        parts.extend(self.revoked(class_id)?);
        Ok(parts)
    }

    /// Queried each time, because another process may revoke the class.
    fn revoked(&mut self, class_id: Uuid) -> Result<Option<String>, EvidenceError> {
        let revoked = self.journal().store.is_class_revoked(class_id)?;
        Ok(revoked.then(|| "the class was revoked".to_owned()))
    }

    fn decided(&self, approved: bool, how: &str) {
        self.tell(&RunEvent::AuthorizationDecided { approved, how: how.to_owned() });
    }
}
