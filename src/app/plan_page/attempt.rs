//! The plan of an attempt of a bounded loop, as a session of the plan page.

use std::path::PathBuf;

use uuid::Uuid;

use super::session::PlanSession;
use crate::run::{Attempt, Phase, RunState, Steps};
use crate::ui::plan::{Approval, PlanAttempt};
use crate::worker::{OpenedPlan, PlanProposal};

/// A run of so many steps that is shown as running although its first event comes later.
pub(super) fn begun(steps: usize, started_at_ms: i64) -> RunState {
    let steps = Steps::waiting(steps);
    RunState { phase: Phase::Running, steps, started_at_ms, ..RunState::default() }
}

impl PlanSession {
    /// A session for the plan that a loop has, as it was reviewed there.
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

    /// A session for the loop's own verification, which has no page: it holds what the run asks.
    pub fn verification(now_ms: i64) -> Self {
        let run = begun(0, now_ms);
        Self { run, ..Self::opened(OpenedPlan::without_plan(PathBuf::new()), None) }
    }

    /// Notes whether the loop waits for an answer to it.
    pub(super) fn set_waits(&mut self, waits: bool) {
        if let Some(attempt) = &mut self.attempt {
            attempt.waits = waits;
        }
    }

    /// Whether a loop waits for an answer to it.
    pub fn waits(&self) -> bool {
        self.attempt.is_some_and(|attempt| attempt.waits)
    }

    /// Whether it is the plan of an attempt of this loop.
    pub(super) fn is_of_loop(&self, loop_id: Uuid) -> bool {
        self.attempt.is_some_and(|it| it.attempt.loop_id == loop_id)
    }

    /// Whether it stays when another plan is put on the page: its run is under way, or a loop waits for it.
    pub fn is_kept(&self) -> bool {
        self.run.is_active() || self.waits()
    }

    /// Whether it is the plan of this attempt.
    pub fn is_attempt(&self, attempt: Attempt) -> bool {
        self.attempt.is_some_and(|it| it.attempt == attempt)
    }

    /// Shows the attempt as running: it was authorized.
    pub fn begin_attempt(&mut self, now_ms: i64) {
        let steps = self.opened.plan.as_ref().map_or(0, |plan| plan.steps.len());
        self.approval = Approval::Used { at_ms: now_ms };
        self.run = begun(steps, now_ms);
        self.hide_simulation();
    }

    /// Ends the attempt: no answer is waited for, and no more events of its run come.
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
