//! Computes the state of a bounded loop (SPEC §10), live or replayed, from its events.

use uuid::Uuid;

use super::{
    AttemptRecord, LookRecord, LookScope, PlanDifference, PlannerReport, RunEvent, RunState,
    StopReason,
};
use crate::plan::Digest;

/// The minimum size of the latest part of the planner's standard error that is kept for the screen, in bytes; at most
/// twice as much is kept. The evidence stores all of it.
const PLANNER_OUTPUT_BYTES: usize = 32 << 10;

/// The current phase of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LoopPhase {
    /// No loop has started.
    #[default]
    Idle,
    /// The planner is running.
    Planning,
    /// Another process plans, or waits there for an answer of a person. The evidence does not tell which.
    Elsewhere,
    /// The plan waits for its authorization. The texts name what is outside the authorization class.
    AwaitingAuthorization(Vec<String>),
    /// The planner asks this, and waits for a person's answer.
    AwaitingAnswer(String),
    /// The plan is running.
    Applying,
    /// The loop's own verification is running.
    Verifying,
    /// The loop ended.
    Ended(Box<StopReason>),
    /// The process of the loop ended without recording an end.
    Interrupted,
}

/// The state of one attempt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AttemptState {
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The time of the start, in Unix milliseconds.
    pub started_at_ms: i64,
    /// The latest part of the planner's standard error.
    pub planner_output: String,
    /// What the planner looked at before it answered.
    pub looks: Vec<LookRecord>,
    /// The planner's answer, or why there is none.
    pub planner: Option<Box<PlannerReport>>,
    /// The digest of the plan.
    pub plan_digest: Option<Digest>,
    /// Why the earlier plan did not complete the loop, and how this plan differs from it.
    pub revised: Option<(String, Box<PlanDifference>)>,
    /// The number of the earlier attempt whose plan this attempt repeats.
    pub repeats: Option<u32>,
    /// Whether the plan was authorized, and the note of the authorization or the reason of the rejection.
    pub authorized: Option<(bool, String)>,
    /// The run of the plan, once it has begun.
    pub run: Option<Box<RunState>>,
    /// The run of the loop's own verification.
    pub gate: Option<Box<RunState>>,
    /// The record of the attempt, once it has ended.
    pub record: Option<Box<AttemptRecord>>,
}

/// The state of a bounded loop, computed from its events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoopState {
    /// The loop, once it has started.
    pub loop_id: Option<Uuid>,
    /// The goal of the loop.
    pub goal: String,
    /// The planner, as the person named it.
    pub planner: String,
    /// The workspace folder.
    pub workspace: String,
    /// The maximum number of attempts.
    pub max_attempts: u32,
    /// The class of plans that was authorized in advance.
    pub class_id: Option<Uuid>,
    /// What the planner may look at.
    pub looks: LookScope,
    /// The SSH destination of the goal's host.
    pub target: Option<String>,
    /// The time of the start, in Unix milliseconds.
    pub started_at_ms: i64,
    /// The current phase.
    pub phase: LoopPhase,
    /// The number of attempts left, including the next one; set only before the last attempt.
    pub attempts_left: Option<u32>,
    /// The attempts, in order.
    pub attempts: Vec<AttemptState>,
}

impl LoopState {
    /// Applies one event of the loop or of its runs.
    pub fn apply(&mut self, event: &RunEvent) {
        match event {
            RunEvent::LoopStarted {
                loop_id,
                goal,
                planner,
                workspace,
                max_attempts,
                class_id,
                looks,
                target,
                timestamp_ms,
            } => {
                *self = Self {
                    loop_id: Some(*loop_id),
                    goal: goal.clone(),
                    planner: planner.clone(),
                    workspace: workspace.clone(),
                    max_attempts: *max_attempts,
                    class_id: *class_id,
                    looks: *looks,
                    target: target.clone(),
                    started_at_ms: *timestamp_ms,
                    phase: LoopPhase::Planning,
                    ..Self::default()
                };
            }
            RunEvent::AttemptStarted { attempt, timestamp_ms, .. } => {
                self.phase = LoopPhase::Planning;
                self.attempts.push(AttemptState {
                    attempt: *attempt,
                    started_at_ms: *timestamp_ms,
                    ..AttemptState::default()
                });
            }
            RunEvent::BudgetWarning { attempts_left } => self.attempts_left = Some(*attempts_left),
            RunEvent::LoopEnded { stop_reason } => {
                self.phase = LoopPhase::Ended(stop_reason.clone());
            }
            RunEvent::PlannerStarted { .. } => self.phase = LoopPhase::Planning,
            RunEvent::PlannerAsked { question, .. } => {
                self.phase = LoopPhase::AwaitingAnswer(question.clone());
            }
            RunEvent::AuthorizationNeeded { outside, .. } => {
                self.phase = LoopPhase::AwaitingAuthorization(outside.clone());
            }
            RunEvent::VerifyStarted => self.phase = LoopPhase::Verifying,
            RunEvent::RunStarted { .. } if self.phase != LoopPhase::Verifying => {
                self.phase = LoopPhase::Applying;
            }
            _ => {}
        }
        let verifies = self.phase == LoopPhase::Verifying;
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.apply(event, verifies);
        }
    }

    /// Marks a loop that has no end and will send no more events as interrupted.
    pub fn interrupt(&mut self) {
        if self.is_over() {
            return;
        }
        self.phase = LoopPhase::Interrupted;
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.run.iter_mut().chain(&mut attempt.gate).for_each(|run| run.interrupt());
        }
    }

    /// Marks a loop from the evidence that another process runs.
    pub fn mark_elsewhere(&mut self) {
        if self.phase == LoopPhase::Planning {
            self.phase = LoopPhase::Elsewhere;
        }
    }

    /// Whether the loop has ended or was interrupted.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, LoopPhase::Ended(_) | LoopPhase::Interrupted)
    }
}

impl AttemptState {
    fn apply(&mut self, event: &RunEvent, verifies: bool) {
        match event {
            RunEvent::PlannerOutput { chunk } => self.add_output(chunk),
            RunEvent::PlannerLooked { looks, .. } => self.looks.extend_from_slice(looks),
            RunEvent::PlannerAnswered { report, plan_digest } => {
                self.planner = Some(report.clone());
                self.plan_digest = *plan_digest;
            }
            RunEvent::PlanRevised { reason, difference } => {
                self.revised = Some((reason.clone(), difference.clone()));
            }
            RunEvent::NoProgress { failed_in } => self.repeats = Some(*failed_in),
            RunEvent::AuthorizationDecided { approved, how } => {
                self.authorized = Some((*approved, how.clone()));
            }
            RunEvent::AttemptEnded { record } => self.record = Some(record.clone()),
            RunEvent::LoopStarted { .. }
            | RunEvent::AttemptStarted { .. }
            | RunEvent::PlannerStarted { .. }
            | RunEvent::PlannerAsked { .. }
            | RunEvent::AuthorizationNeeded { .. }
            | RunEvent::VerifyStarted
            | RunEvent::BudgetWarning { .. }
            | RunEvent::LoopEnded { .. } => {}
            run_event => {
                let run = if verifies { &mut self.gate } else { &mut self.run };
                run.get_or_insert_default().apply(run_event);
            }
        }
    }

    fn add_output(&mut self, chunk: &str) {
        self.planner_output.push_str(chunk);
        // Not trimmed at every chunk, because trimming moves all bytes that are kept.
        if self.planner_output.len() > 2 * PLANNER_OUTPUT_BYTES {
            let from = self.planner_output.len() - PLANNER_OUTPUT_BYTES;
            let from = self.planner_output.ceil_char_boundary(from);
            self.planner_output.drain(..from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Phase, PlannerStatus, RunStatus, StopCode, StopDetail};

    fn run(plan_id: &str) -> RunEvent {
        RunEvent::RunStarted {
            run_id: Uuid::new_v4(),
            plan_id: plan_id.to_owned(),
            step_count: 1,
            timestamp_ms: 3,
        }
    }

    fn started() -> LoopState {
        let mut state = LoopState::default();
        for event in [
            RunEvent::LoopStarted {
                loop_id: Uuid::nil(),
                goal: "g".to_owned(),
                planner: "p".to_owned(),
                workspace: "/w".to_owned(),
                max_attempts: 3,
                class_id: None,
                looks: LookScope::Workspace,
                target: None,
                timestamp_ms: 1,
            },
            RunEvent::AttemptStarted { attempt: 1, max_attempts: 3, timestamp_ms: 2 },
        ] {
            state.apply(&event);
        }
        state
    }

    #[test]
    fn loop_state_follows_its_events() {
        let mut state = started();
        let report = PlannerReport {
            status: PlannerStatus::Accepted,
            version: None,
            action_count: 1,
            failure_code: None,
            message: None,
            retryable: None,
            answers_goal: None,
            findings: Vec::new(),
        };
        let digest = Digest::of(b"plan");
        let mut phases = Vec::new();
        for event in [
            RunEvent::PlannerStarted { planner: "p".to_owned() },
            RunEvent::PlannerAnswered {
                report: Box::new(report.clone()),
                plan_digest: Some(digest),
            },
            RunEvent::AuthorizationNeeded {
                loop_id: Uuid::nil(),
                attempt: 1,
                plan_digest: digest,
                outside: vec!["x".to_owned()],
            },
            RunEvent::AuthorizationDecided { approved: true, how: "by ada".to_owned() },
            run("plan"),
            RunEvent::RunCompleted { step_count: 1 },
            RunEvent::VerifyStarted,
            run("gate"),
            RunEvent::RunCompleted { step_count: 1 },
        ] {
            state.apply(&event);
            phases.push(state.phase.clone());
        }
        use LoopPhase::{Applying, Planning, Verifying};
        let waiting = LoopPhase::AwaitingAuthorization(vec!["x".to_owned()]);
        let expected = [Planning, Planning, waiting.clone(), waiting, Applying, Applying];
        assert_eq!(phases[..6], expected);
        assert_eq!(phases[6..], [Verifying, Verifying, Verifying]);
        let attempt = &state.attempts[0];
        assert_eq!(attempt.planner.as_deref(), Some(&report));
        assert_eq!(attempt.authorized, Some((true, "by ada".to_owned())));
        let run = attempt.run.as_deref().unwrap();
        assert_eq!(
            (run.plan_id.as_str(), &run.phase),
            ("plan", &Phase::Ended(RunStatus::Completed))
        );
        assert_eq!(attempt.gate.as_deref().unwrap().plan_id, "gate");
        let reason = StopReason {
            code: StopCode::Completed,
            message: String::new(),
            detail: StopDetail::default(),
        };
        state.apply(&RunEvent::LoopEnded { stop_reason: Box::new(reason.clone()) });
        assert_eq!(state.phase, LoopPhase::Ended(Box::new(reason.clone())));
        state.interrupt();
        // A loop that has ended cannot be interrupted.
        assert_eq!(state.phase, LoopPhase::Ended(Box::new(reason)));
    }

    #[test]
    fn an_interrupted_loop_interrupts_its_run() {
        let mut state = started();
        state.apply(&run("plan"));
        state.interrupt();
        assert_eq!(state.phase, LoopPhase::Interrupted);
        assert_eq!(state.attempts[0].run.as_deref().unwrap().phase, Phase::Interrupted);
    }

    #[test]
    fn the_latest_planner_output_is_kept() {
        let mut state = started();
        for number in 0..20_000 {
            state.apply(&RunEvent::PlannerOutput { chunk: format!("line é {number}\n") });
        }
        let kept = &state.attempts[0].planner_output;
        assert!((PLANNER_OUTPUT_BYTES..=2 * PLANNER_OUTPUT_BYTES).contains(&kept.len()));
        assert!(kept.ends_with("line é 19999\n"));
    }
}
