//! Passes a person's answers from the window to the waiting executor.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use crate::autonomy::PlanDecision;
use crate::engine::{ConfirmationCallback, ControlHandle, Provenance};
use crate::run::{Answer, AnsweredBy, ConfirmationRequest, Control, Decision};

/// Shared by the executor thread, which waits for answers, and the window, which gives them.
#[derive(Debug, Clone, Default)]
pub(super) struct Prompt {
    /// The confirmation of a step, by run and index of the step.
    pub(super) step: Arc<Slot<(Uuid, usize), Answer>>,
    /// The decision about the plan of an attempt, by loop and number of the attempt.
    pub(super) plan: Arc<Slot<(Uuid, u32), PlanDecision>>,
    /// The last answer that the executor took.
    taken: Arc<Mutex<Option<Answer>>>,
    control: ControlHandle,
}

/// A question and its answer.
#[derive(Debug)]
pub(super) struct Slot<K, A> {
    state: Mutex<State<K, A>>,
    changed: Condvar,
}

#[derive(Debug)]
enum State<K, A> {
    Nothing,
    Asked(K),
    Answered(A),
}

impl<K, A> Default for Slot<K, A> {
    fn default() -> Self {
        Self { state: Mutex::new(State::Nothing), changed: Condvar::new() }
    }
}

impl<K: PartialEq, A> Slot<K, A> {
    /// Accepts an answer to this question from now on. The executor may start to wait later, because the window gets
    /// the question first.
    pub(super) fn open(&self, key: K) {
        *self.lock() = State::Asked(key);
    }

    /// Gives an answer. Returns false if the slot does not accept one to this question.
    pub(super) fn answer(&self, key: K, answer: A) -> bool {
        let mut state = self.lock();
        let asked = matches!(&*state, State::Asked(asked) if *asked == key);
        if asked {
            *state = State::Answered(answer);
            self.changed.notify_all();
        }
        asked
    }

    /// Waits for the answer; `None` if `is_over` becomes true first.
    fn wait(&self, is_over: impl Fn() -> bool) -> Option<A> {
        let waits = |state: &mut State<K, A>| matches!(state, State::Asked(_)) && !is_over();
        let waited = self.changed.wait_while(self.lock(), waits);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, State::Nothing) {
            State::Answered(answer) => Some(answer),
            _ => None,
        }
    }

    /// Makes a waiting thread check again whether the wait is over.
    fn wake(&self) {
        // Taking the lock once ensures that a wait that is about to begin does not miss the notification.
        drop(self.lock());
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<K, A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Prompt {
    pub(super) fn new(control: ControlHandle) -> Self {
        Self { control, ..Self::default() }
    }

    /// Waits for the answer to a plan, or for the end of the loop.
    pub(super) fn wait_for_plan(&self) -> PlanDecision {
        self.plan.wait(|| self.control.is_ending()).unwrap_or(PlanDecision::Stop)
    }

    /// Accepts no more answers.
    pub(super) fn close(&self) {
        *self.step.lock() = State::Nothing;
        *self.plan.lock() = State::Nothing;
        *self.taken() = None;
    }

    /// Requests a control. It also ends a wait for an answer.
    pub(super) fn control(&self, control: Control) {
        self.control.request(control, AnsweredBy::Window);
        self.step.wake();
        self.plan.wake();
    }

    fn taken(&self) -> MutexGuard<'_, Option<Answer>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConfirmationCallback for Prompt {
    fn request_confirmation(&self, _request: &ConfirmationRequest) -> Decision {
        let answer = self.step.wait(|| self.control.is_stopped());
        // There is no answer only if the run was stopped, which the executor checks before the decision.
        let decision = answer.as_ref().map_or(Decision::Cancel, |answer| answer.decision);
        *self.taken() = answer;
        decision
    }

    fn provenance(&self) -> Provenance {
        match &*self.taken() {
            Some(answer) => Provenance { by: answer.by, note: answer.note.clone() },
            None => Provenance { by: AnsweredBy::Window, note: String::new() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisoned_lock_does_not_block_answers() {
        let prompt = Prompt::new(ControlHandle::default());
        let poisoned = std::thread::scope(|scope| {
            let panics = || {
                let _state = prompt.step.lock();
                panic!("while it holds the lock");
            };
            scope.spawn(panics).join()
        });
        assert!(poisoned.is_err() && prompt.step.state.is_poisoned());
        let run_id = Uuid::new_v4();
        prompt.step.open((run_id, 0));
        let answer =
            Answer { decision: Decision::Approve, by: AnsweredBy::Window, note: String::new() };
        assert!(prompt.step.answer((run_id, 0), answer.clone()));
        prompt.close();
        assert!(!prompt.step.answer((run_id, 0), answer), "nobody waits for it any more");
        prompt.control(Control::StopNow);
        assert!(prompt.control.is_stopped());
    }
}
