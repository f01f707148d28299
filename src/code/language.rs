//! Supported languages: grammars, file extensions and queries.

use std::path::Path;
use std::sync::OnceLock;

use tree_sitter::Query;

use crate::grammars;

/// A language with a built-in grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variant names are descriptive")]
pub enum Language {
    Rust,
    Python,
    JavaScript,
    TypeScript,
    Tsx,
    Go,
    C,
    Cpp,
    Java,
}

/// The properties of a language.
struct Spec {
    name: &'static str,
    extensions: &'static [&'static str],
    grammar: fn() -> tree_sitter::Language,
    /// The query for definitions, from assets/queries.
    definitions: &'static str,
    /// The highlight queries of the grammar's authors.
    highlights: &'static [&'static str],
    /// Separates the parts of a full name.
    separator: &'static str,
    /// Node kinds of names.
    identifiers: &'static [&'static str],
    /// Node kinds that wrap a definition. They are replaced if the replacement has the same wrapper.
    wrappers: &'static [&'static str],
    /// Node kinds of attributes, before or inside a definition. They are kept unless the replacement has its own.
    attributes: &'static [&'static str],
}

const COMMON_IDENTIFIERS: &[&str] = &["identifier", "type_identifier", "field_identifier"];
/// TypeScript, whose node kinds JavaScript and TSX share.
const TYPESCRIPT: Spec = Spec {
    name: "TypeScript",
    extensions: &["ts", "mts", "cts"],
    grammar: grammars::typescript,
    definitions: include_str!("../../assets/queries/typescript.scm"),
    highlights: &[
        tree_sitter_javascript::HIGHLIGHT_QUERY,
        tree_sitter_typescript::HIGHLIGHTS_QUERY,
    ],
    separator: ".",
    identifiers: &[
        "identifier",
        "type_identifier",
        "property_identifier",
        "private_property_identifier",
        "shorthand_property_identifier",
        "shorthand_property_identifier_pattern",
    ],
    wrappers: &["export_statement"],
    attributes: &["decorator"],
};

impl Language {
    fn spec(self) -> &'static Spec {
        match self {
            Self::Rust => &Spec {
                name: "Rust",
                extensions: &["rs"],
                grammar: grammars::rust,
                definitions: include_str!("../../assets/queries/rust.scm"),
                highlights: &[tree_sitter_rust::HIGHLIGHTS_QUERY],
                separator: "::",
                identifiers: &[
                    "identifier",
                    "type_identifier",
                    "field_identifier",
                    "shorthand_field_identifier",
                ],
                wrappers: &[],
                attributes: &["attribute_item"],
            },
            Self::Python => &Spec {
                name: "Python",
                extensions: &["py", "pyi"],
                grammar: grammars::python,
                definitions: include_str!("../../assets/queries/python.scm"),
                highlights: &[tree_sitter_python::HIGHLIGHTS_QUERY],
                separator: ".",
                identifiers: &["identifier"],
                wrappers: &["decorated_definition"],
                attributes: &["decorator"],
            },
            Self::JavaScript => &Spec {
                name: "JavaScript",
                extensions: &["js", "mjs", "cjs", "jsx"],
                grammar: grammars::javascript,
                definitions: include_str!("../../assets/queries/javascript.scm"),
                highlights: &[tree_sitter_javascript::HIGHLIGHT_QUERY],
                ..TYPESCRIPT
            },
            Self::TypeScript => &TYPESCRIPT,
            Self::Tsx => &Spec {
                name: "TypeScript with JSX",
                extensions: &["tsx"],
                grammar: grammars::tsx,
                ..TYPESCRIPT
            },
            Self::Go => &Spec {
                name: "Go",
                extensions: &["go"],
                grammar: grammars::go,
                definitions: include_str!("../../assets/queries/go.scm"),
                highlights: &[tree_sitter_go::HIGHLIGHTS_QUERY],
                separator: ".",
                identifiers: COMMON_IDENTIFIERS,
                wrappers: &[],
                attributes: &[],
            },
            Self::C => &Spec {
                name: "C",
                extensions: &["c", "h"],
                grammar: grammars::c,
                definitions: include_str!("../../assets/queries/c.scm"),
                highlights: &[tree_sitter_c::HIGHLIGHT_QUERY],
                separator: "::",
                identifiers: COMMON_IDENTIFIERS,
                wrappers: &[],
                attributes: &["attribute_declaration"],
            },
            Self::Cpp => &Spec {
                name: "C++",
                extensions: &["cpp", "cc", "cxx", "hpp", "hh", "hxx", "ipp"],
                grammar: grammars::cpp,
                definitions: include_str!("../../assets/queries/cpp.scm"),
                highlights: &[tree_sitter_c::HIGHLIGHT_QUERY, tree_sitter_cpp::HIGHLIGHT_QUERY],
                separator: "::",
                identifiers: &[
                    "identifier",
                    "type_identifier",
                    "field_identifier",
                    "namespace_identifier",
                ],
                wrappers: &["template_declaration"],
                attributes: &["attribute_declaration"],
            },
            Self::Java => &Spec {
                name: "Java",
                extensions: &["java"],
                grammar: grammars::java,
                definitions: include_str!("../../assets/queries/java.scm"),
                highlights: &[tree_sitter_java::HIGHLIGHTS_QUERY],
                separator: ".",
                identifiers: &["identifier", "type_identifier"],
                wrappers: &[],
                attributes: &["marker_annotation", "annotation"],
            },
        }
    }

    /// All languages.
    pub const ALL: [Self; 9] = [
        Self::Rust,
        Self::Python,
        Self::JavaScript,
        Self::TypeScript,
        Self::Tsx,
        Self::Go,
        Self::C,
        Self::Cpp,
        Self::Java,
    ];

    /// The language of a file, by its extension. `None` for other files.
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::ALL.into_iter().find(|it| it.spec().extensions.contains(&&*extension))
    }

    /// The display name.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    pub(super) fn grammar(self) -> tree_sitter::Language {
        (self.spec().grammar)()
    }

    /// Whether a type in parentheses may be a cast.
    pub(super) fn has_casts(self) -> bool {
        matches!(self, Self::C | Self::Cpp | Self::Java)
    }

    pub(super) fn separator(self) -> &'static str {
        self.spec().separator
    }

    pub(super) fn is_identifier(self, kind: &str) -> bool {
        self.spec().identifiers.contains(&kind)
    }

    pub(super) fn is_wrapper(self, kind: &str) -> bool {
        self.spec().wrappers.contains(&kind)
    }

    pub(super) fn is_attribute(self, kind: &str) -> bool {
        self.spec().attributes.contains(&kind)
    }

    pub(super) fn highlights(self) -> String {
        self.spec().highlights.concat()
    }

    /// The compiled query for definitions. `None` only if the built-in query were faulty, which
    /// `every_query_compiles` rules out.
    pub(super) fn query(self) -> Option<&'static Query> {
        static QUERIES: [OnceLock<Option<Query>>; Language::ALL.len()] =
            [const { OnceLock::new() }; Language::ALL.len()];
        let compile = || {
            super::meter::count_memory();
            Query::new(&self.grammar(), self.spec().definitions).ok()
        };
        QUERIES.get(self as usize)?.get_or_init(compile).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_found_by_their_extensions() {
        for (index, language) in Language::ALL.into_iter().enumerate() {
            assert_eq!(language as usize, index, "each language is listed once");
            for extension in language.spec().extensions {
                let path = format!("a/b.{}", extension.to_uppercase());
                assert_eq!(Language::of_path(Path::new(&path)), Some(language));
            }
        }
        assert_eq!(Language::of_path(Path::new("Makefile")), None);
    }

    #[test]
    fn every_query_compiles() {
        for language in Language::ALL {
            if let Err(error) = Query::new(&language.grammar(), language.spec().definitions) {
                panic!("{}: {error}", language.name());
            }
        }
    }
}
