//! Reads times of the past as people write them, for searches in the evidence.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// The forms of times that [`past_time`] accepts, as a phrase.
pub const PAST_TIME_FORMS: &str =
    "2026-01-31, 2026-01-31T12:00, today, yesterday, or an age such as 30m, 12h, 7d or 2w";

/// A time in Unix milliseconds: a local day, which begins at midnight, or a local time, in `zone`; RFC 3339; `today` and
/// `yesterday`; an age in minutes, hours, days or weeks before `now_ms`. `None` for any other text.
pub fn past_time(text: &str, now_ms: i64, zone: &TimeZone) -> Option<i64> {
    let local = |time: DateTime| Some(time.to_zoned(zone.clone()).ok()?.timestamp());
    let midnight = |day: Date| local(day.at(0, 0, 0, 0));
    let now = || Some(Timestamp::from_millisecond(now_ms).ok()?.to_zoned(zone.clone()));
    let time = if text == "today" {
        midnight(now()?.date())
    } else if text == "yesterday" {
        midnight(now()?.date().yesterday().ok()?)
    } else if let Some((number, unit)) = text.split_at_checked(text.len().saturating_sub(1))
        && let Ok(number) = number.parse::<u32>()
        && let Some(minutes) = minutes_of(unit)
    {
        let minutes = i64::from(number).checked_mul(minutes)?;
        Timestamp::from_millisecond(now_ms)
            .ok()?
            .checked_sub(SignedDuration::from_mins(minutes))
            .ok()
    } else if let Ok(timestamp) = text.parse::<Timestamp>() {
        Some(timestamp)
    } else if let Ok(day) = text.parse::<Date>()
        && !text.contains(':')
    {
        midnight(day)
    } else {
        local(text.parse::<DateTime>().ok()?)
    };
    time.map(Timestamp::as_millisecond)
}

/// The minutes of a unit of ages.
fn minutes_of(unit: &str) -> Option<i64> {
    match unit {
        "m" => Some(1),
        "h" => Some(60),
        "d" => Some(24 * 60),
        "w" => Some(7 * 24 * 60),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;
    /// 2026-11-01T22:30 in UTC, half past midnight of the next day in the zone of the tests.
    const NOW: i64 = 1_793_491_200_000 + 22 * HOUR + HOUR / 2;

    fn time(text: &str) -> Option<i64> {
        past_time(text, NOW, &TimeZone::fixed(jiff::tz::offset(2)))
    }

    #[test]
    fn every_form_is_read() {
        let midnight = 1_793_491_200_000 - 2 * HOUR;
        for (text, expected) in [
            ("2026-11-01", midnight),
            ("2026-11-01T12:00", midnight + 12 * HOUR),
            ("2026-11-01T12:00:00Z", midnight + 14 * HOUR),
            ("2026-11-01T12:00:00+02:00", midnight + 12 * HOUR),
            ("yesterday", midnight),
            ("today", midnight + 24 * HOUR),
            ("30m", NOW - HOUR / 2),
            ("12h", NOW - 12 * HOUR),
            ("7d", NOW - 7 * 24 * HOUR),
            ("2w", NOW - 14 * 24 * HOUR),
            ("0d", NOW),
        ] {
            assert_eq!(time(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_times() {
        let texts = [
            "",
            "d",
            "7",
            "7x",
            "-7d",
            "7 d",
            "4294967295w",
            "2026-13-01",
            "12:00",
            "7é",
            "tomorrow",
        ];
        for text in texts {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
