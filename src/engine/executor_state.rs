//! The states of the executor (SPEC §3). They follow from the events of its runs, except that a plan was handed over,
//! which happens before the first event.

use crate::run::{Outcome, RunEvent};

/// The state of an executor (SPEC §3).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ExecutorState {
    /// No plan was handed over, or the last one was refused before anything ran.
    #[default]
    Idle,
    /// An approved plan was handed over. It is compared with what was approved, and its host is connected to.
    PlanLoaded,
    /// The run has begun.
    StepInProgress {
        /// The index of the current step, from 0, which equals the length of `completed`.
        current_step: usize,
        /// The outcomes of the steps that have ended, in plan order.
        completed: Vec<Outcome>,
        /// What the run waits for; `None` while it works.
        waiting: Option<Waiting>,
    },
    /// The run ended: every step was reached and none failed.
    Completed,
    /// The run ended at a step that failed or was denied, or because the evidence could not be written.
    Failed,
    /// A person ended the run.
    Cancelled,
}

/// What a run waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// A decision about the current step.
    AwaitingConfirmation,
    /// The end of a pause at a step boundary.
    Paused,
}

impl ExecutorState {
    /// Follows one event.
    pub(super) fn apply(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunStarted { .. } => {
                *self =
                    Self::StepInProgress { current_step: 0, completed: Vec::new(), waiting: None }
            }
            RunEvent::RunCompleted { .. } => *self = Self::Completed,
            RunEvent::RunFailed { .. } => *self = Self::Failed,
            RunEvent::RunCancelled { .. } => *self = Self::Cancelled,
            event => {
                if let Self::StepInProgress { current_step, completed, waiting } = self {
                    match event {
                        RunEvent::ConfirmationNeeded { .. } => {
                            *waiting = Some(Waiting::AwaitingConfirmation)
                        }
                        RunEvent::Paused => *waiting = Some(Waiting::Paused),
                        RunEvent::ConfirmationDecided { .. } | RunEvent::Resumed => {
                            *waiting = None;
                        }
                        RunEvent::StepCompleted { result }
                        | RunEvent::StepFailed { result }
                        | RunEvent::StepSkipped { result, .. } => {
                            completed.push(result.outcome);
                            *current_step = completed.len();
                            // *Stop now* ends a step without a decision.
                            *waiting = None;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}
