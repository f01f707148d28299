//! The filters of the search: the one table from which the search field is parsed, faults are explained and the help is
//! written. Pure.

use crate::plan::TOOLS;
use crate::plan::words::words;
use crate::risk::RiskLevel;
use crate::run::{Known, PAST_TIME_FORMS};

words! {
    /// A filter of the search; a word such as `tool:file_read` sets it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the filters by their names")]
    pub enum Filter {
        Tool = "tool",
        Outcome = "outcome",
        Risk = "risk",
        Path = "path",
        Wrote = "wrote",
        Code = "code",
        After = "after",
        Before = "before",
        Host = "host",
        Plan = "plan",
        Run = "run",
        Loop = "loop",
        By = "by",
    }
}

impl Filter {
    /// The filter of this name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        // What everybody tries first.
        let name = if name.eq_ignore_ascii_case("file") { Self::Path.as_str() } else { name };
        let (_, filter) = Self::WORDS.iter().find(|(word, _)| name.eq_ignore_ascii_case(word))?;
        Some(*filter)
    }

    /// An example of its value, and what it finds.
    const fn about(self) -> (&'static str, &'static str) {
        match self {
            Self::Tool => ("file_write", "what this tool did, by its whole name"),
            Self::Outcome => ("failed", "what ended like this"),
            Self::Risk => ("dangerous", "what was rated like this"),
            Self::Path => {
                ("src/lib.rs", "what touched a file with these words in its path; also file:")
            }
            Self::Wrote => ("src/lib.rs", "what wrote such a file; wrote:* for any file"),
            Self::Code => ("E0308", "what reported this code, or failed with it"),
            Self::After => ("7d", "what ran since then, that day included"),
            Self::Before => ("yesterday", "what ran until then, without that day"),
            Self::Host => ("web-1", "what ran on this host, as its plan names it"),
            Self::Plan => ("ID", "what ran by this plan"),
            Self::Run => ("ID", "one run"),
            Self::Loop => ("ID", "all runs of one loop"),
            Self::By => {
                ("ada", "what this user decided about, or what was decided there, such as window")
            }
        }
    }

    /// The form of the values that it accepts; `None` if it accepts any text.
    pub(super) fn form(self) -> Option<String> {
        Some(match self {
            Self::Outcome => format!("one of {}", outcomes().join(", ")),
            Self::Risk => format!("one of {}", risks().join(", ")),
            Self::After | Self::Before => PAST_TIME_FORMS.to_owned(),
            Self::Run | Self::Loop => format!("the whole id of a {}", self.as_str()),
            Self::Tool
            | Self::Plan
            | Self::Host
            | Self::Path
            | Self::Wrote
            | Self::Code
            | Self::By => return None,
        })
    }
}

/// Every filter for the help: an example, and what it finds.
pub(crate) fn filters_help() -> impl Iterator<Item = (String, String)> {
    Filter::WORDS.iter().map(|(word, filter)| {
        let (value, meaning) = filter.about();
        // The forms of times are the same for both.
        let form = filter.form().filter(|_| *filter != Filter::Before);
        let form = form.map(|form| format!(": {form}")).unwrap_or_default();
        (format!("{word}:{value}"), format!("{meaning}{form}"))
    })
}

/// The problem with `tool:` and a name that is neither a tool nor in a record.
pub fn unknown_tool(name: &str) -> String {
    let names: Vec<_> = TOOLS.iter().map(|spec| spec.name).collect();
    problem(Filter::Tool, &format!("one of {}", names.join(", ")), name)
}

/// The problem with a value that a filter does not accept.
pub(super) fn problem(filter: Filter, form: &str, value: &str) -> String {
    format!("{}: takes {form}, not “{value}”.", filter.as_str())
}

/// The valid values of `outcome:`.
pub(super) fn outcomes() -> Vec<&'static str> {
    Known::words().collect()
}

/// The valid values of `risk:`.
pub(super) fn risks() -> Vec<&'static str> {
    RiskLevel::WORDS.iter().map(|(word, _)| *word).collect()
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use crate::run::SearchQuery;
    use crate::ui::Now;
    use crate::ui::evidence::parse;

    #[test]
    fn each_example_in_the_help_is_a_valid_search() {
        let now = Now { ms: 1_793_577_600_000, zone: TimeZone::UTC };
        let examples: Vec<_> = filters_help().collect();
        assert_eq!(examples.len(), Filter::WORDS.len());
        for (example, meaning) in examples {
            let text = example.replace("ID", &uuid::Uuid::nil().to_string());
            let parsed = parse(&text, &now);
            assert_eq!(parsed.problems, Vec::<String>::new(), "{example}");
            assert!(parsed.query.words.is_empty(), "{example} is no filter");
            assert_ne!(parsed.query, SearchQuery::default(), "{example}");
            assert!(meaning.len() > 5, "{example}");
        }
    }
}
