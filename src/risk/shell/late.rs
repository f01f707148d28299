//! Patterns of the table that are compiled when they are asked for the first time: there are thousands, a command
//! meets a few of them, and all of them together take tens of megabytes.

use std::sync::OnceLock;

use regex::Regex;

/// A pattern, compiled at its first question. A test compiles all of the table.
#[derive(Debug)]
pub(super) struct LateRegex {
    text: String,
    compiled: OnceLock<Option<Regex>>,
}

impl LateRegex {
    pub(super) fn new(text: String) -> Self {
        Self { text, compiled: OnceLock::new() }
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.compiled().is_some_and(|regex| regex.is_match(text))
    }

    /// None where it is no pattern.
    pub(super) fn compiled(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(&self.text).ok()).as_ref()
    }
}
