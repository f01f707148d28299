//! The answer to the plan of an attempt: given, refused, or given in advance (SPEC §10).

use uuid::Uuid;

use super::attempts::{CurrentAttempt, Halt};
use super::authorizer::{AuthorizationRequest, PlanDecision, outside};
use super::bounded::BoundedLoop;
use crate::authorization::{
    AuthorizationClass, ForAttempt, Method, PlanAuthorization, PlanProperties,
};
use crate::evidence::EvidenceError;
use crate::plan::Plan;
use crate::run::{Happened, PlanDifference, Review, RunEvent};

impl BoundedLoop<'_> {
    /// The answer to this plan and no other.
    pub(super) fn authorized(
        &mut self,
        open: &mut CurrentAttempt,
        plan: &Plan,
        review: &Review,
    ) -> Result<PlanAuthorization, Halt> {
        self.compare_with_last_plan(open, plan);
        let attempt = open.record.attempt;
        let outside = self.outside(plan, review, attempt)?;
        let class = self.class.filter(|_| outside.is_empty());
        let asked = AuthorizationRequest {
            loop_id: self.loop_id,
            attempt,
            max_attempts: self.max_attempts,
            plan,
            review,
            outside: &outside,
        };
        self.authorizer.show(&asked);
        let answer = match class {
            Some((class_id, _)) => PlanDecision::Approve {
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
        self.check_not_stopped()?;
        let pending = |method, now_ms| {
            PlanAuthorization::pending(plan, review.binding.clone(), method, now_ms)
        };
        let now_ms = self.clock.now_ms();
        match answer {
            PlanDecision::Stop => Err(self.stopped()),
            PlanDecision::Reject { method, reason } => {
                let authorization = pending(method, now_ms).reject(now_ms, reason.as_str());
                self.journal().store.record_authorization(&authorization, plan)?;
                self.decided(false, &reason);
                Err(Halt::new(Happened::NotAuthorized, reason))
            }
            PlanDecision::Approve { method, note } => {
                let note = format!("attempt {attempt} of loop {}: {note}", self.loop_id);
                let answered = self.for_attempt(open, class, note.clone());
                let authorization = pending(method, now_ms)
                    .for_attempt(answered)
                    .approve(now_ms, self.setup.policy.authorization_ttl_ms)
                    .with_boot_time(self.clock.since_boot());
                self.journal().store.record_authorization(&authorization, plan)?;
                self.decided(true, &note);
                Ok(authorization)
            }
        }
    }

    /// Tells and keeps how the plan differs from the last one of this loop, if there was one.
    fn compare_with_last_plan(&self, open: &mut CurrentAttempt, plan: &Plan) {
        let earlier = self.tried.iter().rev();
        let mut earlier = earlier.filter_map(|tried| Some((tried, tried.attempt.plan.as_ref()?)));
        let Some((tried, before)) = earlier.next() else { return };
        let difference = PlanDifference::between(before, plan);
        self.tell(&RunEvent::PlanRevised {
            reason: tried.reason.clone(),
            difference: Box::new(difference.clone()),
        });
        if let Some(trace) = &mut open.trace {
            trace.revised = Some((tried.reason.clone(), difference));
        }
    }

    fn for_attempt(
        &self,
        open: &CurrentAttempt,
        class: Option<(Uuid, &AuthorizationClass)>,
        note: String,
    ) -> ForAttempt {
        ForAttempt {
            loop_id: self.loop_id,
            goal: self.setup.order.goal.clone(),
            attempt_id: open.attempt_id,
            attempt: open.record.attempt,
            class_id: class.map(|(class_id, _)| class_id),
            max_risk: class.map(|(_, class)| class.max_risk),
            note,
        }
    }

    fn outside(&mut self, plan: &Plan, review: &Review, attempt: u32) -> Result<Vec<String>, Halt> {
        let Some((class_id, class)) = self.class else { return Ok(Vec::new()) };
        let mut parts = outside(class, plan, review, &self.toolbox, attempt, self.clock.now_ms());
        // Checked now, before the plan changes anything.
        match self.verification_risk()? {
            Ok(Some(risk)) if risk > class.max_risk => {
                parts.push(format!("the risk {} of the verification", risk.as_str()));
            }
            Ok(_) => {}
            Err(error) => parts.push(format!("the verification cannot be judged: {error}")),
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
        let Some((class_id, class)) = self.class else { return Ok(Vec::new()) };
        // What the commands that verify may have beyond their walls was trusted with them.
        let properties = PlanProperties {
            worst: review.impact.worst,
            attempt,
            now_ms: self.clock.now_ms(),
            ..PlanProperties::default()
        };
        let mut parts = class.violations(&properties);
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
