//! Known calls that are less dangerous than other calls of their programs. Every word of such a call matches a pattern
//! of the table, so that nothing unknown is left.

use serde::Deserialize;

use super::lazy_regex::LazyRegex;
use super::rating::Rating;
use super::syntax::{END, UNKNOWN};
use super::{harmless_forms, path_kind, queries};

/// The rule id for calls that create something new beside the project.
pub(super) const BESIDE: &str = "makes-beside";

/// A literal argument of a query method: a text, a number, a symbol or a relative time, optionally after a name.
const PLAIN: &str = r##"(?:\w+:\x20?|:\w+\x20?=>\x20?)?(?:"[^"#\\`$\t]*"|'[^'\\\t]*'|:\w+|[\d._]+|true|false|nil|null|[\d.]+\.(?:second|minute|hour|day|week|month|year)s?\.ago(?:\.\.)?|(?:Time|Date)\.(?:now|current|today|yesterday))"##;

/// Known calls of some programs, as patterns: a blank separates two words; `<w>` is any word, `<p>` any word that is
/// not an option, `<a>` a literal argument of a query method.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct KnownCalls {
    programs: Vec<String>,
    /// Calls that only read.
    shows: Vec<String>,
    /// Calls that change something in the project, or something small that is easy to restore.
    acts: Vec<String>,
    /// Calls that create a folder beside the project.
    beside: Vec<String>,
    #[serde(skip)]
    compiled: [Vec<LazyRegex>; 3],
}

impl KnownCalls {
    /// Compiles the patterns.
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
        assert!(!self.programs.is_empty(), "{self:?}");
        self.compiled.iter().flatten()
    }

    /// The rating of a call that matches a pattern; `None` for any other call.
    pub(super) fn rating(&self, program: &str, arguments: &[(String, bool)]) -> Option<Rating> {
        if !self.programs.iter().any(|name| name == program) {
            return None;
        }
        let secret = |text: &str| path_kind::is_private(&path_kind::normalize(text, ""));
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
            return Some(harmless_forms::show_rating());
        }
        if any(acts) && (program != "psql" || arguments.iter().all(|(text, _)| copies_here(text))) {
            return Some(Rating::caution(
                "known-call",
                "Makes a small change; this exact call is known.",
            ));
        }
        any(beside).then(|| Rating::caution(BESIDE, "Creates a folder beside the project."))
    }
}

/// Whether a text is a `\copy` that only copies the result of a query; true for any other text.
fn copies_here(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("\\copy (") else { return true };
    rest.rsplit_once(") to '")
        .is_some_and(|(query, to)| queries::only_queries(query) && !to.contains(".."))
}
