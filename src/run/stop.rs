//! *Stop now* as the tools see it (SPEC §3): a flag for work that looks at it, and a call for work
//! that waits for something else meanwhile, so that a stop never waits for a running child.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

type Listener = dyn Fn() + Send + Sync;

/// Whether a person asked to stop now.
#[derive(Default)]
pub struct StopSignal {
    asked: AtomicBool,
    /// Weak, so that who no longer waits is forgotten by itself.
    listeners: Mutex<Vec<Weak<Listener>>>,
}

impl StopSignal {
    /// Whether a person asked; cheap enough for the innermost loop.
    pub fn is_set(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Asks, and wakes whoever waits.
    pub fn set(&self) {
        self.asked.store(true, Ordering::SeqCst);
        let listeners = std::mem::take(&mut *self.lock());
        // Called without the lock: a listener takes a lock of its own.
        listeners.iter().filter_map(Weak::upgrade).for_each(|listener| listener());
    }

    /// Forgets that a person asked, for the next run.
    pub fn reset(&self) {
        self.asked.store(false, Ordering::SeqCst);
    }

    /// Calls `listener` once a person asks, for as long as the caller keeps it. The caller looks at
    /// [`Self::is_set`] afterwards, because they may have asked already.
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
    fn who_still_listens_is_called_once() {
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
