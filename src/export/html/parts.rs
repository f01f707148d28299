//! Parts of the report.

use std::io::Write;

use super::super::Result;
use super::super::time::{rfc3339, utc};
use super::super::xml::escaped_line;

/// The outcomes in the order of the summary, with the class of each.
pub(super) const OUTCOMES: [(&str, &str); 9] = [
    ("succeeded", "good"),
    ("done_by_hand", "good"),
    ("failed", "bad"),
    ("precondition_failed", "bad"),
    ("denied", "bad"),
    ("interrupted", "bad"),
    ("cancelled", "calm"),
    ("skipped", "calm"),
    ("running", "calm"),
];

/// The class of an outcome or of the status of a run: `good`, `bad` or `calm`.
pub(super) fn class_of(word: &str) -> &'static str {
    match word {
        "completed" => "good",
        "active" => "calm",
        word => OUTCOMES.iter().find(|(name, _)| *name == word).map_or("calm", |(_, class)| class),
    }
}

/// A word of the evidence for people: `done by hand`.
pub(super) fn spoken(word: &str) -> String {
    word.replace('_', " ")
}

/// A list of facts: names with values that are escaped already.
pub(super) fn write_facts(facts: &[(&str, Option<String>)], out: &mut dyn Write) -> Result<()> {
    writeln!(out, "<dl class=\"facts\">")?;
    for (name, value) in facts {
        if let Some(value) = value {
            writeln!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>")?;
        }
    }
    writeln!(out, "</dl>")?;
    Ok(())
}

pub(super) fn time(unix_ms: i64) -> String {
    format!("<time datetime=\"{}\">{}</time>", rfc3339(unix_ms), utc(unix_ms))
}

pub(super) fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped_line(text))
}

/// A number with its noun: `1 execution`, `12 executions`.
pub(super) fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
