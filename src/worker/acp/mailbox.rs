//! What arrives from an agent, until the session takes it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::acp::MAX_MESSAGE;
use crate::run::{Failure, StopSignal};
use crate::tools::AgentEnd;

/// The maximum size of what waits, in bytes. An agent that sends more while a person decides is ended.
const MAX_WAITING: usize = 2 * MAX_MESSAGE;

/// Something from an agent.
#[derive(Debug)]
pub(super) enum Mail {
    /// A line of its stdout.
    Line(Vec<u8>),
    /// A part of its stderr.
    Stderr(Vec<u8>),
    /// Its program has ended, or could not be started. Nothing follows.
    Ended(Result<AgentEnd, Failure>),
}

/// The mailbox of a session.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    mail: VecDeque<Mail>,
    bytes: usize,
}

impl Mail {
    fn size(&self) -> usize {
        match self {
            // A short line needs more memory than its bytes.
            Self::Line(bytes) | Self::Stderr(bytes) => bytes.len() + 64,
            Self::Ended(_) => 0,
        }
    }
}

impl Mailbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds something. Returns false if there is no room for it.
    pub(super) fn put(&self, mail: Mail) -> bool {
        let mut state = self.state();
        let bytes = state.bytes.saturating_add(mail.size());
        if bytes > MAX_WAITING {
            return false;
        }
        state.bytes = bytes;
        state.mail.push_back(mail);
        drop(state);
        self.changed.notify_all();
        true
    }

    /// Wakes the session, which looks whether it is stopped.
    pub(super) fn wake(&self) {
        drop(self.state());
        self.changed.notify_all();
    }

    /// The next mail, after waiting for it until this time; `None` after that time. With `stop`, also `None` once that is
    /// set.
    pub(super) fn take(&self, until: Option<Instant>, stop: Option<&StopSignal>) -> Option<Mail> {
        let mut state = self.state();
        loop {
            if stop.is_some_and(StopSignal::is_set) {
                return None;
            }
            if let Some(mail) = state.mail.pop_front() {
                state.bytes = state.bytes.saturating_sub(mail.size());
                return Some(mail);
            }
            state = match until {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(until) => {
                    let left = until.checked_duration_since(Instant::now())?;
                    let waited = self.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mail_is_taken_in_order_and_limited() {
        let (mailbox, stop) = (Mailbox::default(), StopSignal::default());
        assert!(mailbox.put(Mail::Line(b"a".to_vec())) && mailbox.put(Mail::Stderr(b"b".to_vec())));
        assert!(matches!(mailbox.take(None, Some(&stop)), Some(Mail::Line(_))));
        assert!(matches!(mailbox.take(None, None), Some(Mail::Stderr(_))));
        assert!(mailbox.take(Some(Instant::now()), None).is_none());
        assert!(mailbox.put(Mail::Line(vec![0; MAX_WAITING - 64])));
        assert!(!mailbox.put(Mail::Line(vec![0])), "there is no room for more");
        assert!(mailbox.put(Mail::Ended(Ok(AgentEnd::default()))), "the end always has room");
        stop.set();
        assert!(mailbox.take(None, Some(&stop)).is_none());
        assert!(mailbox.take(None, None).is_some());
    }
}
