//! The queue between the threads that read a child's outputs and the thread that supervises it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::run::Stream;

use super::CHUNK;

/// The number of bytes at which the queue is full. The reading threads then wait, and a program that keeps
/// printing is blocked.
const CAPACITY: usize = 1 << 20;

/// Output and exit of one child, in order of arrival.
#[derive(Default)]
pub(super) struct OutputQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    chunks: VecDeque<(Stream, Vec<u8>)>,
    bytes: usize,
    /// The outputs that are still being read.
    open: Vec<Stream>,
    exited: bool,
    /// Whether the consumer has stopped reading.
    abandoned: bool,
}

/// The output and events that have arrived since the last [`OutputQueue::take`].
pub(super) struct Received {
    /// Output, in order of arrival.
    pub(super) chunks: Vec<(Stream, Vec<u8>)>,
    /// Whether the child has exited.
    pub(super) exited: bool,
    /// Whether all outputs have ended.
    pub(super) closed: bool,
}

/// Waits for a change of a state, or until this time; without a time, only for a change.
pub(crate) fn wait_for_change<'s, S>(
    changed: &Condvar,
    state: MutexGuard<'s, S>,
    until: Option<Instant>,
) -> MutexGuard<'s, S> {
    match until {
        None => changed.wait(state).unwrap_or_else(PoisonError::into_inner),
        Some(until) => {
            let waited =
                changed.wait_timeout(state, until.saturating_duration_since(Instant::now()));
            waited.unwrap_or_else(PoisonError::into_inner).0
        }
    }
}

impl OutputQueue {
    /// Registers an output. Must be called before the thread that reads the output starts.
    pub(super) fn open(&self, stream: Stream) {
        self.lock().open.push(stream);
    }

    /// Adds output, after waiting while the queue is full. False when the consumer has stopped reading.
    pub(super) fn put(&self, stream: Stream, bytes: &[u8]) -> bool {
        let state = self.lock();
        let mut state = self
            .changed
            .wait_while(state, |state| state.bytes >= CAPACITY && !state.abandoned)
            .unwrap_or_else(PoisonError::into_inner);
        if state.abandoned {
            return false;
        }
        state.bytes += bytes.len();
        // Joins small writes into one chunk, so that a slow consumer handles fewer chunks.
        match state.chunks.back_mut() {
            Some((last, chunk)) if *last == stream && chunk.len() < CHUNK => {
                chunk.extend_from_slice(bytes);
            }
            _ => state.chunks.push_back((stream, bytes.to_vec())),
        }
        self.changed.notify_all();
        true
    }

    /// Records the end of an output.
    pub(super) fn close(&self, stream: Stream) {
        self.lock().open.retain(|open| *open != stream);
        self.changed.notify_all();
    }

    /// Records the exit of the child.
    pub(super) fn set_exited(&self) {
        self.lock().exited = true;
        self.changed.notify_all();
    }

    /// Wakes the consumer to check its own condition. Taking the lock prevents a lost wake-up between its check
    /// and its sleep.
    pub(super) fn wake(&self) {
        drop(self.lock());
        self.changed.notify_all();
    }

    /// Stops reading: [`Self::put`] returns false from now on, so that the reading threads end.
    pub(super) fn abandon(&self) {
        self.lock().abandoned = true;
        self.changed.notify_all();
    }

    /// Sleeps until there is output, `wakes` returns true for (exited, closed), or the time `until` is reached.
    /// Removes and returns what has arrived.
    pub(super) fn take(
        &self,
        until: Option<Instant>,
        wakes: impl Fn(bool, bool) -> bool,
    ) -> Received {
        let mut state = self.lock();
        loop {
            let closed = state.open.is_empty() && state.chunks.is_empty();
            let is_due = until.is_some_and(|until| Instant::now() >= until);
            if !state.chunks.is_empty() || is_due || wakes(state.exited, closed) {
                break;
            }
            state = wait_for_change(&self.changed, state, until);
        }
        state.bytes = 0;
        let chunks = std::mem::take(&mut state.chunks).into();
        let received = Received { chunks, exited: state.exited, closed: state.open.is_empty() };
        drop(state);
        self.changed.notify_all();
        received
    }

    /// A panic of another thread leaves the state consistent, so a poisoned lock is used as it is.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
