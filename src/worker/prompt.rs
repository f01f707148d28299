//! The meeting point of a waiting executor and the person's answer.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use crate::autonomy::Authorization;
use crate::engine::{ConfirmationCallback, ControlHandle, Provenance};
use crate::run::{Answer, AnsweredBy, ConfirmationRequest, Control, Decision};

/// Shared by the worker's thread, which waits, and the window, which answers.
#[derive(Debug, Clone, Default)]
pub(super) struct Prompt {
    shared: Arc<Shared>,
    control: ControlHandle,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Nothing,
    /// A person is asked about this step.
    Asked {
        run_id: Uuid,
        step_index: usize,
    },
    Answered(Answer),
    /// The executor took this answer.
    Taken(Answer),
    /// A person is asked about the plan of this attempt.
    PlanAsked {
        loop_id: Uuid,
        attempt: u32,
    },
    PlanAnswered(Authorization),
}

impl Prompt {
    pub(super) fn new(control: ControlHandle) -> Self {
        Self { shared: Arc::default(), control }
    }

    /// Gives an answer; false when nobody waits for one to this step.
    pub(super) fn answer(&self, run_id: Uuid, step_index: usize, answer: Answer) -> bool {
        let mut state = self.lock();
        if !matches!(&*state, State::Asked { run_id: run, step_index: step } if (*run, *step) == (run_id, step_index))
        {
            return false;
        }
        *state = State::Answered(answer);
        self.shared.changed.notify_all();
        true
    }

    /// From now on an answer to this step is taken, also before the executor waits for it: the window
    /// hears of the question first.
    pub(super) fn open(&self, request: &ConfirmationRequest) {
        *self.lock() = State::Asked { run_id: request.run_id, step_index: request.step_index };
    }

    /// Gives an answer to the plan of an attempt; false when nobody waits for one to this plan.
    pub(super) fn answer_plan(&self, loop_id: Uuid, attempt: u32, answer: Authorization) -> bool {
        let mut state = self.lock();
        if !matches!(&*state, State::PlanAsked { loop_id: of, attempt: at } if (*of, *at) == (loop_id, attempt))
        {
            return false;
        }
        *state = State::PlanAnswered(answer);
        self.shared.changed.notify_all();
        true
    }

    /// From now on an answer to this plan is taken, also before the loop waits for it.
    pub(super) fn open_plan(&self, loop_id: Uuid, attempt: u32) {
        *self.lock() = State::PlanAsked { loop_id, attempt };
    }

    /// Waits for the answer to a plan, or for the end of the loop.
    pub(super) fn wait_for_plan(&self) -> Authorization {
        let waits = |state: &mut State| {
            matches!(state, State::PlanAsked { .. }) && !self.control.is_ending()
        };
        let mut state = self
            .shared
            .changed
            .wait_while(self.lock(), waits)
            .unwrap_or_else(PoisonError::into_inner);
        match std::mem::take(&mut *state) {
            State::PlanAnswered(answer) => answer,
            _ => Authorization::Stop,
        }
    }

    /// From now on no answer is taken: nobody waits for one.
    pub(super) fn close(&self) {
        *self.lock() = State::Nothing;
    }

    /// A control takes effect at once, also on an executor that waits for an answer.
    pub(super) fn control(&self, control: Control) {
        self.control.request(control, AnsweredBy::Window);
        // Under the lock, so that a wait that is just about to begin cannot miss it.
        drop(self.lock());
        self.shared.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConfirmationCallback for Prompt {
    fn request_confirmation(&self, _request: &ConfirmationRequest) -> Decision {
        let mut state = self
            .shared
            .changed
            .wait_while(self.lock(), |state| {
                matches!(state, State::Asked { .. }) && !self.control.is_stopped()
            })
            .unwrap_or_else(PoisonError::into_inner);
        match std::mem::take(&mut *state) {
            State::Answered(answer) => {
                let decision = answer.decision;
                *state = State::Taken(answer);
                decision
            }
            // Stopped: the executor looks at that before it looks at the decision.
            _ => Decision::Cancel,
        }
    }

    fn provenance(&self) -> Provenance {
        match &*self.lock() {
            State::Taken(answer) => Provenance { by: answer.by, note: answer.note.clone() },
            _ => Provenance { by: AnsweredBy::Window, note: String::new() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_at_the_meeting_point_keeps_nobody_waiting() {
        let prompt = Prompt::new(ControlHandle::default());
        let poisoned = std::thread::scope(|scope| {
            let panics = || {
                let _state = prompt.lock();
                panic!("while it holds the lock");
            };
            scope.spawn(panics).join()
        });
        assert!(poisoned.is_err() && prompt.shared.state.is_poisoned());
        let run_id = Uuid::new_v4();
        *prompt.lock() = State::Asked { run_id, step_index: 0 };
        let answer =
            Answer { decision: Decision::Approve, by: AnsweredBy::Window, note: String::new() };
        assert!(prompt.answer(run_id, 0, answer.clone()));
        prompt.close();
        assert!(!prompt.answer(run_id, 0, answer), "nobody waits for it any more");
        prompt.control(Control::StopNow);
        assert!(prompt.control.is_stopped());
    }
}
