//! Who stands beside a session: when it is time, the process group on the host is ended over the same
//! connection, and only then the client here.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Connection;
use super::command::RemoteStop;
use crate::run::StopSignal;

/// How long a session is given to begin before a stop gives it up.
const BEGIN: Duration = Duration::from_secs(5);
/// How long the outputs of a command that has ended may stay open in the hands of what it started, and how
/// long the rest of its output may take after its group was ended.
const DRAIN: Duration = Duration::from_secs(2);

impl Connection {
    /// Waits beside a session, and ends its process group when it is time; what it was ended for, and
    /// whether the host confirmed it.
    pub(super) fn stand_by(
        &self,
        watch: &Watch,
        deadline: Option<Instant>,
        stop: &StopSignal,
        here: &StopSignal,
    ) -> Option<(RemoteStop, bool)> {
        let why = loop {
            let state = watch.lock();
            if state.is_over {
                let left = state.group.filter(|_| state.is_abandoned && !state.has_ended);
                drop(state);
                // Nobody hears whether it worked; a child here would be killed on this way out, too.
                if let Some(group) = left {
                    self.end_group(group);
                }
                return None;
            }
            if state.has_ended {
                drop(state);
                if !watch.wait(DRAIN, |state| state.is_over).is_over {
                    watch.left_open.store(true, Ordering::SeqCst);
                    here.set();
                }
                return None;
            }
            let now = Instant::now();
            if stop.is_set() {
                break RemoteStop::Stopped;
            }
            match deadline {
                Some(deadline) if now >= deadline => break RemoteStop::TimedOut,
                Some(deadline) => drop(watch.changed.wait_timeout(state, deadline - now)),
                None => drop(watch.changed.wait(state)),
            }
        };
        let group = watch.wait(BEGIN, |state| state.group.is_some() || state.is_over).group;
        let is_confirmed = group.is_some_and(|group| self.end_group(group));
        watch.wait(DRAIN, |state| state.is_over);
        here.set();
        Some((why, is_confirmed))
    }
}

/// What is seen of a session while it runs.
#[derive(Default)]
pub(super) struct Watch {
    state: Mutex<State>,
    changed: Condvar,
    pub(super) left_open: AtomicBool,
}

#[derive(Default, Clone, Copy)]
pub(super) struct State {
    /// The number of the command's process group, once it has begun.
    pub(super) group: Option<u32>,
    /// Whether the wrapper has said how it ended.
    pub(super) has_ended: bool,
    /// Whether the client here has ended.
    is_over: bool,
    /// Whether that is because of a panic.
    is_abandoned: bool,
}

impl Watch {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits until it is so, at most so long; how it is then.
    fn wait(&self, longest: Duration, is_so: impl Fn(&State) -> bool) -> State {
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, longest, |state| !is_so(state));
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Says that the session is over, also on the way out of an error or a panic.
pub(super) struct Over<'a>(pub(super) &'a Watch);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.change(|state| {
            state.is_over = true;
            state.is_abandoned = thread::panicking();
        });
    }
}
