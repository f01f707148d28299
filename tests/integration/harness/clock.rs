//! A clock that only tests move.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use countersign::authorization::SinceBoot;
use countersign::engine::Clock;

/// The time of every approval in these tests, in Unix milliseconds.
pub const NOW_MS: i64 = 1_760_000_000_000;

/// A clock that moves only by [`Self::advance`], or by a fixed step per reading.
pub struct FakeClock {
    wall_ms: AtomicI64,
    monotonic_ms: AtomicI64,
    wall_step_ms: AtomicI64,
    monotonic_step_ms: AtomicI64,
    on_read: Mutex<Option<Box<dyn Fn() + Send>>>,
}

impl FakeClock {
    /// The wall clock starts at [`NOW_MS`], the monotonic clock at 0.
    pub fn new() -> Self {
        Self {
            wall_ms: AtomicI64::new(NOW_MS),
            monotonic_ms: AtomicI64::new(0),
            wall_step_ms: AtomicI64::new(0),
            monotonic_step_ms: AtomicI64::new(0),
            on_read: Mutex::new(None),
        }
    }

    /// From now on each reading of a clock calls `hook` first.
    pub fn on_read(&self, hook: impl Fn() + Send + 'static) {
        *self.on_read.lock().unwrap() = Some(Box::new(hook));
    }

    fn call_hook(&self) {
        if let Some(hook) = &*self.on_read.lock().unwrap() {
            hook();
        }
    }

    /// Advances both clocks.
    pub fn advance(&self, ms: i64) {
        self.wall_ms.fetch_add(ms, Ordering::SeqCst);
        self.monotonic_ms.fetch_add(ms, Ordering::SeqCst);
    }

    /// From now on each reading moves the wall clock by this many milliseconds, which may be negative.
    pub fn drift_wall(&self, step_ms: i64) {
        self.wall_step_ms.store(step_ms, Ordering::SeqCst);
    }

    /// From now on each reading moves the monotonic clock by this many milliseconds.
    pub fn drift_monotonic(&self, step_ms: i64) {
        self.monotonic_step_ms.store(step_ms, Ordering::SeqCst);
    }
}

impl Clock for FakeClock {
    fn now_ms(&self) -> i64 {
        self.call_hook();
        self.wall_ms.fetch_add(self.wall_step_ms.load(Ordering::SeqCst), Ordering::SeqCst)
    }

    fn monotonic_ms(&self) -> i64 {
        self.call_hook();
        self.monotonic_ms.fetch_add(self.monotonic_step_ms.load(Ordering::SeqCst), Ordering::SeqCst)
    }

    fn since_boot(&self) -> SinceBoot {
        SinceBoot { boot_id: "made up".to_owned(), ms: self.monotonic_ms.load(Ordering::SeqCst) }
    }
}
