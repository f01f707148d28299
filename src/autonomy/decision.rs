//! Obtains and records the authorization of an attempt's plan, by a class or by a person (SPEC §10).

use uuid::Uuid;

use super::attempts::{CurrentAttempt, Halt};
use super::authorizer::outside_class;
use super::{AuthorizationRequest, BoundedLoop, PlanDecision};
use crate::authorization::{
    AuthorizationClass, ForAttempt, Method, PlanAuthorization, PlanProperties,
};
use crate::evidence::EvidenceError;
use crate::plan::Plan;
use crate::run::{Happened, Review, RunEvent};

impl BoundedLoop<'_> {
    /// Obtains and records the authorization of this plan. A rejection ends the attempt.
    pub(super) fn authorize(
        &mut self,
        open: &mut CurrentAttempt,
        plan: &Plan,
        review: &Review,
    ) -> Result<PlanAuthorization, Halt> {
        self.compare_with_last_plan(open, plan);
        let attempt = open.record.attempt;
        let outside = self.outside_class(plan, review, attempt)?;
        let class = self.class.filter(|_| outside.is_empty());
        let request = AuthorizationRequest {
            loop_id: self.loop_id,
            attempt,
            max_attempts: self.max_attempts,
            plan,
            review,
            outside: &outside,
        };
        self.authorizer.show(&request);
        let decision = match class {
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
                self.authorizer.authorize(&request)
            }
        };
        self.check_not_stopped()?;
        let pending = |method, now_ms| {
            PlanAuthorization::pending(plan, review.binding.clone(), method, now_ms)
        };
        let now_ms = self.clock.now_ms();
        match decision {
            PlanDecision::Stop => Err(self.stopped()),
            PlanDecision::Reject { method, reason, replan } => {
                let authorization = pending(method, now_ms).reject(now_ms, reason.as_str());
                self.journal().store.record_authorization(&authorization, plan)?;
                self.emit_decision(false, &reason);
                if !replan {
                    return Err(Halt::new(Happened::NotAuthorized, reason));
                }
                open.record.feedback = Some(reason.clone());
                Err(Halt::new(
                    Happened::PlanRejected,
                    format!("a person rejected the plan: {reason}"),
                ))
            }
            PlanDecision::Approve { method, note } => {
                let note = format!("attempt {attempt} of loop {}: {note}", self.loop_id);
                let for_attempt = self.for_attempt(open, class, note.clone());
                let authorization = pending(method, now_ms)
                    .for_attempt(for_attempt)
                    .approve(now_ms, self.setup.policy.authorization_ttl_ms)
                    .with_boot_time(self.clock.since_boot());
                self.executor.record_authorization(&authorization, plan, None)?;
                self.emit_decision(true, &note);
                Ok(authorization)
            }
        }
    }

    /// Emits and records how the plan differs from the latest earlier plan of this loop, if there is one. Secrets of
    /// both plans are hidden.
    fn compare_with_last_plan(&mut self, open: &mut CurrentAttempt, plan: &Plan) {
        let earlier = self.past_attempts.iter().rev();
        let mut earlier = earlier.filter_map(|past| Some((past, past.attempt.plan.as_ref()?)));
        let Some((past, before)) = earlier.next() else { return };
        let difference = self.redactor.plan_difference(before, plan);
        self.tell(&RunEvent::PlanRevised {
            reason: past.reason.clone(),
            difference: Box::new(difference.clone()),
        });
        if let Some(trace) = &mut open.trace {
            trace.revised = Some((past.reason.clone(), difference));
        }
    }

    /// The part of an authorization that names the loop, the attempt and the class.
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

    /// Why the class does not cover the plan or its verification; empty if it does, or if there is no class.
    fn outside_class(
        &mut self,
        plan: &Plan,
        review: &Review,
        attempt: u32,
    ) -> Result<Vec<String>, Halt> {
        let Some((class_id, class)) = self.class else { return Ok(Vec::new()) };
        let now_ms = self.clock.now_ms();
        let mut reasons = outside_class(class, plan, review, &self.toolbox, attempt, now_ms);
        // Checked now, before the plan changes anything.
        match self.verification_risk()? {
            Ok(Some(risk)) if risk > class.max_risk => {
                reasons.push(format!("the risk {} of the verification", risk.as_str()));
            }
            Ok(_) => {}
            Err(error) => reasons.push(format!("the verification cannot be judged: {error}")),
        }
        reasons.extend(self.revoked(class_id)?);
        Ok(reasons)
    }

    /// Why the class does not cover the verification, just before it runs; empty if it does, or if there is no
    /// class. The tools and paths of a class restrict plans, not the verification that the person ordered with the
    /// loop.
    pub(super) fn verification_outside_class(
        &mut self,
        review: &Review,
        attempt: u32,
    ) -> Result<Vec<String>, EvidenceError> {
        let Some((class_id, class)) = self.class else { return Ok(Vec::new()) };
        // Walls are not compared: the access of the verification commands is trusted together with the commands.
        let properties = PlanProperties {
            worst: review.impact.worst,
            attempt,
            now_ms: self.clock.now_ms(),
            ..PlanProperties::default()
        };
        let mut reasons = class.violations(&properties);
        reasons.extend(self.revoked(class_id)?);
        Ok(reasons)
    }

    /// The revocation as a reason, if the class was revoked. Queried each time, because another process may revoke
    /// the class.
    fn revoked(&mut self, class_id: Uuid) -> Result<Option<String>, EvidenceError> {
        let revoked = self.journal().store.is_class_revoked(class_id)?;
        Ok(revoked.then(|| "the class was revoked".to_owned()))
    }

    fn emit_decision(&self, approved: bool, how: &str) {
        self.tell(&RunEvent::AuthorizationDecided { approved, how: how.to_owned() });
    }
}
