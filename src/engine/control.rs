//! Pause, resume, cancel and stop, and the state of the executor that follows them. The controls are flags that the
//! executor and the tools poll, not queued messages, so that no request waits behind others (DESIGN invariant 7).

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::ExecutorState;
use crate::run::{AnsweredBy, Control, StopSignal};

/// The controls of a run, and the state of its executor. All clones share them.
#[derive(Debug, Clone, Default)]
pub struct ControlHandle {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Not behind the lock, because tools poll it while they work.
    stop: StopSignal,
    requests: Mutex<Requests>,
    changed: Condvar,
    state: Mutex<ExecutorState>,
}

#[derive(Debug, Default)]
struct Requests {
    pause: bool,
    guided: bool,
    cancel: bool,
    /// The interface through which the end was requested.
    ended_by: Option<AnsweredBy>,
    /// The requests that are not recorded yet.
    unrecorded: Vec<(Control, AnsweredBy)>,
}

/// What to do at a step boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Boundary {
    Continue,
    Pause,
    End(Control),
}

impl ControlHandle {
    /// Requests a control, and wakes a paused run.
    pub fn request(&self, control: Control, by: AnsweredBy) {
        let mut requests = self.lock();
        match control {
            Control::Pause => requests.pause = true,
            Control::Resume => requests.pause = false,
            Control::GoOnGuided => requests.guided = true,
            Control::CancelAfterStep => requests.cancel = true,
            Control::StopNow => self.shared.stop.set(),
        }
        if matches!(control, Control::CancelAfterStep | Control::StopNow) {
            requests.ended_by.get_or_insert(by);
        }
        requests.unrecorded.push((control, by));
        drop(requests);
        self.shared.changed.notify_all();
    }

    /// The signal that *Stop now* sets.
    pub fn stop_signal(&self) -> &StopSignal {
        &self.shared.stop
    }

    /// Whether *Stop now* was requested.
    pub fn is_stopped(&self) -> bool {
        self.shared.stop.is_set()
    }

    /// Whether *Stop now* or *Cancel after this step* was requested. No further step begins then.
    pub fn is_ending(&self) -> bool {
        matches!(self.boundary(), Boundary::End(_))
    }

    /// The interface through which the end was first requested.
    pub fn ended_by(&self) -> Option<AnsweredBy> {
        self.lock().ended_by
    }

    /// The present state of the executor (SPEC §3). It never waits for a step.
    pub fn state(&self) -> ExecutorState {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the state of the executor.
    pub(super) fn change_state(&self, change: impl FnOnce(&mut ExecutorState)) {
        change(&mut self.shared.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Withdraws all requests before the next run.
    pub fn reset(&self) {
        let mut requests = self.lock();
        *requests = Requests::default();
        self.shared.stop.reset();
    }

    /// What the run does at a step boundary, given the requests so far.
    pub(super) fn boundary(&self) -> Boundary {
        let requests = self.lock();
        if self.is_stopped() {
            Boundary::End(Control::StopNow)
        } else if requests.cancel {
            Boundary::End(Control::CancelAfterStep)
        } else if requests.pause {
            Boundary::Pause
        } else {
            Boundary::Continue
        }
    }

    /// Ends guided mode. It applies to the run in which it was requested, not to later runs of a loop.
    pub(super) fn end_guided_mode(&self) {
        self.lock().guided = false;
    }

    /// Whether guided mode was requested: a person is asked before each following step.
    pub(super) fn is_guided(&self) -> bool {
        self.lock().guided
    }

    /// Blocks until there is a new request.
    pub(super) fn wait_for_request(&self) {
        let requests = self.lock();
        drop(
            self.shared
                .changed
                .wait_while(requests, |requests| requests.unrecorded.is_empty())
                .unwrap_or_else(PoisonError::into_inner),
        );
    }

    /// Removes and returns the requests that are not recorded yet, in order.
    pub(super) fn take_unrecorded(&self) -> Vec<(Control, AnsweredBy)> {
        std::mem::take(&mut self.lock().unrecorded)
    }

    /// Ignores poisoning: the flags stay valid if a thread panicked while it held the lock.
    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strictest_control_wins_and_all_are_recorded() {
        let control = ControlHandle::default();
        assert_eq!(control.boundary(), Boundary::Continue);
        for (request, expected) in [
            (Control::Pause, Boundary::Pause),
            (Control::Resume, Boundary::Continue),
            (Control::GoOnGuided, Boundary::Continue),
            (Control::CancelAfterStep, Boundary::End(Control::CancelAfterStep)),
            (Control::StopNow, Boundary::End(Control::StopNow)),
            (Control::Pause, Boundary::End(Control::StopNow)),
        ] {
            control.request(request, AnsweredBy::Test);
            assert_eq!(control.boundary(), expected);
        }
        assert_eq!(control.take_unrecorded().len(), 6);
        assert!(control.is_guided());
        assert_eq!((control.is_ending(), control.ended_by()), (true, Some(AnsweredBy::Test)));
        control.reset();
        assert_eq!((control.is_ending(), control.ended_by()), (false, None));
        assert!(!control.is_guided());
        assert_eq!(control.boundary(), Boundary::Continue);
        assert!(!control.is_stopped());
    }
}
