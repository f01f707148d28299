//! Sessions of the plan page for the attempts of a bounded loop.

use std::path::PathBuf;

use uuid::Uuid;

use super::PlanSession;
use crate::run::{Attempt, Phase, RunState, Steps};
use crate::ui::plan::{Approval, PlanAttempt};
use crate::worker::{OpenedPlan, PlanProposal};

/// The state of a started run with this many steps, before its first event arrives.
pub(super) fn started_run(steps: usize, started_at_ms: i64) -> RunState {
    let steps = Steps::waiting(steps);
    RunState { phase: Phase::Running, steps, started_at_ms, ..RunState::default() }
}

impl PlanSession {
    /// A session for a plan that the planner of a loop proposed, with the review of the loop.
    pub fn from_proposal(proposal: PlanProposal) -> Self {
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
            attempt: Some(PlanAttempt { attempt, max_attempts, waits: false, by_class: false }),
            ..Self::from_opened(opened, None)
        }
    }

    /// A session for the run in which a loop verifies the workspace. It has no plan and only serves the confirmations
    /// of that run.
    pub fn for_verification(now_ms: i64) -> Self {
        let run = started_run(0, now_ms);
        Self { run, ..Self::from_opened(OpenedPlan::without_plan(PathBuf::new()), None) }
    }

    /// Sets whether the loop waits for a decision about this plan.
    pub(super) fn set_awaits_decision(&mut self, awaits: bool) {
        if let Some(attempt) = &mut self.attempt {
            attempt.waits = awaits;
        }
    }

    /// Whether a loop waits for a decision about this plan.
    pub fn awaits_decision(&self) -> bool {
        self.attempt.is_some_and(|attempt| attempt.waits)
    }

    /// Whether this is the plan of an attempt of this loop.
    pub fn belongs_to_loop(&self, loop_id: Uuid) -> bool {
        self.attempt.is_some_and(|it| it.attempt.loop_id == loop_id)
    }

    /// Whether the run of this session is under way in this window, or a loop waits for the decision about its plan. Such a session is
    /// kept when another one is shown.
    pub fn is_live(&self) -> bool {
        self.runs_here() || self.awaits_decision()
    }

    /// Whether this is the plan of this attempt.
    pub fn is_attempt(&self, attempt: Attempt) -> bool {
        self.attempt.is_some_and(|it| it.attempt == attempt)
    }

    /// Marks the attempt as authorized, by a class or by a person, and running.
    pub fn begin_attempt(&mut self, by_class: bool, now_ms: i64) {
        if let Some(attempt) = &mut self.attempt {
            attempt.by_class = by_class;
        }
        let steps = self.opened.plan.as_ref().map_or(0, |plan| plan.steps.len());
        self.approval = Approval::Used { at_ms: now_ms };
        self.run = started_run(steps, now_ms);
        self.remember_before_run();
        self.hide_simulation();
    }

    /// Ends the wait for a decision. A run that is still under way is marked as interrupted, or as not started if it
    /// has no id.
    pub fn end_attempt(&mut self, now_ms: i64) {
        self.set_awaits_decision(false);
        if self.approval.is_pending() {
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
