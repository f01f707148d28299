//! How long a decision counts.

use serde::{Deserialize, Serialize};

/// A time on the monotonic clock, which starts at boot.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SinceBoot {
    /// Identifies the boot: times of different boots cannot be compared.
    pub boot_id: String,
    /// Milliseconds since boot.
    pub ms: i64,
}

/// What is left in milliseconds of a decision of this time that ends at that time, both on the wall clock; `given` is its
/// time on the monotonic clock.
pub(super) fn remaining_ms(
    (decided_at_ms, expires_at_ms): (i64, i64),
    given: Option<&SinceBoot>,
    now_ms: i64,
    since_boot: &SinceBoot,
) -> i64 {
    let ttl_ms = expires_at_ms.saturating_sub(decided_at_ms);
    let by_wall_clock = expires_at_ms.saturating_sub(now_ms);
    match given {
        Some(given) if given.boot_id == since_boot.boot_id => {
            by_wall_clock.min(ttl_ms - since_boot.ms.saturating_sub(given.ms))
        }
        // After a reboot, the time since the decision is unknown.
        Some(_) => by_wall_clock.min(0),
        None => by_wall_clock,
    }
}
