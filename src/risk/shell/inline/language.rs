//! What code of one language may name, as the table says.

use serde::Deserialize;

/// What code of one language may name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::risk::shell) struct Inline {
    pub(super) language: String,
    pub(super) programs: Vec<String>,
    pub(super) names: String,
    pub(super) attributes: String,
    pub(super) modules: String,
    /// Modules that the language brings along.
    pub(super) standard: String,
    pub(super) reads: String,
}
