//! Keeps the words with which a person denies a step, for the next request to the planner (SPEC §10).

use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::{ConfirmationCallback, Provenance};
use crate::run::{AnsweredBy, ConfirmationRequest, Decision};

/// The words of the last denial. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct DenialWords(Arc<Mutex<Option<String>>>);

impl DenialWords {
    /// Takes the words out; `None` if the last answer was no denial, or a denial without words.
    pub(super) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A confirmation that keeps the words of denials by a person. An answer of an option on the command line has no words
/// of a person.
pub(super) struct KeepsWords {
    pub(super) inner: Box<dyn ConfirmationCallback>,
    pub(super) words: DenialWords,
}

impl ConfirmationCallback for KeepsWords {
    fn request_confirmation(&self, request: &ConfirmationRequest) -> Decision {
        let decision = self.inner.request_confirmation(request);
        let Provenance { by, note } = self.inner.provenance();
        let by_person = matches!(by, AnsweredBy::Window | AnsweredBy::Terminal);
        let has_words = decision == Decision::Cancel && by_person && !note.trim().is_empty();
        *self.words.0.lock().unwrap_or_else(PoisonError::into_inner) = has_words.then_some(note);
        decision
    }

    fn provenance(&self) -> Provenance {
        self.inner.provenance()
    }
}
