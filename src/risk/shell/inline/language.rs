//! The names that inline code may use, by language, as listed in `rules.toml`.

use serde::Deserialize;

/// The names that code of one language may use.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::risk::shell) struct Inline {
    pub(super) language: String,
    pub(super) programs: Vec<String>,
    pub(super) names: String,
    pub(super) attributes: String,
    pub(super) modules: String,
    /// Modules that belong to the language.
    pub(super) standard: String,
    pub(super) reads: String,
}
