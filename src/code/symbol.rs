//! What a definition is: its kind, its names and its place.

use serde::Serialize;

use super::span::Span;

/// What a definition defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the kinds by their names")]
pub enum SymbolKind {
    Function,
    Method,
    Constructor,
    Struct,
    Class,
    Union,
    Enum,
    Variant,
    Trait,
    Interface,
    Impl,
    Module,
    Constant,
    Static,
    Variable,
    Type,
    Macro,
    Field,
}

/// Each kind, its name, and the other words that plans use for it.
pub(super) const KINDS: [(SymbolKind, &str, &[&str]); 18] = [
    (SymbolKind::Function, "function", &["fn", "func", "def"]),
    (SymbolKind::Method, "method", &[]),
    (SymbolKind::Constructor, "constructor", &[]),
    (SymbolKind::Struct, "struct", &["record"]),
    (SymbolKind::Class, "class", &[]),
    (SymbolKind::Union, "union", &[]),
    (SymbolKind::Enum, "enum", &[]),
    (SymbolKind::Variant, "variant", &["enum_variant"]),
    (SymbolKind::Trait, "trait", &[]),
    (SymbolKind::Interface, "interface", &[]),
    (SymbolKind::Impl, "impl", &["implementation"]),
    (SymbolKind::Module, "module", &["mod", "namespace", "package"]),
    (SymbolKind::Constant, "constant", &["const"]),
    (SymbolKind::Static, "static", &[]),
    (SymbolKind::Variable, "variable", &["var", "let"]),
    (SymbolKind::Type, "type", &["type_alias", "typedef", "alias"]),
    (SymbolKind::Macro, "macro", &[]),
    (SymbolKind::Field, "field", &["property"]),
];

impl SymbolKind {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        KINDS.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, _)| name)
    }

    /// Whether a definition of this kind is what a plan means by `wanted`: to most people a method is
    /// a function, and a class with another word for it is still one.
    pub(super) fn is_meant_by(self, wanted: Self) -> bool {
        let family = |kind| match kind {
            Self::Method | Self::Constructor => Self::Function,
            Self::Struct => Self::Class,
            Self::Interface => Self::Trait,
            other => other,
        };
        match wanted {
            Self::Function | Self::Class | Self::Struct | Self::Trait | Self::Interface => {
                family(self) == family(wanted)
            }
            exact => self == exact,
        }
    }

    /// Whether what lies inside is named after it.
    pub(super) fn holds_names(self) -> bool {
        !matches!(self, Self::Field | Self::Variable | Self::Constant | Self::Static | Self::Macro)
    }

    /// Parts of something else: a plain name means them only when it means nothing else.
    pub(super) fn is_minor(self) -> bool {
        matches!(self, Self::Field | Self::Variant | Self::Impl)
    }
}

/// One definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// Its full name inside the text, with the names of what lies around it.
    pub fqn: String,
    /// The whole item, without comments and attributes before it.
    pub span: Span,
    /// The names of what lies around it, and its own, each with [`BEHIND`]: what a plan's symbol is compared with.
    #[serde(skip)]
    pub(super) path: String,
    /// Only says that it exists; the body is elsewhere.
    #[serde(skip)]
    pub(super) is_signature: bool,
    /// Where its name stands, in bytes.
    #[serde(skip)]
    pub(super) name_start: usize,
}

/// Stands behind each name of a path; no name has it.
pub(super) const BEHIND: char = '\0';

impl Definition {
    pub(super) fn is_named(&self, symbol: &str, parts: &[&str]) -> bool {
        self.fqn == symbol || (!parts.is_empty() && ends_with(&self.path, parts))
    }
}

fn ends_with(path: &str, parts: &[&str]) -> bool {
    let rest = parts.iter().rev().try_fold(path, |rest, part| {
        rest.strip_suffix(BEHIND).and_then(|rest| rest.strip_suffix(part))
    });
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(BEHIND))
}

/// Whether a function inside is a method.
pub(super) fn owns_methods(kind: SymbolKind) -> bool {
    matches!(
        kind,
        SymbolKind::Impl
            | SymbolKind::Trait
            | SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Interface
            | SymbolKind::Enum
            | SymbolKind::Union
    )
}

/// The name itself, without the names of what lies around it.
pub fn last_name(symbol: &str) -> &str {
    segments(symbol).last().copied().unwrap_or_default()
}

/// The parts of a full name, without type parameters: `a::B<T>::c` and `a.B.c` are `a`, `B`, `c`.
pub fn segments(symbol: &str) -> Vec<&str> {
    symbol
        .split("::")
        .flat_map(|part| part.split('.'))
        .map(|part| part.split('<').next().unwrap_or(part).trim())
        .filter(|part| !part.is_empty())
        .collect()
}
