//! Parses times of the command line, and formats times in lists.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Parses a time into Unix milliseconds. Accepts Unix milliseconds, RFC 3339, and a local date with or without a
/// time.
pub(super) fn parse_time(text: &str) -> Result<i64, String> {
    let local = |time: DateTime| {
        time.to_zoned(TimeZone::system()).map(|zoned: Zoned| zoned.timestamp().as_millisecond())
    };
    if let Ok(ms) = text.parse::<i64>() {
        return Ok(ms);
    }
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Ok(timestamp.as_millisecond());
    }
    let parsed = match text.parse::<Date>() {
        Ok(date) if !text.contains(':') => local(date.at(0, 0, 0, 0)),
        _ => text.parse::<DateTime>().and_then(local),
    };
    parsed.map_err(|_| {
        "a time is 2026-01-31, 2026-01-31T12:00, 2026-01-31T12:00:00Z or Unix milliseconds"
            .to_owned()
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
        for text in ["", "yesterday", "2026-13-01", "12:00"] {
            assert!(parse_time(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_time_outside_the_calendar_is_still_shown() {
        assert_eq!(local_time(i64::MAX), format!("{} ms", i64::MAX));
    }
}
