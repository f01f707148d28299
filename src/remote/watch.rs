//! Supervises a session: on a timeout or a stop, ends the process group on the host over the same connection,
//! and then the local client.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Connection;
use crate::process::Cause;
use crate::run::StopSignal;

/// How long a stop or timeout waits for the session to report its process group.
const BEGIN: Duration = Duration::from_secs(5);
/// How long output is still received after the command has exited, while other processes keep its outputs
/// open, and after its process group was ended.
const DRAIN: Duration = Duration::from_secs(2);

impl Connection {
    /// Waits until a session is over, and ends its process group on a timeout or a stop. Returns the cause
    /// and whether the host confirmed the end of the group; `None` if there was no timeout or stop.
    pub(super) fn stand_by(
        &self,
        watch: &Watch,
        deadline: Option<Instant>,
        stop: &StopSignal,
        here: &StopSignal,
    ) -> Option<(Cause, bool)> {
        let why = loop {
            let state = watch.lock();
            if state.is_over {
                let left = state.group.filter(|_| state.is_abandoned && !state.has_ended);
                drop(state);
                // After a panic the command is ended, as a local child process would be. There is no caller
                // to report the result to.
                if let Some(group) = left {
                    self.end_group(group);
                }
                return None;
            }
            if state.has_ended {
                drop(state);
                if !watch.wait(DRAIN, |state| state.is_over).is_over {
                    watch.change(|state| state.left_open = true);
                    here.set();
                }
                return None;
            }
            if stop.is_set() {
                break Cause::Stopped;
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break Cause::TimedOut;
            }
            watch.wait_until(state, deadline);
        };
        let group = watch.wait(BEGIN, |state| state.group.is_some() || state.is_over).group;
        let is_confirmed = group.is_some_and(|group| self.end_group(group));
        drop(watch.wait(DRAIN, |state| state.is_over));
        here.set();
        Some((why, is_confirmed))
    }
}

/// A state that threads wait on.
#[derive(Default)]
pub(super) struct Monitor<S> {
    state: Mutex<S>,
    changed: Condvar,
}

/// The state of a running session, shared by two threads.
pub(super) type Watch = Monitor<State>;

#[derive(Default, Clone, Copy)]
pub(super) struct State {
    /// The number of the command's process group, once it has begun.
    pub(super) group: Option<u32>,
    /// Whether the wrapper has reported the end of the command.
    pub(super) has_ended: bool,
    /// Whether the local client has ended.
    is_over: bool,
    /// Whether the session is over because of a panic.
    is_abandoned: bool,
    /// Whether processes that the command started keep its outputs open.
    pub(super) left_open: bool,
}

impl<S: Send + 'static> Monitor<S> {
    pub(super) fn lock(&self) -> MutexGuard<'_, S> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut S)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits until `is_so` holds, but at most for the time `longest`; returns the state at that moment.
    pub(super) fn wait(&self, longest: Duration, is_so: impl Fn(&S) -> bool) -> MutexGuard<'_, S> {
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, longest, |state| !is_so(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits for a change of the state, or until this time.
    pub(super) fn wait_until(&self, state: MutexGuard<'_, S>, until: Option<Instant>) {
        match until {
            None => drop(self.changed.wait(state)),
            Some(until) => {
                drop(
                    self.changed
                        .wait_timeout(state, until.saturating_duration_since(Instant::now())),
                );
            }
        }
    }

    /// Wakes the waiting threads when a person asks to stop, until the returned value is dropped.
    pub(super) fn wake_at(self: &Arc<Self>, stop: &StopSignal) -> Arc<dyn Fn() + Send + Sync> {
        let monitor = Arc::clone(self);
        let wake: Arc<dyn Fn() + Send + Sync> = Arc::new(move || monitor.change(|_| {}));
        stop.listen(&wake);
        wake
    }
}

/// Marks the session as over when dropped, also after an error or a panic.
pub(super) struct Over<'a>(pub(super) &'a Watch);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.change(|state| {
            state.is_over = true;
            state.is_abandoned = thread::panicking();
        });
    }
}
