//! The languages of inline code, and what `rules.toml` lists for each.

use serde::Deserialize;

use crate::risk::shell::lazy_regex::LazyRegex;
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

/// What code of one language may contain.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::risk::shell) struct InlineRules {
    pub(super) language: Language,
    pub(super) programs: Vec<String>,
    /// Matches options that only affect how code is read and how input is split.
    pub(in crate::risk::shell) options: LazyRegex,
    /// Names of functions, classes and keywords.
    pub(super) names: String,
    pub(super) attributes: String,
    /// Modules that may be imported.
    pub(super) modules: String,
    /// Modules that belong to the language.
    pub(super) standard: String,
    /// Functions that read the file which their first argument names.
    pub(super) reads: String,
    /// Functions, classes and modules with effects beyond their values.
    pub(super) effects: String,
    /// Names that must keep their meaning.
    pub(super) reserved: String,
    /// Modules that may not be used as a value.
    pub(super) objects: String,
    /// Symbols that start comments, here-documents, other quotes, or names in a namespace.
    pub(super) refused: Vec<String>,
}

impl InlineRules {
    pub(super) fn allows_name(&self, ident: &str) -> bool {
        listed(&self.names, ident) || listed(&self.reads, ident)
    }

    pub(super) fn allows_attribute(&self, ident: &str) -> bool {
        listed(&self.attributes, ident) || listed(&self.reads, ident)
    }
}

/// Whether a line starts or ends a block that the language skips.
pub(super) fn skips_lines(line: &str, language: Language) -> bool {
    match language {
        Language::Perl | Language::Ruby => {
            let directive = line.strip_prefix('=');
            directive.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_alphabetic()))
                || language == Language::Ruby && line.starts_with("__END__")
        }
        _ => false,
    }
}
