//! Parses the text of the search field. Pure.

use super::filters::{Filter, outcomes, problem, risks};
use crate::run::{SearchQuery, past_time};
use crate::ui::Now;

/// A parsed search text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parsed {
    /// The query.
    pub query: SearchQuery,
    /// Parts that could not be parsed, each with a valid form.
    pub problems: Vec<String>,
    /// Words that look like a filter and are none. They are searched.
    pub hints: Vec<String>,
}

/// Parses a search text. Days begin at midnight of the display; `after:` includes the day, `before:` excludes it.
pub fn parse(text: &str, now: &Now) -> Parsed {
    let mut parsed = Parsed::default();
    let mut words = Vec::new();
    for token in tokens(text) {
        match token.filter() {
            Some((filter, value)) if !value.is_empty() => {
                if set_filter(&mut parsed.query, filter, value, now).is_none() {
                    let form = filter.form().unwrap_or_default();
                    parsed.problems.push(problem(filter, &form, value));
                }
            }
            // `tool:` without a value is an unfinished filter.
            Some(_) => {}
            None => {
                if let Some(name) = token.unknown_filter() {
                    let hint = format!(
                        "{name}: is no filter; it is searched as words. The help lists the filters."
                    );
                    parsed.hints.push(hint);
                }
                words.push(token.written());
            }
        }
    }
    parsed.query.words = words.join(" ");
    parsed
}

/// Sets a filter of the query; `None` if the value is not valid.
fn set_filter(query: &mut SearchQuery, filter: Filter, value: &str, now: &Now) -> Option<()> {
    let text = || Some(value.to_owned());
    let one_of = |words: Vec<&str>| words.contains(&value).then(|| value.to_owned());
    let time = || past_time(value, now.ms, &now.zone);
    match filter {
        Filter::Tool => query.tool = text(),
        Filter::Outcome => query.outcome = Some(one_of(outcomes())?),
        Filter::Risk => query.risk = Some(one_of(risks())?),
        Filter::Plan => query.plan_id = text(),
        Filter::Host => query.host = text(),
        Filter::Path => query.path = text(),
        Filter::Wrote => query.wrote = text(),
        Filter::Code => query.code = text(),
        Filter::By => query.by = text(),
        Filter::Run => query.run_id = Some(value.parse().ok()?),
        Filter::Loop => query.loop_id = Some(value.parse().ok()?),
        Filter::After => query.since_ms = Some(time()?),
        Filter::Before => query.until_ms = Some(time()?),
    }
    Some(())
}

/// A part of the text without its quotation marks.
#[derive(Default)]
struct Token {
    text: String,
    /// Whether the token began with a quotation mark. It is then no filter.
    is_quoted: bool,
}

impl Token {
    /// The filter and its value; `None` for words.
    fn filter(&self) -> Option<(Filter, &str)> {
        let (word, value) = self.text.split_once(':').filter(|_| !self.is_quoted)?;
        Some((Filter::named(word)?, value))
    }

    /// The name before the colon of a token that looks like a filter and is none. Paths, addresses, ports and the
    /// beginnings of messages do not look like one.
    fn unknown_filter(&self) -> Option<&str> {
        let (name, value) = self.text.split_once(':').filter(|_| !self.is_quoted)?;
        let is_name = name.len() > 1 && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
        let is_value = !value.is_empty()
            && !value.starts_with([':', '/', '\\'])
            && !value.chars().all(|c| c.is_ascii_digit() || c == ':');
        (is_name && is_value && Filter::named(name).is_none()).then_some(name)
    }

    /// The token as it is written in a text.
    fn written(&self) -> String {
        let Self { text, is_quoted } = self;
        match self.filter() {
            _ if !is_quoted && !text.contains(char::is_whitespace) => text.clone(),
            Some((filter, value)) => format!("{}:\"{value}\"", filter.as_str()),
            // An excluded phrase begins with its sign.
            None => match text.strip_prefix('-').filter(|_| !is_quoted) {
                Some(excluded) => format!("-\"{excluded}\""),
                None => format!("\"{text}\""),
            },
        }
    }
}

/// Splits a text at spaces; quotation marks keep several words together.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let (mut token, mut quoted) = (Token::default(), false);
    for c in text.chars() {
        match c {
            '"' => {
                token.is_quoted |= token.text.is_empty();
                quoted = !quoted;
            }
            c if c.is_whitespace() && !quoted => tokens.push(std::mem::take(&mut token)),
            c => token.text.push(c),
        }
    }
    tokens.push(token);
    tokens.retain(|token| !token.text.is_empty());
    tokens
}

/// The search text with a filter set to this value, or without the filter if it had this value already.
pub fn toggle(text: &str, filter: Filter, value: &str) -> String {
    let mut was_set = false;
    let mut parts = Vec::new();
    for token in tokens(text) {
        match token.filter() {
            Some((other, old)) if other == filter => was_set |= old == value,
            _ => parts.push(token.written()),
        }
    }
    if !was_set {
        let text = format!("{}:{value}", filter.as_str());
        parts.push(Token { text, is_quoted: false }.written());
    }
    parts.join(" ")
}

/// The search text without its times.
pub fn without_times(text: &str) -> String {
    let is_time =
        |token: &&Token| matches!(token.filter(), Some((Filter::After | Filter::Before, _)));
    let tokens = tokens(text);
    let parts: Vec<_> = tokens.iter().filter(|it| !is_time(it)).map(Token::written).collect();
    parts.join(" ")
}

/// The search text with filters for the seconds that contain these times, in Unix milliseconds; `to_ms` is exclusive.
pub fn within(text: &str, from_ms: i64, to_ms: i64, now: &Now) -> String {
    let mut parts = vec![without_times(text)];
    parts.retain(|text| !text.is_empty());
    let times = [
        (Filter::After, from_ms.div_euclid(1_000) * 1_000),
        (
            Filter::Before,
            to_ms.div_euclid(1_000) * 1_000 + if to_ms % 1_000 == 0 { 0 } else { 1_000 },
        ),
    ];
    for (filter, ms) in times {
        let local = now.format(ms, "%Y-%m-%dT%H:%M:%S");
        // When clocks are set back, a local time comes twice.
        let is_exact = past_time(&local, now.ms, &now.zone) == Some(ms);
        let time = if is_exact { local } else { now.format(ms, "%Y-%m-%dT%H:%M:%S%:z") };
        parts.push(format!("{}:{time}", filter.as_str()));
    }
    parts.join(" ")
}

/// Whether the search text has the filter with this value.
pub fn is_set(text: &str, filter: Filter, value: &str) -> bool {
    tokens(text).iter().any(|token| token.filter() == Some((filter, value)))
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    fn now() -> Now {
        Now { ms: 1_793_577_600_000, zone: TimeZone::UTC }
    }

    fn query(text: &str) -> SearchQuery {
        let parsed = parse(text, &now());
        assert_eq!(parsed.problems, Vec::<String>::new(), "{text}");
        parsed.query
    }

    #[test]
    fn query_separates_words_and_filters() {
        let query = query("cannot find  Tool:file_read outcome:failed std::fs \"two words\"");
        assert_eq!(query.words, "cannot find std::fs \"two words\"");
        assert_eq!(query.tool.as_deref(), Some("file_read"));
        assert_eq!(query.outcome.as_deref(), Some("failed"));
    }

    #[test]
    fn every_filter_sets_its_field() {
        let id = uuid::Uuid::from_u128(7);
        let text = format!(
            "run:{id} loop:{id} plan:p risk:caution host:web1 path:\"my file.rs\" wrote:* code:E0425 \
             by:ada after:2026-11-01 before:2026-11-02"
        );
        let expected = SearchQuery {
            run_id: Some(id),
            loop_id: Some(id),
            plan_id: Some("p".into()),
            risk: Some("caution".into()),
            host: Some("web1".into()),
            path: Some("my file.rs".into()),
            wrote: Some("*".into()),
            code: Some("E0425".into()),
            by: Some("ada".into()),
            since_ms: Some(1_793_491_200_000),
            until_ms: Some(1_793_577_600_000),
            ..SearchQuery::default()
        };
        assert_eq!(query(&text), expected);
    }

    #[test]
    fn days_begin_in_the_zone_of_the_screen() {
        let now = Now { zone: TimeZone::fixed(jiff::tz::offset(2)), ..now() };
        let parsed = parse("after:2026-11-01", &now);
        assert_eq!(parsed.query.since_ms, Some(1_793_491_200_000 - 2 * 3_600_000));
    }

    #[test]
    fn ages_count_from_now() {
        let found = query("after:7d before:yesterday");
        let day = 24 * 3_600_000;
        assert_eq!(found.since_ms, Some(now().ms - 7 * day));
        assert_eq!(found.until_ms, Some(now().ms - day));
    }

    #[test]
    fn unreadable_filters_are_reported() {
        let parsed = parse("run:abc after:tomorrow", &now());
        assert_eq!(parsed.query, SearchQuery::default());
        assert_eq!(parsed.problems.len(), 2);
    }

    #[test]
    fn unknown_outcomes_and_risks_are_reported() {
        let parsed = parse("outcome:faild risk:x", &now());
        assert_eq!(parsed.query, SearchQuery::default());
        let risk = "risk: takes one of safe, caution, dangerous, blocked, not “x”.";
        assert!(parsed.problems[0].starts_with("outcome: takes one of succeeded, "));
        assert_eq!(parsed.problems[1], risk);
        assert_eq!(query("outcome:interrupted").outcome.as_deref(), Some("interrupted"));
    }

    #[test]
    fn a_filter_is_set_with_its_own_value_alone() {
        assert!(is_set("x outcome:failed", Filter::Outcome, "failed"));
        assert!(!is_set("x outcome:faild", Filter::Outcome, "failed"));
        assert!(!is_set("outcome:bogus-and-long", Filter::Outcome, "succeeded"));
        assert_eq!(query("file:src/a.rs").path.as_deref(), Some("src/a.rs"));
    }

    // Compiler messages begin like filters.
    #[test]
    fn quoted_words_are_no_filter() {
        let text = "\"host: unreachable\" \"code:E0425\"";
        let found = query(text);
        assert_eq!((found.words.as_str(), found.host), (text, None));
        let with = toggle(text, Filter::Host, "web1");
        assert_eq!(with, format!("{text} host:web1"));
        assert_eq!(toggle(&with, Filter::Host, "web1"), text);
        let path = toggle("path:\"my file.rs\"", Filter::Tool, "file_read");
        assert_eq!(path, "path:\"my file.rs\" tool:file_read");
    }

    #[test]
    fn a_time_replaces_the_times_before_it() {
        let from = 1_793_577_600_000 - 3_600_000;
        let text =
            within("heron after:7d \"two words\" before:today", from + 999, from + 1_001, &now());
        assert_eq!(
            text,
            "heron \"two words\" after:2026-11-01T23:00:00 before:2026-11-01T23:00:02"
        );
        let found = query(&text);
        assert_eq!((found.since_ms, found.until_ms), (Some(from), Some(from + 2_000)));
    }

    #[test]
    fn times_are_taken_away_alone() {
        let text = "heron after:7d \"two words\" before:today";
        assert_eq!(without_times(text), "heron \"two words\"");
        assert_eq!(without_times("after:7d"), "");
    }

    #[test]
    fn an_hour_that_comes_twice_is_written_with_its_offset() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let now = Now { ms: 1_793_577_600_000, zone };
        // 2026-10-25T02:30, first in summer time, then an hour later.
        for ms in [1_792_888_200_000, 1_792_888_200_000 + 3_600_000] {
            let parsed = parse(&within("", ms, ms + 1_000, &now), &now);
            let times = (parsed.query.since_ms, parsed.query.until_ms);
            assert_eq!(times, (Some(ms), Some(ms + 1_000)), "{parsed:?}");
        }
    }

    #[test]
    fn a_word_like_a_filter_gets_a_hint() {
        for text in ["nofilter:x", "since:7d fox", "exit_code:1x"] {
            let parsed = parse(text, &now());
            assert_eq!((parsed.hints.len(), parsed.problems.len()), (1, 0), "{text}");
            assert_eq!(parsed.query.words, text);
        }
        let hint = &parse("nofilter:x", &now()).hints[0];
        assert!(hint.starts_with("nofilter: is no filter; it is searched as words."), "{hint}");
        for text in [
            "std::fs",
            "http://x",
            "error: text",
            "tool:file_read",
            "tool:",
            "localhost:8080",
            "C:\\x",
            "src/lib.rs:12:5",
            "\"nofilter:x\"",
            "main:3:7",
            "E0425:x",
        ] {
            assert_eq!(parse(text, &now()).hints, Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn signs_of_words_are_kept() {
        let text = "on* -two -\"three four\" \"-rf\"";
        assert_eq!(query(text).words, text);
    }

    #[test]
    fn incomplete_filter_is_ignored() {
        assert_eq!(query("tool:"), SearchQuery::default());
        assert_eq!(query("http://x").words, "http://x");
    }

    #[test]
    fn facet_is_set_replaced_and_removed() {
        let text = toggle("word", Filter::Tool, "file_read");
        assert_eq!(text, "word tool:file_read");
        assert_eq!(toggle(&text, Filter::Tool, "file_glob"), "word tool:file_glob");
        assert_eq!(toggle(&text, Filter::Tool, "file_read"), "word");
        let path = toggle("", Filter::Path, "my file.rs");
        assert_eq!(query(&path).path.as_deref(), Some("my file.rs"));
    }
}
