//! The one place where the window reads the clock and the time zone.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::ui::format::Now;

/// The present moment in the zone of the screen.
pub(super) fn now() -> Now {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Now {
        ms: i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        zone: jiff::tz::TimeZone::system(),
    }
}
