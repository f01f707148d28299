//! Asks the person in the window for the secrets that a program of the run needs (SPEC §7.3).

use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

use super::Event;
use super::answer_slots::{AnswerSlots, SecretSlot};
use super::executor_thread::EventSink;
use crate::run::{AskSecret, Secret, SecretQuestion};

/// Sends questions to the window and waits for the answers. The run and the check of a host have one each, because both
/// may ask at the same time.
pub(super) struct WindowSecrets {
    pub(super) out: EventSink,
    pub(super) answers: AnswerSlots,
    pub(super) slot: Arc<SecretSlot>,
    /// Held while a question is open, because a slot takes one answer: two decisions may be signed at the same time.
    pub(super) turn: Mutex<()>,
}

impl std::fmt::Debug for WindowSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WindowSecrets")
    }
}

impl AskSecret for WindowSecrets {
    fn ask(&self, question: &SecretQuestion, is_withdrawn: &dyn Fn() -> bool) -> Option<Secret> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if is_withdrawn() {
            return None;
        }
        let id = Uuid::new_v4();
        self.slot.open(id);
        self.out.send(Event::SecretNeeded { id, question: question.clone() });
        let answer = self.answers.wait_for_secret(&self.slot, is_withdrawn);
        self.out.send(Event::SecretSettled { id });
        answer
    }

    fn withdraw(&self) {
        self.slot.wake();
    }
}
