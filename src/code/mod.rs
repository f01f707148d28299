//! What a source text says: its definitions, the places that name them, and what the text becomes
//! when one definition is replaced (SPEC §4, the embedded code engine).
//!
//! Pure: text in, data out. Which file a text came from, whether it may be changed, and what cargo
//! thinks of it are decided elsewhere.

mod bounds;
mod definition;
mod error;
mod language;
mod meter;
mod patch;
mod recent;
mod reference;
mod source;
mod span;
mod symbol;
mod syntax;
#[cfg(test)]
mod tests;

pub use error::CodeError;
pub use language::Language;
pub use meter::count_memory;
pub use patch::{Patched, patch, replace};
pub use reference::{Reference, ReferenceKind};
pub use source::{MAX_SOURCE_BYTES, Source};
pub use span::Span;
pub use symbol::{Definition, SymbolKind, last_name, segments};
pub use syntax::{Class, MAX_COLOURED_BYTES, highlight};

/// What reads the texts, with its version, for the evidence.
pub const GRAMMARS: &str = "tree-sitter 0.27";
