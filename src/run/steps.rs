//! States of the steps of a run, with the number of steps per outcome.
//!
//! The counts are updated with each change, so that views of ten thousand steps do not have to count. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use super::{Outcome, StepResult};

/// The state of one step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum StepState {
    /// The step was not reached.
    #[default]
    Waiting,
    /// The step is running.
    Running,
    /// The step has ended.
    Done(Box<StepResult>),
}

impl StepState {
    /// The outcome, once there is one.
    pub fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Done(result) => Some(result.outcome),
            Self::Waiting | Self::Running => None,
        }
    }
}

/// One state for each step, by its index in the plan (SPEC §3).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Steps {
    states: Vec<StepState>,
    /// The number of ended steps by outcome.
    ended: BTreeMap<Outcome, usize>,
    /// The indices of the steps with an outcome after which the run does not continue.
    stops: BTreeSet<usize>,
    took_ms: i64,
}

impl Steps {
    /// This many steps in the state [`StepState::Waiting`].
    pub fn waiting(count: usize) -> Self {
        Self { states: vec![StepState::Waiting; count], ..Self::default() }
    }

    /// The number of steps that have ended.
    pub fn done(&self) -> usize {
        self.ended.values().sum()
    }

    /// The number of steps with this outcome.
    pub fn ended(&self, outcome: Outcome) -> usize {
        self.ended.get(&outcome).copied().unwrap_or_default()
    }

    /// The index of the first step with an outcome after which a run does not continue.
    pub fn stopped_at(&self) -> Option<usize> {
        self.stops.first().copied()
    }

    /// The sum of the durations of the ended steps, in milliseconds.
    pub fn took_ms(&self) -> i64 {
        self.took_ms
    }

    /// Sets the state of a step. An index that is not in the plan is ignored.
    pub(super) fn set(&mut self, index: usize, state: StepState) {
        let Some(current) = self.states.get_mut(index) else { return };
        if let StepState::Done(result) = &state {
            *self.ended.entry(result.outcome).or_default() += 1;
            self.took_ms += result.duration_ms;
        }
        let stops = state.outcome().is_some_and(|outcome| !outcome.continues_run());
        if let StepState::Done(before) = std::mem::replace(current, state) {
            if let Some(count) = self.ended.get_mut(&before.outcome) {
                *count -= 1;
            }
            self.took_ms -= before.duration_ms;
        }
        if stops {
            self.stops.insert(index);
        } else {
            self.stops.remove(&index);
        }
    }
}

impl Deref for Steps {
    type Target = [StepState];

    fn deref(&self) -> &[StepState] {
        &self.states
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    const OUTCOMES: [Outcome; 7] = [
        Outcome::Succeeded,
        Outcome::Failed,
        Outcome::Denied,
        Outcome::Skipped,
        Outcome::DoneByHand,
        Outcome::PreconditionFailed,
        Outcome::Cancelled,
    ];

    /// The result of a step with this outcome and no output.
    pub(in crate::run) fn result(
        step_index: usize,
        outcome: Outcome,
        duration_ms: i64,
    ) -> StepResult {
        StepResult {
            step_id: String::new(),
            step_index,
            tool_name: String::new(),
            success: outcome == Outcome::Succeeded,
            outcome,
            execution_id: uuid::Uuid::nil(),
            exit_code: None,
            terminal: false,
            stdout: None,
            stdout_bytes: 0,
            stdout_truncated: false,
            stderr: None,
            stderr_bytes: 0,
            stderr_truncated: false,
            error_message: None,
            error_code: None,
            next: None,
            timestamp_ms: 0,
            duration_ms,
            diagnostic_artifacts: Vec::new(),
            needs: None,
            walls: None,
            wall_notes: Vec::new(),
            refused: false,
            refused_write: None,
            note: String::new(),
        }
    }

    fn done(step_index: usize, outcome: Outcome, duration_ms: i64) -> StepState {
        StepState::Done(Box::new(result(step_index, outcome, duration_ms)))
    }

    proptest! {
        #[test]
        fn counters_equal_recounted_states(
            changes in prop::collection::vec((0_usize..12, 0_usize..9, 0_i64..1_000), 0..60),
        ) {
            let mut steps = Steps::waiting(10);
            for (index, kind, duration_ms) in changes {
                let state = match OUTCOMES.get(kind) {
                    Some(outcome) => done(index, *outcome, duration_ms),
                    None if kind == 7 => StepState::Running,
                    None => StepState::Waiting,
                };
                steps.set(index, state);
            }
            let outcomes: Vec<_> = steps.iter().map(StepState::outcome).collect();
            prop_assert_eq!(steps.done(), outcomes.iter().flatten().count());
            for outcome in OUTCOMES {
                let count = outcomes.iter().filter(|it| **it == Some(outcome)).count();
                prop_assert_eq!(steps.ended(outcome), count);
            }
            let stopped = outcomes.iter().position(|it| it.is_some_and(|it| !it.continues_run()));
            prop_assert_eq!(steps.stopped_at(), stopped);
            let took = |step: &StepState| match step {
                StepState::Done(result) => result.duration_ms,
                StepState::Waiting | StepState::Running => 0,
            };
            prop_assert_eq!(steps.took_ms(), steps.iter().map(took).sum::<i64>());
        }
    }
}
