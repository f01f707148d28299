//! The names that inline code may use, by language, as listed in `rules.toml`.

use serde::Deserialize;

use crate::risk::shell::listed::listed;

/// A language whose inline code is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::risk::shell) enum Language {
    Python,
    JavaScript,
    Lua,
    Ruby,
    Php,
    Perl,
    R,
    Julia,
}

/// The names that code of one language may use.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::risk::shell) struct Inline {
    pub(super) language: Language,
    pub(super) programs: Vec<String>,
    pub(super) names: String,
    pub(super) attributes: String,
    pub(super) modules: String,
    /// Modules that belong to the language.
    pub(super) standard: String,
    pub(super) reads: String,
}

impl Inline {
    pub(super) fn allows_name(&self, own: &str) -> bool {
        listed(&self.names, own) || listed(&self.reads, own)
    }

    pub(super) fn allows_attribute(&self, own: &str) -> bool {
        listed(&self.attributes, own) || listed(&self.reads, own)
    }
}
