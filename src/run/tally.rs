//! How many steps of a run ended in which way. Pure.

use super::{Outcome, StepState, Steps};

/// How many steps of a run ended in which way; outcomes that are not listed here are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunTally {
    /// Steps that succeeded.
    pub succeeded: usize,
    /// Steps that a person left out.
    pub skipped: usize,
    /// Steps that a person did by hand.
    pub by_hand: usize,
    /// Steps that a person denied: at most one, because a denial ends the run.
    pub denied: usize,
    /// Steps without an outcome: begun, and not recorded.
    pub unknown: usize,
}

impl RunTally {
    /// Counts the steps of a run that is over.
    pub fn of(steps: &Steps) -> Self {
        let mut tally = Self::default();
        for outcome in [Outcome::Succeeded, Outcome::Skipped, Outcome::DoneByHand, Outcome::Denied]
        {
            tally.add(outcome, steps.ended(outcome));
        }
        tally.unknown = steps.iter().filter(|step| matches!(step, StepState::Running)).count();
        tally
    }

    /// Adds steps with an outcome.
    pub fn add(&mut self, outcome: Outcome, number: usize) {
        match outcome {
            Outcome::Succeeded => self.succeeded += number,
            Outcome::Skipped => self.skipped += number,
            Outcome::DoneByHand => self.by_hand += number,
            Outcome::Denied => self.denied += number,
            Outcome::Failed | Outcome::PreconditionFailed | Outcome::Cancelled => {}
        }
    }

    /// Whether every step that ended was skipped.
    pub fn nothing_ran(&self) -> bool {
        self.skipped > 0 && self.succeeded + self.by_hand == 0
    }

    /// `3 succeeded, 1 skipped`; empty if no step succeeded, was skipped or was done by hand.
    pub fn words(&self) -> String {
        let parts = [
            (self.succeeded, "succeeded"),
            (self.skipped, "skipped"),
            (self.by_hand, "done by hand"),
        ];
        let parts = parts.iter().filter(|(number, _)| *number > 0);
        parts.map(|(number, word)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
    }
}
