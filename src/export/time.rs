//! Times in exports: always UTC, so that the same evidence gives the same bytes everywhere.

use jiff::Timestamp;

/// A time as `2026-01-31T12:00:00.000Z`; Unix milliseconds if it is outside of the calendar.
pub(super) fn rfc3339(unix_ms: i64) -> String {
    formatted(unix_ms, "%Y-%m-%dT%H:%M:%S.%3fZ")
}

/// A time for people, as `2026-01-31 12:00:00 UTC`.
pub(super) fn utc(unix_ms: i64) -> String {
    formatted(unix_ms, "%Y-%m-%d %H:%M:%S UTC")
}

fn formatted(unix_ms: i64, form: &str) -> String {
    match Timestamp::from_millisecond(unix_ms) {
        Ok(timestamp) => timestamp.strftime(form).to_string(),
        Err(_) => format!("{unix_ms} ms"),
    }
}

/// A duration in seconds, to the millisecond.
pub(super) fn seconds(ms: i64) -> String {
    let ms = ms.max(0);
    format!("{}.{:03}", ms / 1_000, ms % 1_000)
}
