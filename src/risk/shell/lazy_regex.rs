//! Patterns that are compiled when they are first used. There are thousands, and one command needs only a few of
//! them. All of them together take tens of megabytes.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::{Match, Regex};
use serde::Deserialize;

/// A pattern of the table or of the code. A faulty pattern matches nothing: tests compile every pattern of the
/// table, and debug builds stop at a faulty constant.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub(super) struct LazyRegex {
    text: Cow<'static, str>,
    compiled: OnceLock<Option<Regex>>,
}

impl LazyRegex {
    pub(super) const fn new(text: &'static str) -> Self {
        Self { text: Cow::Borrowed(text), compiled: OnceLock::new() }
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.compiled().is_some_and(|regex| regex.is_match(text))
    }

    /// The matches in a text, from left to right.
    pub(super) fn find_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = Match<'t>> {
        self.compiled().into_iter().flat_map(|regex| regex.find_iter(text))
    }

    /// The text with every match replaced, as [`Regex::replace_all`] does it.
    pub(super) fn replace_all<'t>(&self, text: &'t str, new: &str) -> Cow<'t, str> {
        self.compiled().map_or(Cow::Borrowed(text), |regex| regex.replace_all(text, new))
    }

    /// `None` if the pattern is faulty.
    pub(super) fn compiled(&self) -> Option<&Regex> {
        let compiled = self.compiled.get_or_init(|| Regex::new(&self.text).ok());
        debug_assert!(compiled.is_some(), "no pattern: {}", self.text);
        compiled.as_ref()
    }
}

impl From<String> for LazyRegex {
    fn from(text: String) -> Self {
        Self { text: Cow::Owned(text), compiled: OnceLock::new() }
    }
}
