//! Formats numbers, times and digests for display. Pure; the current time and the time zone are parameters.

use std::borrow::Cow;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use unicode_segmentation::GraphemeCursor;

use crate::plan::{Code, Digest, prose};
use crate::run::text::capitalized;
pub use crate::run::text::{size, took as duration};

/// The current time and the time zone of the display.
#[derive(Debug, Clone)]
pub struct Now {
    /// The current time, in Unix milliseconds.
    pub ms: i64,
    /// The time zone of the display.
    pub zone: TimeZone,
}

impl Now {
    fn zoned(&self, ms: i64) -> Option<Zoned> {
        Some(Timestamp::from_millisecond(ms).ok()?.to_zoned(self.zone.clone()))
    }

    fn date(&self, ms: i64) -> Option<Date> {
        self.zoned(ms).map(|time| time.date())
    }

    pub(super) fn format(&self, ms: i64, pattern: &str) -> String {
        match self.zoned(ms) {
            Some(time) => time.strftime(pattern).to_string(),
            None => format!("{ms} ms"),
        }
    }

    /// The time, to the minute.
    pub fn minute(&self, ms: i64) -> String {
        self.format(ms, "%H:%M")
    }

    /// The time, to the second.
    pub fn second(&self, ms: i64) -> String {
        self.format(ms, "%H:%M:%S")
    }

    /// The date and time, to the second, with the zone's offset.
    pub fn full(&self, ms: i64) -> String {
        self.format(ms, "%Y-%m-%d %H:%M:%S %:z")
    }

    /// Whether both times are on the same day in the time zone of the display.
    pub fn is_same_day(&self, ms: i64, other: i64) -> bool {
        self.date(ms).is_some_and(|date| self.date(other) == Some(date))
    }

    /// The day and month, with the year if it is not the current one.
    pub fn day(&self, ms: i64) -> String {
        let year = |ms| self.date(ms).map(Date::year);
        let is_this_year = year(ms) == year(self.ms);
        self.format(ms, if is_this_year { "%-d %b" } else { "%-d %b %Y" })
    }

    /// The time to the second, after the day unless that is today.
    pub fn moment(&self, ms: i64) -> String {
        let time = self.second(ms);
        if self.is_same_day(ms, self.ms) { time } else { format!("{} {time}", self.day(ms)) }
    }

    /// The shortest form: `now` within a minute of the current time, the time to the minute if today, otherwise the
    /// day.
    pub fn short(&self, ms: i64) -> String {
        if (self.ms - ms).abs() < 60_000 {
            "now".to_owned()
        } else if self.is_same_day(ms, self.ms) {
            self.minute(ms)
        } else {
            self.day(ms)
        }
    }
}

/// A remaining time: the nearest whole minute, or seconds if it is less than a minute.
pub fn remaining(ms: i64) -> String {
    if ms >= 60_000 {
        format!("{} min", (ms + 30_000) / 60_000)
    } else {
        format!("{} s", ms.max(0) / 1_000)
    }
}

/// An elapsed time: `00:00:12`.
pub fn clock(ms: i64) -> String {
    let seconds = ms.max(0) / 1_000;
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds % 3_600 / 60, seconds % 60)
}

/// Shortens a text at its start to `max_chars` characters, including the ellipsis in front. A text that fits is
/// returned unchanged.
pub fn end_of(text: &str, max_chars: usize) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= max_chars {
        return Cow::Borrowed(text);
    }
    let start = text.char_indices().nth(length + 1 - max_chars.max(1));
    let start = start.map_or(text.len(), |(start, _)| whole_after(text, start));
    Cow::Owned(format!("…{}", text.get(start..).unwrap_or_default()))
}

/// The first place from `index` on at which no grapheme cluster is cut, such as an emoji of several characters.
fn whole_after(text: &str, index: usize) -> usize {
    let mut cursor = GraphemeCursor::new(index, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(false) => cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len()),
        _ => index,
    }
}

/// The last place up to `index` at which no grapheme cluster is cut, such as an emoji of several characters.
pub(super) fn whole_before(text: &str, index: usize) -> usize {
    let mut cursor = GraphemeCursor::new(index, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(false) => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or_default(),
        _ => index,
    }
}

/// A number with thousands separators.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number and its noun: `1 step`, `3 steps`.
pub fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number as u64))
}

/// The numbers that are not 0, each with its noun: `2 errors`, `1 note`.
pub fn counts<const N: usize>(numbers: [(usize, &str); N]) -> Vec<String> {
    let numbers = numbers.into_iter().filter(|(number, _)| *number > 0);
    numbers.map(|(number, noun)| counted(number, noun)).collect()
}

/// An error message after its code, if it has one. A denial is an answer and no error, so it has none.
pub fn error(code: Option<Code>, message: &str) -> String {
    let code = code.filter(|code| *code != Code::ConfirmationDenied);
    code.map_or_else(|| message.to_owned(), |code| format!("{code} {message}"))
}

/// The first and last characters of a digest, enough for a comparison by eye: `sha256:9f2c41…d0e1`.
pub fn digest(digest: &Digest) -> String {
    let hex = digest.hex();
    match (hex.get(..6), hex.get(60..)) {
        (Some(head), Some(tail)) => format!("sha256:{head}…{tail}"),
        _ => digest.to_string(),
    }
}

/// A message of a plan or a tool as it stands on its own. Its first letter becomes a capital one, unless it begins with a
/// name such as a path.
pub fn sentence(message: &str) -> String {
    let first = message.split(' ').next().unwrap_or_default();
    let is_word = first.chars().all(|letter| letter.is_ascii_lowercase());
    if is_word { capitalized(message) } else { message.to_owned() }
}

/// The beginning of a plan's name, where a line has more to say.
pub fn short_name(name: &str) -> String {
    const MAX_CHARS: usize = 40;
    match name.char_indices().nth(MAX_CHARS) {
        None => prose(name).into_owned(),
        Some((end, _)) => {
            let shown = name.get(..whole_before(name, end)).unwrap_or_default();
            format!("{}…", prose(shown.trim_end()))
        }
    }
}

/// Shortens a path to its last one or two components, which usually distinguish workspaces, and to at most `max_chars`
/// characters, but not below 8.
pub fn short_path(path: &str, max_chars: usize) -> String {
    let longest = max_chars.clamp(8, 32);
    let parts: Vec<_> = path.rsplit('/').take(2).collect();
    let short = match parts.as_slice() {
        [last, before] if before.chars().count() + last.chars().count() + 2 > longest => {
            format!("…/{last}")
        }
        [last, before] if !before.is_empty() && path.matches('/').count() > 2 => {
            format!("…/{before}/{last}")
        }
        _ => path.to_owned(),
    };
    end_of(&short, longest).into_owned()
}

/// The text with each UUID shortened to its first eight characters, if a space, a colon or an end of the text is on
/// either side of it.
pub fn short_ids(text: &str) -> String {
    let mut shortened = String::new();
    for piece in text.split_inclusive([':', ' ']) {
        let word = piece.trim_end_matches([':', ' ']);
        let is_id = word.len() == 36 && word.parse::<uuid::Uuid>().is_ok();
        shortened.push_str(word.get(..8).filter(|_| is_id).unwrap_or(word));
        shortened.push_str(piece.get(word.len()..).unwrap_or_default());
    }
    shortened
}

/// The text with each SHA-256 of 64 hex digits shortened to both of its ends.
pub fn short_digests(text: &str) -> String {
    let is_hex = |c: char| c.is_ascii_hexdigit();
    let mut shortened = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_hex) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c| !is_hex(c)).unwrap_or(from.len());
        let (digits, after) = from.split_at(end);
        shortened.push_str(before);
        match (digits.get(..6), digits.get(60..)) {
            (Some(first), Some(last)) if digits.len() == 64 => {
                shortened.push_str(first);
                shortened.push('…');
                shortened.push_str(last);
            }
            _ => shortened.push_str(digits),
        }
        rest = after;
    }
    shortened + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_begins_like_a_sentence_but_keeps_names() {
        for (message, expected) in [
            ("the earlier content is gone", "The earlier content is gone"),
            ("a.md exists already", "a.md exists already"),
            ("plan_id is missing", "plan_id is missing"),
            ("", ""),
        ] {
            assert_eq!(sentence(message), expected);
        }
    }

    #[test]
    fn durations_have_the_unit_that_fits() {
        for (ms, text) in [
            (-5, "0 ms"),
            (12, "12 ms"),
            (1_420, "1.42 s"),
            (185_000, "3 min 05 s"),
            (7_800_000, "2 h 10 min"),
        ] {
            assert_eq!(duration(ms), text);
        }
        assert_eq!(remaining(30 * 60_000 - 1), "30 min");
        assert_eq!(remaining(28 * 60_000 + 29_000), "28 min");
        assert_eq!(remaining(60_000), "1 min");
        assert_eq!(remaining(42_000), "42 s");
        assert_eq!(clock(3_723_000), "01:02:03");
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (41_579, "41,579")] {
            assert_eq!(count(number), text);
        }
        assert_eq!(counted(1, "step"), "1 step");
    }

    #[test]
    fn times_are_those_of_the_zone() {
        let now = Now { ms: 1_700_000_000_000, zone: TimeZone::fixed(jiff::tz::offset(2)) };
        assert_eq!(now.minute(now.ms), "00:13");
        assert_eq!(now.full(now.ms), "2023-11-15 00:13:20 +02:00");
        assert_eq!(now.short(now.ms - 1_000), "now");
        assert_eq!(now.short(now.ms - 600_000), "00:03");
        assert_eq!(now.short(now.ms - 86_400_000), "14 Nov");
    }

    /// The same day of another year is another day, and shows its year.
    #[test]
    fn days_of_another_year_show_it() {
        let now = Now { ms: 1_700_000_000_000, zone: TimeZone::fixed(jiff::tz::offset(2)) };
        let last_year = now.ms - 365 * 86_400_000;
        assert!(!now.is_same_day(last_year, now.ms));
        assert!(now.is_same_day(now.ms - 1_000, now.ms));
        assert_eq!(now.moment(now.ms - 1_000), "00:13:19");
        assert_eq!(now.moment(now.ms - 86_400_000), "14 Nov 00:13:20");
        assert_eq!(now.moment(last_year), "15 Nov 2022 00:13:20");
        assert_eq!(now.short(last_year), "15 Nov 2022");
        // The year of the zone counts.
        let new_year = Now { ms: 1_704_060_000_000, ..now };
        assert_eq!(new_year.day(new_year.ms), "1 Jan");
        assert_eq!(new_year.day(new_year.ms - 3_600_000), "31 Dec 2023");
    }

    #[test]
    fn long_text_is_cut_to_its_end() {
        assert_eq!(end_of("src/parser/token.rs", 10), "…/token.rs");
        assert_eq!(end_of("src/lib.rs", 10), "src/lib.rs");
        assert_eq!(end_of("é", 0), "…");
    }

    #[test]
    fn digests_in_a_text_are_shortened() {
        let digest = crate::plan::Digest::of(b"heron");
        let (hex, ends) = (digest.hex(), format!("{}…{}", digest.short(6), &digest.hex()[60..]));
        let text =
            |hex: &str| format!("“file hash is {hex}” holds: é is sha256:{hex}, not abc or {hex}0");
        let expected = text(&ends).replace(&format!("{ends}0"), &format!("{hex}0"));
        assert_eq!(short_digests(&text(&hex)), expected);
        assert_eq!(short_digests(&hex), ends);
    }

    #[test]
    fn a_short_digest_shows_both_ends() {
        let text = digest(&Digest::of(b""));
        assert_eq!(text, "sha256:e3b0c4…b855");
    }

    #[test]
    fn ids_are_shortened_anywhere_in_text() {
        let id = "6f1d9a70-3c52-4e0b-9b1e-5d4a6c8f0e21";
        assert_eq!(short_ids(&format!("run:{id}")), "run:6f1d9a70");
        assert_eq!(short_ids(&format!("loop:{id}:2 with now")), "loop:6f1d9a70:2 with now");
        assert_eq!(short_ids("the last change: é"), "the last change: é");
    }

    #[test]
    fn a_path_is_shortened_to_its_end() {
        for (path, max_chars, short) in [
            ("/work", 40, "/work"),
            ("/home/ada/src/parser", 40, "…/src/parser"),
            ("/tmp/countersign-tour-1a0e6573", 40, "/tmp/countersign-tour-1a0e6573"),
            ("/tmp/countersign-tour-1a0e6573", 28, "…/countersign-tour-1a0e6573"),
            ("/tmp/countersign-tour-1a0e6573", 12, "…ur-1a0e6573"),
            ("C:\\Users\\ada", 40, "C:\\Users\\ada"),
        ] {
            let text = short_path(path, max_chars);
            assert_eq!(text, short, "{max_chars}");
            assert!(text.chars().count() <= max_chars, "{text}");
        }
    }

    /// An emoji may have several characters, of which a part would be another emoji.
    #[test]
    fn no_emoji_is_cut() {
        let family = "👨\u{200d}👩\u{200d}👧";
        for before in 30..45 {
            let name = format!("{}{family}{}", "a".repeat(before), "b".repeat(20));
            let short = short_name(&name);
            let emoji: String = short.chars().filter(|it| !it.is_ascii()).collect();
            assert!([format!("{family}…"), "…".to_owned()].contains(&emoji), "{short}");
            let end = end_of(&name, 25 - (before - 30));
            let emoji: String = end.chars().filter(|it| !it.is_ascii()).collect();
            assert!([format!("…{family}"), "…".to_owned()].contains(&emoji), "{end}");
        }
        let long = format!("{}{family}", "a".repeat(997));
        let shown = crate::ui::widgets::beginning(&long);
        assert!(!shown.contains('👨') && shown.ends_with("a…"), "{shown}");
    }
}
