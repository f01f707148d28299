//! Whole calls that are known to do less than their programs can: every word of such a call is in a pattern of the
//! table, so that nothing of it is left to guess.

use serde::Deserialize;

use super::lazy_regex::LazyRegex;
use super::place;
use super::rating::Rating;
use super::syntax::{END, UNKNOWN};
use super::{milder, queries};

/// The rule of calls that make something new beside the project.
pub(super) const BESIDE: &str = "makes-beside";

/// What a method that only asks may be given: a text, a number, a symbol, or a time ago, also behind a name.
const PLAIN: &str = r##"(?:\w+:\x20?|:\w+\x20?=>\x20?)?(?:"[^"#\\`$\t]*"|'[^'\\\t]*'|:\w+|[\d._]+|true|false|nil|null|[\d.]+\.(?:second|minute|hour|day|week|month|year)s?\.ago(?:\.\.)?|(?:Time|Date)\.(?:now|current|today|yesterday))"##;

/// The calls of some programs. A blank stands between two words; `<w>` is any word, `<p>` one that is no option,
/// `<a>` what a method that asks may be given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Known {
    programs: Vec<String>,
    /// Calls that only read, wherever that is.
    #[serde(default)]
    shows: Vec<String>,
    /// Calls that change what lies in the project, or something small that is not lost for it.
    #[serde(default)]
    acts: Vec<String>,
    /// Calls that make a folder beside that of the project.
    #[serde(default)]
    beside: Vec<String>,
    #[serde(skip)]
    compiled: [Vec<LazyRegex>; 3],
}

impl Known {
    /// Gets the patterns ready.
    pub(super) fn compile(&mut self) {
        let read = |texts: &[String]| {
            let words = |text: &String| {
                let text =
                    text.replace(' ', "\t").replace("<w>", "[^\t]+").replace("<p>", "[^\t-][^\t]*");
                let text = text.replace("<a>", PLAIN);
                LazyRegex::from(format!("^(?:{text})$"))
            };
            texts.iter().map(words).collect()
        };
        self.compiled = [read(&self.shows), read(&self.acts), read(&self.beside)];
    }

    #[cfg(test)]
    pub(super) fn patterns(&self) -> impl Iterator<Item = &LazyRegex> {
        self.compiled.iter().flatten()
    }

    /// What is to be said of a call that is in the table.
    pub(super) fn rating(&self, program: &str, arguments: &[(String, bool)]) -> Option<Rating> {
        if !self.programs.iter().any(|name| name == program) {
            return None;
        }
        let secret = |text: &str| {
            let path = place::settle(text, "");
            place::is_secret(&path) || place::is_keys(&path) || place::is_sensitive(&path)
        };
        let plain = |(text, glob): &(String, bool)| {
            let open = *glob && text != "?";
            !open && !text.contains([UNKNOWN, END, '\t', '\n']) && !secret(text)
        };
        if !arguments.iter().all(plain) {
            return None;
        }
        let line = arguments.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join("\t");
        let [shows, acts, beside] = &self.compiled;
        let any = |list: &[LazyRegex]| list.iter().any(|it| it.is_match(&line));
        if any(shows) {
            return Some(milder::showing());
        }
        if any(acts) && (program != "psql" || arguments.iter().all(|(text, _)| copies_here(text))) {
            return Some(Rating::caution(
                "known-call",
                "Changes something small, and this call is known.",
            ));
        }
        any(beside)
            .then(|| Rating::caution(BESIDE, "Makes a new folder beside that of the project."))
    }
}

/// Whether a text, if it has a client of a database copy something, only copies what a query answers.
fn copies_here(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("\\copy (") else { return true };
    rest.rsplit_once(") to '")
        .is_some_and(|(query, to)| queries::only_queries(query) && !to.contains(".."))
}
