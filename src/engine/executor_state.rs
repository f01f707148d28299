//! The executor's states (SPEC §3).

use crate::run::{RunStatus, StepResult};

/// Where the executor stands. While a plan is under way, `completed.len() == current_step`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ExecutorState {
    /// Nothing was handed over.
    #[default]
    Idle,
    /// An approved plan was handed over.
    PlanLoaded {
        /// The plan.
        plan_id: String,
    },
    /// A step is under way.
    StepInProgress {
        /// Its place, from 0.
        current_step: usize,
        /// What became of the steps before it.
        completed: Vec<StepResult>,
    },
    /// The run ended.
    Ended {
        /// How.
        status: RunStatus,
        /// What became of the steps.
        completed: Vec<StepResult>,
    },
}
