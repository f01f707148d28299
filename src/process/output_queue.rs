//! Where the threads of a child leave what they see, and the caller waits for it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::run::Stream;

use super::CHUNK;

/// Most bytes that wait for the caller; a program that prints faster waits.
const ROOM: usize = 1 << 20;

/// What the threads of one child have seen.
#[derive(Default)]
pub(super) struct OutputQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    chunks: VecDeque<(Stream, Vec<u8>)>,
    bytes: usize,
    /// The outputs that are still read.
    open: Vec<Stream>,
    exited: bool,
    /// Whether nobody takes anything any more.
    abandoned: bool,
}

/// What has come since the last look.
pub(super) struct Mail {
    /// Output, in order of arrival.
    pub(super) chunks: Vec<(Stream, Vec<u8>)>,
    /// Whether the child has ended.
    pub(super) exited: bool,
    /// Whether all output has come.
    pub(super) closed: bool,
}

impl OutputQueue {
    /// An output begins.
    pub(super) fn open(&self, stream: Stream) {
        self.lock().open.push(stream);
    }

    /// Output came; waits while there is no room for it. False when nobody wants it.
    pub(super) fn put(&self, stream: Stream, bytes: &[u8]) -> bool {
        let state = self.lock();
        let mut state = self
            .changed
            .wait_while(state, |state| state.bytes >= ROOM && !state.abandoned)
            .unwrap_or_else(PoisonError::into_inner);
        if state.abandoned {
            return false;
        }
        state.bytes += bytes.len();
        // Many small writes become few chunks when the caller is slower.
        match state.chunks.back_mut() {
            Some((last, chunk)) if *last == stream && chunk.len() < CHUNK => {
                chunk.extend_from_slice(bytes);
            }
            _ => state.chunks.push_back((stream, bytes.to_vec())),
        }
        self.changed.notify_all();
        true
    }

    /// An output is at its end.
    pub(super) fn close(&self, stream: Stream) {
        let mut state = self.lock();
        state.open.retain(|open| *open != stream);
        // Where the end of a child cannot be waited for, this is what is seen of it.
        state.exited |= cfg!(not(unix)) && state.open.is_empty();
        drop(state);
        self.changed.notify_all();
    }

    /// The child has ended.
    pub(super) fn exited(&self) {
        self.lock().exited = true;
        self.changed.notify_all();
    }

    /// Something happened that the caller looks at itself. The lock makes sure that they do not look
    /// just before and sleep just after.
    pub(super) fn wake(&self) {
        drop(self.lock());
        self.changed.notify_all();
    }

    /// Nobody takes anything any more.
    pub(super) fn abandon(&self) {
        self.lock().abandoned = true;
        self.changed.notify_all();
    }

    /// Sleeps until output has come, `matters` says so of (exited, closed), or it is `until`.
    pub(super) fn take(
        &self,
        until: Option<Instant>,
        matters: impl Fn(bool, bool) -> bool,
    ) -> Mail {
        let mut state = self.lock();
        loop {
            let closed = state.open.is_empty() && state.chunks.is_empty();
            let now = Instant::now();
            let is_over = until.is_some_and(|until| now >= until);
            if !state.chunks.is_empty() || is_over || matters(state.exited, closed) {
                break;
            }
            state = match until {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(until) => {
                    let waited = self.changed.wait_timeout(state, until - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        state.bytes = 0;
        let chunks = std::mem::take(&mut state.chunks).into();
        let mail = Mail { chunks, exited: state.exited, closed: state.open.is_empty() };
        drop(state);
        self.changed.notify_all();
        mail
    }

    /// What was seen stays true when a thread panicked while it held the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
