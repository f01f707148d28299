//! The journal of runs and loops (SPEC §3, §8): it records entries and sends the events that belong to them.
//!
//! An [`Entry`] is one transaction: the start of a run, the intent of a step, its execution, a control, the end of the
//! run, or an entry of a loop. [`Journal::commit`] writes it and only then sends its events ([`Entry::events`]), so that
//! observers see nothing that was not committed. If the evidence cannot be written, the caller gets the error before the
//! effect and stops. What is committed survives the end of the process; the execution of a step that succeeded is on the
//! disk with the next entry, or after [`Journal::flush`].
//!
//! An effect happens between two entries, its intent and its execution. A step that only reads has no intent. Replay
//! rebuilds the same events from the rows, with the same constructors ([`RunEvent::step_ended`],
//! [`RunEvent::run_ended`]); unlike live events, they have redacted secrets. [`crate::run::RunState::apply`] and
//! [`crate::run::LoopState::apply`] depend on the events only.
//!
//! [`Journal::send`] sends the events between two entries: a step begins, output arrives, a person is asked. If such an
//! event must be recorded (an answer, a planner's report), the next entry contains it.

use std::sync::Arc;

use super::ProgressCallback;
use super::log_events::log_event;
use crate::evidence::{Entry, EvidenceError, EvidenceStore};
use crate::run::RunEvent;

/// The evidence, and the progress callback for its events.
pub struct Journal {
    /// The evidence, for queries and for records that have no event.
    pub store: EvidenceStore,
    progress: Arc<dyn ProgressCallback>,
}

impl Journal {
    /// A journal that writes to this evidence.
    pub fn new(store: EvidenceStore, progress: Arc<dyn ProgressCallback>) -> Self {
        Self { store, progress }
    }

    /// Commits the entry, then sends its events.
    ///
    /// # Errors
    /// As [`EvidenceStore::commit`]; then no event is sent.
    pub fn commit(&mut self, entry: &Entry<'_>) -> Result<(), EvidenceError> {
        self.store.commit(entry)?.iter().for_each(|event| self.send(event));
        Ok(())
    }

    /// Brings to the disk what was committed and is not there yet, except for steps that only read. For everything that
    /// takes time between two entries: a question, a pause, a step without an intent.
    ///
    /// # Errors
    /// As [`EvidenceStore::flush`].
    pub fn flush(&mut self) -> Result<(), EvidenceError> {
        self.store.flush()
    }

    /// Sends an event that happens between two entries.
    pub fn send(&self, event: &RunEvent) {
        log_event(event);
        self.progress.on_event(event);
    }
}
