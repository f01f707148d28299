//! The signal of *Stop now* for tools (SPEC §3). Loops poll [`StopSignal::is_set`]. Code that blocks registers a
//! listener, so that a stop does not wait until a child process ends.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A callback for a stop.
pub type Listener = dyn Fn() + Send + Sync;

/// Whether a person requested *Stop now*.
#[derive(Default)]
pub struct StopSignal {
    requested: AtomicBool,
    /// Weak references, so that a listener that was dropped is removed.
    listeners: Mutex<Vec<Weak<Listener>>>,
}

impl StopSignal {
    /// Whether a stop was requested; cheap enough for inner loops.
    pub fn is_set(&self) -> bool {
        self.requested.load(Ordering::SeqCst)
    }

    /// Requests a stop, and calls and removes the listeners.
    pub fn set(&self) {
        self.requested.store(true, Ordering::SeqCst);
        let listeners = std::mem::take(&mut *self.lock());
        // Called without the lock, because a listener takes a lock of its own.
        listeners.iter().filter_map(Weak::upgrade).for_each(|listener| listener());
    }

    /// Withdraws the request, for the next run.
    pub fn reset(&self) {
        self.requested.store(false, Ordering::SeqCst);
    }

    /// Registers a callback for the next request. It is called at most once, and only while the caller keeps the
    /// `Arc`. The caller must check [`Self::is_set`] afterwards, because the request may have come before.
    pub fn listen(&self, listener: &Arc<Listener>) {
        let mut listeners = self.lock();
        listeners.retain(|other| other.strong_count() > 0);
        listeners.push(Arc::downgrade(listener));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Weak<Listener>>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for StopSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StopSignal").field(&self.is_set()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn remaining_listeners_are_called_once() {
        let signal = StopSignal::default();
        let calls = Arc::new(AtomicUsize::new(0));
        let listener = || -> Arc<Listener> {
            let calls = Arc::clone(&calls);
            Arc::new(move || {
                calls.fetch_add(1, Ordering::SeqCst);
            })
        };
        let (kept, dropped) = (listener(), listener());
        signal.listen(&kept);
        signal.listen(&dropped);
        drop(dropped);
        assert!(!signal.is_set());
        signal.set();
        signal.set();
        assert!(signal.is_set());
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        signal.reset();
        assert!(!signal.is_set());
    }
}
