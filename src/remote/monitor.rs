//! Supervises a session: on a timeout or a stop, ends the process group on the host over the same connection, and then
//! the local client.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Connection;
use crate::process::{Cause, wait_for_change};
use crate::run::StopSignal;

/// How long to wait, after a stop or a timeout, for the session to report its process group.
const GROUP_WAIT: Duration = Duration::from_secs(5);
/// How long output is still received after the command has exited while other processes hold its outputs open, and
/// after the attempt to end its process group.
const DRAIN: Duration = Duration::from_secs(2);

impl Connection {
    /// Waits until a session is over, and ends its process group on a timeout or a stop. Returns the cause, and whether
    /// the host confirmed the end of the group; `None` if the command or the local client ended before that.
    pub(super) fn end_on_stop(
        &self,
        monitor: &SessionMonitor,
        deadline: Option<Instant>,
        stop: &StopSignal,
        client_stop: &StopSignal,
    ) -> Option<(Cause, bool)> {
        let cause = loop {
            let state = monitor.lock();
            if state.is_over {
                let running = state.group.filter(|_| state.is_abandoned && !state.has_ended);
                drop(state);
                // After a panic the command is ended, as a local child process would be. The result cannot be
                // reported.
                if let Some(group) = running {
                    self.end_group(group);
                }
                return None;
            }
            if state.has_ended {
                drop(state);
                if !monitor.wait(DRAIN, |state| state.is_over).is_over {
                    monitor.change(|state| state.left_open = true);
                    client_stop.set();
                }
                return None;
            }
            if stop.is_set() {
                break Cause::Stopped;
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break Cause::TimedOut;
            }
            monitor.wait_for_change(state, deadline);
        };
        let group = monitor.wait(GROUP_WAIT, |state| state.group.is_some() || state.is_over).group;
        let is_confirmed = group.is_some_and(|group| self.end_group(group));
        drop(monitor.wait(DRAIN, |state| state.is_over));
        client_stop.set();
        Some((cause, is_confirmed))
    }
}

/// A state with changes on which threads can wait.
#[derive(Default)]
pub(super) struct Monitor<S> {
    state: Mutex<S>,
    changed: Condvar,
}

/// The state of a running session, shared by two threads.
pub(super) type SessionMonitor = Monitor<State>;

#[derive(Default, Clone, Copy)]
pub(super) struct State {
    /// The id of the command's process group, once the command has begun.
    pub(super) group: Option<u32>,
    /// Whether the wrapper has reported the end of the command.
    pub(super) has_ended: bool,
    /// Whether the local client has ended.
    is_over: bool,
    /// Whether the session is over because of a panic.
    is_abandoned: bool,
    /// Whether processes that the command started still held its outputs open at the end.
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

    /// Waits until `condition` holds, but at most for the time `timeout`. Returns the locked state.
    pub(super) fn wait(
        &self,
        timeout: Duration,
        condition: impl Fn(&S) -> bool,
    ) -> MutexGuard<'_, S> {
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, timeout, |state| !condition(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits for a change of the state, or until this time; without a time, only for a change.
    pub(super) fn wait_for_change(&self, state: MutexGuard<'_, S>, until: Option<Instant>) {
        drop(wait_for_change(&self.changed, state, until));
    }

    /// Wakes the waiting threads when a person requests a stop, until the returned value is dropped.
    pub(super) fn wake_on_stop(self: &Arc<Self>, stop: &StopSignal) -> Arc<dyn Fn() + Send + Sync> {
        let monitor = Arc::clone(self);
        let wake: Arc<dyn Fn() + Send + Sync> = Arc::new(move || monitor.change(|_| {}));
        stop.listen(&wake);
        wake
    }
}

/// Marks the session as over when dropped, also after an error or a panic.
pub(super) struct SetOver<'a>(pub(super) &'a SessionMonitor);

impl Drop for SetOver<'_> {
    fn drop(&mut self) {
        self.0.change(|state| {
            state.is_over = true;
            state.is_abandoned = thread::panicking();
        });
    }
}
