//! The journal of runs and loops (SPEC §3, §8): what is recorded and what is told is one thing.
//!
//! An [`Entry`] is one transaction: the start of a run, the intent of a step, its execution, a control, an end, and
//! the same of loops. [`Journal::commit`] writes it durably and only then tells the [`RunEvent`]s that the entry
//! itself makes ([`Entry::told`]), so nothing recorded is told that was not committed. When the evidence cannot be
//! written, the caller gets the error before the effect and stops.
//!
//! An effect stands between two entries, its intent and its execution; a step that only reads has the second alone.
//! Replay reads the rows of entries back into the same events, through the same constructors
//! ([`RunEvent::step_ended`], [`RunEvent::run_ended`]); secrets are hidden in it, and live they are not.
//! [`crate::run::RunState::apply`] and [`crate::run::LoopState::apply`] are pure and know nothing else.
//!
//! [`Journal::tell`] is for what happens between entries: a step begins, output arrives, a person is asked. Where
//! such an event outlasts the moment (an answer, a planner's report), the next entry records it.

use std::sync::Arc;

use super::callbacks::ProgressCallback;
use crate::evidence::{Entry, EvidenceError, EvidenceStore};
use crate::run::RunEvent;

/// The evidence, and who is told what goes into it.
pub struct Journal {
    /// The evidence, for questions and for records that nobody is told.
    pub store: EvidenceStore,
    progress: Arc<dyn ProgressCallback>,
}

impl Journal {
    /// A journal that writes to this evidence.
    pub fn new(store: EvidenceStore, progress: Arc<dyn ProgressCallback>) -> Self {
        Self { store, progress }
    }

    /// Commits the entry, then tells it.
    ///
    /// # Errors
    /// As [`EvidenceStore::commit`]; then nothing is told.
    pub fn commit(&mut self, entry: &Entry<'_>) -> Result<(), EvidenceError> {
        self.store.commit(entry)?.iter().for_each(|event| self.tell(event));
        Ok(())
    }

    /// Tells what happens between two entries.
    pub fn tell(&self, event: &RunEvent) {
        self.progress.on_event(event);
    }
}
