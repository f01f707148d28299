//! Passes a person's answers from the window to the waiting executor.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use crate::autonomy::PlanDecision;
use crate::engine::{ConfirmationCallback, ControlHandle, Provenance};
use crate::run::{Answer, AnsweredBy, ConfirmationRequest, Control, Decision, Secret};

/// The answers that the executor thread waits for and the window gives. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct AnswerSlots {
    /// The answer about a step. The key is the run and the index of the step.
    pub(super) step: Arc<Slot<(Uuid, usize), Answer>>,
    /// The decision about the plan of an attempt. The key is the loop and the number of the attempt.
    pub(super) plan: Arc<Slot<(Uuid, u32), PlanDecision>>,
    /// The answer to a question of a planner; `None` if the person gives none. The key is the loop and the number of the
    /// attempt.
    pub(super) question: Arc<Slot<(Uuid, u32), Option<String>>>,
    /// The answer to a question for a secret of the run.
    pub(super) secret: Arc<SecretSlot>,
    /// The answer to a question for a secret while a host is tried.
    pub(super) secret_of_check: Arc<SecretSlot>,
    /// The answer to a question for the passphrase of the key that signs a decision.
    pub(super) secret_of_signing: Arc<SecretSlot>,
    /// The last answer about a step that the executor received.
    last_answer: Arc<Mutex<Option<Answer>>>,
    control: ControlHandle,
}

/// A slot for the answer to a question for a secret; `None` in it declines. The key is the id of the question.
pub(super) type SecretSlot = Slot<Uuid, Option<Secret>>;

/// A slot for one answer `A` about the subject with the key `K`.
#[derive(Debug)]
pub(super) struct Slot<K, A> {
    state: Mutex<State<K, A>>,
    changed: Condvar,
}

#[derive(Debug)]
enum State<K, A> {
    Closed,
    /// Accepts an answer with this key.
    Open(K),
    Answered(A),
}

impl<K, A> Default for Slot<K, A> {
    fn default() -> Self {
        Self { state: Mutex::new(State::Closed), changed: Condvar::new() }
    }
}

impl<K: PartialEq, A> Slot<K, A> {
    /// Accepts an answer with this key from now on. The slot is opened before the executor waits, because the window
    /// may answer earlier.
    pub(super) fn open(&self, key: K) {
        *self.lock() = State::Open(key);
    }

    /// Gives an answer. Returns false if the slot does not accept an answer with this key.
    pub(super) fn answer(&self, key: K, answer: A) -> bool {
        let mut state = self.lock();
        let is_accepted = matches!(&*state, State::Open(open) if *open == key);
        if is_accepted {
            *state = State::Answered(answer);
            self.changed.notify_all();
        }
        is_accepted
    }

    /// Waits for the answer and closes the slot. `None` if the slot was closed, or `is_over` was true before there was
    /// an answer.
    fn wait(&self, is_over: impl Fn() -> bool) -> Option<A> {
        let must_wait = |state: &mut State<K, A>| matches!(state, State::Open(_)) && !is_over();
        let waited = self.changed.wait_while(self.lock(), must_wait);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, State::Closed) {
            State::Answered(answer) => Some(answer),
            _ => None,
        }
    }

    /// Ends a wait without an answer.
    pub(super) fn close(&self) {
        *self.lock() = State::Closed;
        self.changed.notify_all();
    }

    /// Makes a waiting thread check again whether the wait is over.
    pub(super) fn wake(&self) {
        // Taking the lock once prevents a wait that is about to begin from missing the notification.
        drop(self.lock());
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<K, A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AnswerSlots {
    pub(super) fn new(control: ControlHandle) -> Self {
        Self { control, ..Self::default() }
    }

    /// Waits for the decision about a plan. Once a stop or a cancellation was requested, returns
    /// [`PlanDecision::Stop`].
    pub(super) fn wait_for_plan(&self) -> PlanDecision {
        self.plan.wait(|| self.control.is_ending()).unwrap_or(PlanDecision::Stop)
    }

    /// Waits for the answer to a question of a planner. `None` also once a stop or a cancellation was requested.
    pub(super) fn wait_for_words(&self) -> Option<String> {
        self.question.wait(|| self.control.is_ending()).flatten()
    }

    /// Waits for the answer to a question for a secret. `None` if the person declines, the run was stopped, or the
    /// question was withdrawn.
    pub(super) fn wait_for_secret(
        &self,
        slot: &Arc<SecretSlot>,
        is_withdrawn: &dyn Fn() -> bool,
    ) -> Option<Secret> {
        let is_of_run = Arc::ptr_eq(slot, &self.secret);
        slot.wait(|| is_withdrawn() || is_of_run && self.control.is_stopped()).flatten()
    }

    /// Answers a question for a secret. Returns false if nothing waits for the answer to this question.
    pub(super) fn answer_secret(&self, id: Uuid, answer: Option<Secret>) -> bool {
        self.secret.answer(id, answer.clone())
            || self.secret_of_check.answer(id, answer.clone())
            || self.secret_of_signing.answer(id, answer)
    }

    /// Whether this question for a secret is open, and of no run: a host is tried, or a decision is signed.
    pub(super) fn is_beside_run(&self, id: Uuid) -> bool {
        let slots = [&self.secret_of_check, &self.secret_of_signing];
        slots.iter().any(|slot| matches!(&*slot.lock(), State::Open(open) if *open == id))
    }

    /// Closes the slots of the run and forgets the last answer.
    pub(super) fn close(&self) {
        *self.step.lock() = State::Closed;
        *self.plan.lock() = State::Closed;
        *self.question.lock() = State::Closed;
        self.secret.close();
        *self.last_answer() = None;
    }

    /// Requests a control, and makes waiting threads check it.
    pub(super) fn control(&self, control: Control) {
        self.control.request(control, AnsweredBy::Window);
        self.step.wake();
        self.plan.wake();
        self.question.wake();
        self.secret.wake();
    }

    fn last_answer(&self) -> MutexGuard<'_, Option<Answer>> {
        self.last_answer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConfirmationCallback for AnswerSlots {
    fn request_confirmation(&self, _request: &ConfirmationRequest) -> Decision {
        let answer = self.step.wait(|| self.control.is_stopped());
        // Without an answer the run was stopped. The executor checks that before it uses the decision.
        let decision = answer.as_ref().map_or(Decision::Cancel, |answer| answer.decision);
        *self.last_answer() = answer;
        decision
    }

    fn provenance(&self) -> Provenance {
        match &*self.last_answer() {
            Some(answer) => Provenance { by: answer.by, note: answer.note.clone() },
            None => Provenance { by: AnsweredBy::Window, note: String::new() },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_question_that_is_withdrawn_waits_no_longer() {
        let answers = AnswerSlots::new(ControlHandle::default());
        let (id, slot, is_withdrawn) = (Uuid::new_v4(), &answers.secret, AtomicBool::new(false));
        slot.open(id);
        let answer = std::thread::scope(|scope| {
            let wait = || answers.wait_for_secret(slot, &|| is_withdrawn.load(Ordering::SeqCst));
            let waiting = scope.spawn(wait);
            is_withdrawn.store(true, Ordering::SeqCst);
            slot.wake();
            waiting.join().unwrap()
        });
        assert!(answer.is_none() && !answers.answer_secret(id, None), "it takes no answer");
        // The slot is open again only for a question that is not withdrawn.
        slot.open(id);
        assert!(answers.wait_for_secret(slot, &|| true).is_none());
    }

    #[test]
    fn poisoned_lock_does_not_block_answers() {
        let answers = AnswerSlots::new(ControlHandle::default());
        let poisoned = std::thread::scope(|scope| {
            let panics = || {
                let _state = answers.step.lock();
                panic!("while the lock is held");
            };
            scope.spawn(panics).join()
        });
        assert!(poisoned.is_err() && answers.step.state.is_poisoned());
        let run_id = Uuid::new_v4();
        answers.step.open((run_id, 0));
        let answer =
            Answer { decision: Decision::Approve, by: AnsweredBy::Window, note: String::new() };
        assert!(answers.step.answer((run_id, 0), answer.clone()));
        answers.close();
        assert!(!answers.step.answer((run_id, 0), answer), "the slot is closed");
        answers.control(Control::StopNow);
        assert!(answers.control.is_stopped());
    }
}
