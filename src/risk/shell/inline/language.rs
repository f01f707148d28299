//! The languages of inline code: the names that each may use, as listed in `rules.toml`, and its refused syntax.

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
pub(in crate::risk::shell) struct InlineRules {
    pub(super) language: Language,
    pub(super) programs: Vec<String>,
    /// Names of functions, classes and keywords.
    pub(super) names: String,
    pub(super) attributes: String,
    /// Modules that may be imported.
    pub(super) modules: String,
    /// Modules that belong to the language.
    pub(super) standard: String,
    /// Functions that read the file which their first argument names.
    pub(super) reads: String,
}

impl InlineRules {
    pub(super) fn allows_name(&self, ident: &str) -> bool {
        listed(&self.names, ident) || listed(&self.reads, ident)
    }

    pub(super) fn allows_attribute(&self, ident: &str) -> bool {
        listed(&self.attributes, ident) || listed(&self.reads, ident)
    }
}

/// Symbols that start comments, here-documents, other quotes, or names in a namespace.
pub(super) const fn refused_symbols(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python => &[],
        Language::Lua => &["--", "[[", "[="],
        Language::R => &["%"],
        Language::Julia => &["@"],
        Language::JavaScript => &["/*", "<!--", "-->"],
        Language::Ruby => &["<<", "::"],
        Language::Php => &["//", "/*", "<<", "?>", "->", "::", "{$"],
        Language::Perl => &["<", "->", "::", "*{", "&"],
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
