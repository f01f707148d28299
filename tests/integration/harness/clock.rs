//! A clock that only tests move.

use std::sync::atomic::{AtomicI64, Ordering};

use countersign::authorization::SinceBoot;
use countersign::engine::Clock;

/// The time of every approval in these tests, in Unix milliseconds.
pub const NOW_MS: i64 = 1_760_000_000_000;

/// A clock that moves only by [`Self::advance`], or by a fixed step per reading.
#[derive(Debug)]
pub struct FakeClock {
    wall_ms: AtomicI64,
    monotonic_ms: AtomicI64,
    wall_step_ms: AtomicI64,
    monotonic_step_ms: AtomicI64,
}

impl FakeClock {
    /// The wall clock starts at [`NOW_MS`], the monotonic clock at 0.
    pub fn new() -> Self {
        Self {
            wall_ms: AtomicI64::new(NOW_MS),
            monotonic_ms: AtomicI64::new(0),
            wall_step_ms: AtomicI64::new(0),
            monotonic_step_ms: AtomicI64::new(0),
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
        self.wall_ms.fetch_add(self.wall_step_ms.load(Ordering::SeqCst), Ordering::SeqCst)
    }

    fn monotonic_ms(&self) -> i64 {
        self.monotonic_ms.fetch_add(self.monotonic_step_ms.load(Ordering::SeqCst), Ordering::SeqCst)
    }

    fn since_boot(&self) -> SinceBoot {
        SinceBoot { boot_id: "made up".to_owned(), ms: self.monotonic_ms.load(Ordering::SeqCst) }
    }
}
