//! The plan of an attempt of a bounded loop, as a session of the plan page.

use std::path::PathBuf;

use uuid::Uuid;

use super::session::PlanSession;
use crate::run::{Attempt, Phase, RunState, Steps};
use crate::ui::plan::{Approval, PlanAttempt};
use crate::worker::{OpenedPlan, PlanProposal};

/// The state of a run with this many steps before its first event arrives.
pub(super) fn begun(steps: usize, started_at_ms: i64) -> RunState {
    let steps = Steps::waiting(steps);
    RunState { phase: Phase::Running, steps, started_at_ms, ..RunState::default() }
}

impl PlanSession {
    /// A session for a plan that was proposed in a loop, with the review made by the loop.
    pub fn proposed(proposal: PlanProposal) -> Self {
        let PlanProposal { loop_id, attempt: number, max_attempts, plan, review, .. } = proposal;
        let attempt = Attempt { loop_id, number };
        let opened = OpenedPlan {
            digest: plan.digest,
            findings: review.findings.clone(),
            review: Some(review),
            plan: Some(plan),
            ..OpenedPlan::without_plan(PathBuf::new())
        };
        Self {
            attempt: Some(PlanAttempt { attempt, max_attempts, waits: false }),
            ..Self::opened(opened, None)
        }
    }

    /// A session for the loop's own verification. It has no plan; it holds the confirmations of that run.
    pub fn verification(now_ms: i64) -> Self {
        let run = begun(0, now_ms);
        Self { run, ..Self::opened(OpenedPlan::without_plan(PathBuf::new()), None) }
    }

    /// Sets whether the loop waits for a decision about this plan.
    pub(super) fn set_waits(&mut self, waits: bool) {
        if let Some(attempt) = &mut self.attempt {
            attempt.waits = waits;
        }
    }

    /// Whether a loop waits for a decision about this plan.
    pub fn waits(&self) -> bool {
        self.attempt.is_some_and(|attempt| attempt.waits)
    }

    /// Whether this is the plan of an attempt of this loop.
    pub(super) fn is_of_loop(&self, loop_id: Uuid) -> bool {
        self.attempt.is_some_and(|it| it.attempt.loop_id == loop_id)
    }

    /// Whether this session is kept when another plan is shown: its run is under way, or a loop waits for its
    /// decision.
    pub fn is_kept(&self) -> bool {
        self.run.is_active() || self.waits()
    }

    /// Whether this is the plan of this attempt.
    pub fn is_attempt(&self, attempt: Attempt) -> bool {
        self.attempt.is_some_and(|it| it.attempt == attempt)
    }

    /// Marks the attempt as authorized and running.
    pub fn begin_attempt(&mut self, now_ms: i64) {
        let steps = self.opened.plan.as_ref().map_or(0, |plan| plan.steps.len());
        self.approval = Approval::Used { at_ms: now_ms };
        self.run = begun(steps, now_ms);
        self.hide_simulation();
    }

    /// Notes that the loop no longer waits for a decision, and that no more events of the attempt's run arrive.
    pub fn end_attempt(&mut self, now_ms: i64) {
        self.set_waits(false);
        if self.approval == Approval::Recording {
            self.approval = Approval::None;
        }
        if self.run.is_active() {
            if self.run.run_id.is_some() {
                self.elapsed_ms = Some(now_ms - self.run.started_at_ms);
                self.run.interrupt();
            } else {
                self.run = RunState::default();
            }
        }
    }
}
