//! The embedded code engine (SPEC §4): definitions, references, syntax colours, and the replacement of one
//! definition.
//!
//! Used by `symbols`, `tools`, `workspace`, `ui` and `cli`. Functions take texts and return data; callers handle
//! files, permissions and cargo checks. Global state: a cache of parse results (`recent.rs`) and the parser's allocator
//! (`meter.rs`).
//!
//! A grammar may lag behind its language, so a text with syntax errors is accepted. A replacement is refused if it
//! adds a syntax error, or if there is one near the replaced definition.

mod bounds;
mod call;
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

pub use bounds::PARSER_STEPS;
pub use error::{CodeError, ParsedText};
pub use language::Language;
pub use meter::count_memory;
pub use patch::{Patched, patch, replace};
pub use reference::Reference;
pub use source::{MAX_SOURCE_BYTES, Source};
pub use span::Span;
pub use symbol::{Definition, SymbolKind, last_name, segments};
pub use syntax::{Class, MAX_COLOURED_BYTES, highlight};

/// The name and version of the parser, for the evidence.
pub const PARSER_VERSION: &str = "tree-sitter 0.27";
