//! The embedded code engine (SPEC §4): definitions, references, syntax colours, and the replacement of one
//! definition.
//!
//! Pure: text in, data out. Files, permissions and cargo checks are handled by the callers.
//!
//! A grammar may lag behind its language, so existing syntax errors may stay; a replacement that adds one is
//! refused.

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
pub use reference::Reference;
pub use source::{MAX_SOURCE_BYTES, Source};
pub use span::Span;
pub use symbol::{Definition, SymbolKind, last_name, segments};
pub use syntax::{Class, MAX_COLOURED_BYTES, highlight};

/// The parser with its version, for the evidence.
pub const GRAMMARS: &str = "tree-sitter 0.27";
