//! The plan of an attempt of a bounded loop, as a session of the plan page.

use std::path::PathBuf;

use uuid::Uuid;

use super::session::PlanSession;
use crate::plan::Digest;
use crate::run::{Phase, RunState, Steps};
use crate::ui::plan::Approval;
use crate::worker::{OpenedPlan, PlanProposal};

/// Which attempt of which loop a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) struct PlanAttempt {
    pub(in crate::app) loop_id: Uuid,
    /// Which one, from 1.
    pub(in crate::app) attempt: u32,
    pub(in crate::app) max_attempts: u32,
    /// Whether the loop waits for an answer to it.
    pub(in crate::app) waits: bool,
}

impl PlanSession {
    /// A session for the plan that a loop has, as it was reviewed there.
    pub(in crate::app) fn proposed(proposal: PlanProposal) -> Self {
        let PlanProposal { loop_id, attempt, max_attempts, plan, review, .. } = proposal;
        let opened = OpenedPlan {
            path: PathBuf::new(),
            digest: plan.digest,
            findings: review.findings.clone(),
            review: Some(review),
            plan: Some(plan),
            continues: None,
        };
        Self {
            path: None,
            attempt: Some(PlanAttempt { loop_id, attempt, max_attempts, waits: false }),
            ..Self::opened(opened, None)
        }
    }

    /// A session for the loop's own verification, which has no page: it holds what the run asks.
    pub(in crate::app) fn verification(now_ms: i64) -> Self {
        let opened = OpenedPlan {
            path: PathBuf::new(),
            digest: Digest::of(b""),
            findings: Vec::new(),
            review: None,
            plan: None,
            continues: None,
        };
        let run = RunState { phase: Phase::Running, started_at_ms: now_ms, ..RunState::default() };
        Self { path: None, run, ..Self::opened(opened, None) }
    }

    /// Whether a loop waits for an answer to it.
    pub(in crate::app) fn waits(&self) -> bool {
        self.attempt.is_some_and(|attempt| attempt.waits)
    }

    /// Notes that the loop waits for an answer to it.
    pub(super) fn wait_for_answer(&mut self) {
        if let Some(attempt) = &mut self.attempt {
            attempt.waits = true;
        }
    }

    /// Whether it is the plan of an attempt of this loop.
    pub(super) fn is_of_loop(&self, loop_id: Uuid) -> bool {
        self.attempt.is_some_and(|attempt| attempt.loop_id == loop_id)
    }

    /// Whether it stays when another plan is put on the page: its run is under way, or a loop waits for it.
    pub(in crate::app) fn is_kept(&self) -> bool {
        self.run.is_active() || self.waits()
    }

    /// Whether it is the plan of this attempt.
    pub(in crate::app) fn is_attempt(&self, loop_id: Uuid, number: u32) -> bool {
        self.attempt.is_some_and(|it| (it.loop_id, it.attempt) == (loop_id, number))
    }

    /// Shows it as running: the loop has its authorization and goes on at once.
    pub(in crate::app) fn begin_attempt(&mut self, now_ms: i64) {
        let steps = self.plan.as_ref().map_or(0, |plan| plan.steps.len());
        self.approval = Approval::Used { at_ms: now_ms };
        self.run = RunState {
            phase: Phase::Running,
            steps: Steps::waiting(steps),
            started_at_ms: now_ms,
            ..RunState::default()
        };
        self.shows_simulation = false;
    }

    /// Takes in that nobody waits for it any longer, and that nothing more comes of its run.
    pub(in crate::app) fn end_attempt(&mut self, now_ms: i64) {
        if let Some(attempt) = &mut self.attempt {
            attempt.waits = false;
        }
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
