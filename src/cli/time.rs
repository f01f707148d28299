//! Parses times of the command line, and formats times in lists.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::engine::{Clock as _, SystemClock};
use crate::run::{PAST_TIME_FORMS, past_time};

/// Parses a time into Unix milliseconds: Unix milliseconds, or a form of [`past_time`] in the zone of this computer.
pub(super) fn parse_time(text: &str) -> Result<i64, String> {
    let now_ms = SystemClock::default().now_ms();
    let parsed = text.parse().ok().or_else(|| past_time(text, now_ms, &TimeZone::system()));
    parsed.ok_or_else(|| {
        format!("a time is {PAST_TIME_FORMS}, 2026-01-31T12:00:00Z or Unix milliseconds")
    })
}

/// Formats a time in the zone of this computer, to the second.
pub(super) fn local_time(unix_ms: i64) -> String {
    match Timestamp::from_millisecond(unix_ms) {
        Ok(timestamp) => {
            timestamp.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
        }
        Err(_) => format!("{unix_ms} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_time_in_the_help_parses() {
        assert_eq!(parse_time("1767225600000"), Ok(1_767_225_600_000));
        assert_eq!(parse_time("2026-01-01T00:00:00Z"), Ok(1_767_225_600_000));
        assert_eq!(parse_time("2026-01-01T01:00:00+01:00"), Ok(1_767_225_600_000));
        let midnight = parse_time("2026-01-31").unwrap();
        assert_eq!(parse_time("2026-01-31T12:00").unwrap() - midnight, 12 * 3_600_000);
        assert_eq!(local_time(midnight), "2026-01-31 00:00:00");
        assert!(parse_time("yesterday").unwrap() < parse_time("12h").unwrap());
        for text in ["", "tomorrow", "2026-13-01", "12:00"] {
            assert!(parse_time(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_time_outside_the_calendar_is_still_shown() {
        assert_eq!(local_time(i64::MAX), format!("{} ms", i64::MAX));
    }
}
