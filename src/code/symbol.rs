//! The description of a definition: kind, names and position.

use serde::Serialize;

use super::Span;

/// The kind of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the variant names are descriptive")]
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

/// Each kind with its name and the synonyms that plans may use.
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
    /// The name of the kind.
    pub fn as_str(self) -> &'static str {
        KINDS.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, _)| name)
    }

    /// Whether a request for the kind `wanted` may mean this kind. Functions include methods, and similar kinds of
    /// types match each other.
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

    /// Whether inner definitions are qualified by its name.
    pub(super) fn qualifies_names(self) -> bool {
        !matches!(self, Self::Field | Self::Variable | Self::Constant | Self::Static | Self::Macro)
    }

    /// Whether a symbol that is requested without a kind means this kind only if no other kind matches.
    pub(super) fn is_minor(self) -> bool {
        matches!(self, Self::Field | Self::Variant | Self::Impl)
    }
}

/// One definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Definition {
    /// The unqualified name.
    pub name: String,
    /// The kind.
    pub kind: SymbolKind,
    /// The qualified name inside the text.
    pub fqn: String,
    /// The item, without preceding comments and attributes.
    pub span: Span,
    /// The parts of the qualified name, each followed by [`PART_END`], for comparison with a plan's symbol.
    #[serde(skip)]
    pub(super) path: String,
    /// Whether this is only a declaration without a body.
    #[serde(skip)]
    pub(super) is_signature: bool,
    /// The position of the name, in bytes.
    #[serde(skip)]
    pub(super) name_start: usize,
}

/// Terminates each part of a path. It cannot occur in names.
pub(super) const PART_END: char = '\0';

impl Definition {
    /// Whether `symbol`, whose segments are `parts`, is the full name of this definition, or `parts` are the last
    /// segments of it.
    pub(super) fn is_named(&self, symbol: &str, parts: &[&str]) -> bool {
        self.fqn == symbol || (!parts.is_empty() && ends_with(&self.path, parts))
    }
}

fn ends_with(path: &str, parts: &[&str]) -> bool {
    let rest = parts.iter().rev().try_fold(path, |rest, part| {
        rest.strip_suffix(PART_END).and_then(|rest| rest.strip_suffix(part))
    });
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(PART_END))
}

/// Whether functions inside this kind are methods.
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

/// The last part of a qualified name.
pub fn last_name(symbol: &str) -> &str {
    segments(symbol).last().copied().unwrap_or_default()
}

/// The parts of a qualified name, without type parameters: `a::B<T>::c` and `a.B.c` are `a`, `B`, `c`.
pub fn segments(symbol: &str) -> Vec<&str> {
    symbol
        .split("::")
        .flat_map(|part| part.split('.'))
        .map(|part| part.split('<').next().unwrap_or(part).trim())
        .filter(|part| !part.is_empty())
        .collect()
}
