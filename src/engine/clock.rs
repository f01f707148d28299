//! The only module that reads the system time; everything else takes a [`Clock`].

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::boot_clock;
use crate::authorization::SinceBoot;

/// Source of the wall-clock time, the monotonic time and the time since boot.
pub trait Clock: Send + Sync {
    /// The wall clock, in Unix milliseconds. It can be set back.
    fn now_ms(&self) -> i64;

    /// Milliseconds since a fixed moment; never decreases.
    fn monotonic_ms(&self) -> i64;

    /// The time since the machine was started. Approvals also expire by it, because the wall clock can be set back.
    fn since_boot(&self) -> SinceBoot;
}

/// The system's clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now_ms(&self) -> i64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .ok()
            .and_then(|since| i64::try_from(since.as_millis()).ok())
            .unwrap_or(0)
    }

    fn monotonic_ms(&self) -> i64 {
        i64::try_from(self.start.elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    fn since_boot(&self) -> SinceBoot {
        boot_clock::now()
    }
}

/// The timestamps of one run: they never decrease, even when the wall clock is set back (SPEC §3).
pub(super) struct RunClock<'a> {
    clock: &'a dyn Clock,
    latest_ms: i64,
    /// The latest reading of the wall clock.
    last_read_ms: i64,
    /// The number of readings of the wall clock that were earlier than the reading before.
    pub(super) set_back: u32,
}

impl<'a> RunClock<'a> {
    pub(super) fn start(clock: &'a dyn Clock) -> Self {
        let now_ms = clock.now_ms();
        Self { clock, latest_ms: now_ms, last_read_ms: now_ms, set_back: 0 }
    }

    /// The wall-clock time, or the latest timestamp if the wall clock was set back since.
    pub(super) fn now_ms(&mut self) -> i64 {
        let now_ms = self.clock.now_ms();
        if now_ms < self.last_read_ms {
            self.set_back += 1;
        }
        self.last_read_ms = now_ms;
        self.latest_ms = self.latest_ms.max(now_ms);
        self.latest_ms
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A clock with these readings, the first one last.
    struct Readings(Mutex<Vec<i64>>);

    impl Clock for Readings {
        fn now_ms(&self) -> i64 {
            self.0.lock().unwrap().pop().unwrap()
        }

        fn monotonic_ms(&self) -> i64 {
            0
        }

        fn since_boot(&self) -> SinceBoot {
            SinceBoot::default()
        }
    }

    #[test]
    fn each_set_back_is_clamped_and_counted_once() {
        for (mut readings, timestamps, set_back) in [
            (vec![1000, 990, 980], [1000, 1000], 2),
            (vec![1000, 400, 401], [1000, 1000], 1),
            (vec![1000, 400, 1001], [1000, 1001], 1),
        ] {
            readings.reverse();
            let clock = Readings(Mutex::new(readings));
            let mut clock = RunClock::start(&clock);
            assert_eq!([clock.now_ms(), clock.now_ms()], timestamps);
            assert_eq!(clock.set_back, set_back);
        }
    }
}
