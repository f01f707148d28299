//! A clock that only tests move.

use std::sync::atomic::{AtomicI64, Ordering};

use countersign::authorization::SinceBoot;
use countersign::engine::Clock;

/// When every approval of the tests is given, in Unix milliseconds.
pub const NOW_MS: i64 = 1_760_000_000_000;

/// A clock that moves only when a test says so, or by a fixed step at each look.
#[derive(Debug)]
pub struct FakeClock {
    wall_ms: AtomicI64,
    monotonic_ms: AtomicI64,
    wall_step_ms: AtomicI64,
    monotonic_step_ms: AtomicI64,
}

impl FakeClock {
    /// Stands at [`NOW_MS`].
    pub fn new() -> Self {
        Self {
            wall_ms: AtomicI64::new(NOW_MS),
            monotonic_ms: AtomicI64::new(0),
            wall_step_ms: AtomicI64::new(0),
            monotonic_step_ms: AtomicI64::new(0),
        }
    }

    /// Lets both times pass.
    pub fn advance(&self, ms: i64) {
        self.wall_ms.fetch_add(ms, Ordering::SeqCst);
        self.monotonic_ms.fetch_add(ms, Ordering::SeqCst);
    }

    /// From now on each look at the wall clock moves it by this much, also back.
    pub fn drift_wall(&self, step_ms: i64) {
        self.wall_step_ms.store(step_ms, Ordering::SeqCst);
    }

    /// From now on each look at the monotonic clock moves it by this much.
    pub fn drift_monotonic(&self, step_ms: i64) {
        self.monotonic_step_ms.store(step_ms, Ordering::SeqCst);
    }
}

impl Clock for FakeClock {
    fn now_ms(&self) -> i64 {
        self.wall_ms.fetch_add(self.wall_step_ms.load(Ordering::SeqCst), Ordering::SeqCst)
    }

    fn monotonic_ms(&self) -> i64 {
        self.monotonic_ms.fetch_add(self.monotonic_step_ms.load(Ordering::SeqCst), Ordering::SeqCst)
    }

    fn since_boot(&self) -> SinceBoot {
        SinceBoot { boot_id: "made up".to_owned(), ms: self.monotonic_ms.load(Ordering::SeqCst) }
    }
}
