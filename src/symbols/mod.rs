//! The code engines (SPEC §4) read symbols and replace definitions, behind one trait.
//!
//! The *embedded* engine parses the files; the *external* engine reads the index of `magellan`, and its
//! replacements are written by `splice`. The engine is chosen for each call, and the result of the call names
//! it.
//!
//! A test compares the two engines on a dependency of this crate. `tests/fixtures/agreement` lists each
//! difference with its reason, so that the test detects a change of either engine. `magellan` indexes one file
//! after the other and links references by name alone. The embedded engine finds nearly everything that
//! `magellan` finds, and more.

mod choose;
mod codegraph;
mod definitions;
mod embedded;
mod error;
mod external;
mod source_file;
mod summary;

use serde::Serialize;
use serde_json::Value;

use crate::code::{CodeError, Language, Patched, Span};
use crate::run::StopSignal;
use crate::workspace::Overlay;
use crate::workspace::scan::SearchResults;

pub(crate) use choose::{ChosenEngine, SymbolSettings, Symbols, Work};
pub use error::SymbolsError;
pub(crate) use source_file::SourceFile;

/// The name and version of an engine, for results, previews and the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Identity {
    /// `embedded`, `magellan` or `splice`.
    pub(crate) name: &'static str,
    /// The version of the engine; `None` if it is unknown until the program runs.
    pub(crate) version: Option<String>,
}

impl Identity {
    /// The name and version as a phrase.
    pub(crate) fn phrase(&self) -> String {
        match (self.name, &self.version) {
            ("embedded", Some(version)) => format!("the embedded engine, {version}"),
            (name, Some(version)) => format!("{name} {version}"),
            (name, None) => name.to_owned(),
        }
    }
}

/// One symbol that a file defines (SPEC §4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SymbolRow {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) fqn: String,
    pub(crate) file_path: String,
    #[serde(flatten)]
    pub(crate) span: Span,
}

/// One reference to a symbol (SPEC §4). Lines are counted from 1, columns from 0 in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ReferenceRow {
    pub(crate) file_path: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) byte_start: usize,
    pub(crate) byte_end: usize,
    pub(crate) symbol: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from_symbol: Option<String>,
}

impl ReferenceRow {
    fn new(file_path: String, span: Span, symbol: String, from_symbol: Option<String>) -> Self {
        Self {
            file_path,
            line: span.start_line,
            column: span.start_col,
            byte_start: span.byte_start,
            byte_end: span.byte_end,
            symbol,
            from_symbol,
        }
    }
}

/// The file and line of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundDefinition {
    pub(crate) file_path: String,
    pub(crate) line: usize,
}

/// The operations of a code engine.
pub(crate) trait CodeEngine {
    /// The name and version of the engine.
    fn identity(&self) -> Identity;

    /// Notes for a person on the answers of the engine, such as that they may be outdated.
    fn remarks(&self, _: Option<&SourceFile<'_>>) -> Vec<String> {
        Vec::new()
    }

    /// The symbols that one file defines, in the order of the text.
    ///
    /// # Errors
    /// The file has no grammar, is not in the database, or cannot be read; a limit is reached; or the call is stopped.
    fn symbols(
        &self,
        file: &SourceFile<'_>,
        stop: &StopSignal,
    ) -> Result<Vec<SymbolRow>, SymbolsError>;

    /// The references to `symbol` in one file or in the whole workspace, sorted by file and position.
    ///
    /// # Errors
    /// As [`Self::symbols`], or the answer is too large.
    fn references(
        &self,
        symbol: &str,
        file: Option<&SourceFile<'_>>,
        stop: &StopSignal,
    ) -> Result<SearchResults, SymbolsError>;

    /// The first definition of `symbol` in one file or in the whole workspace, as the earlier steps leave it. The
    /// embedded engine searches files that earlier steps change before all others; the external engine does not see
    /// these changes.
    ///
    /// # Errors
    /// As [`Self::symbols`].
    fn first_definition(
        &self,
        symbol: &str,
        file: Option<&SourceFile<'_>>,
        overlay: &Overlay,
        stop: &StopSignal,
    ) -> Result<Option<FoundDefinition>, SymbolsError>;

    /// Every definition of `symbol` in the workspace, in any order.
    ///
    /// # Errors
    /// As [`Self::symbols`].
    fn definitions(&self, symbol: &str, stop: &StopSignal) -> Result<Vec<SymbolRow>, SymbolsError>;

    /// What the whole workspace defines and calls: counts, and at most `limit` of each kind of row, the most used first.
    ///
    /// # Errors
    /// As [`Self::references`].
    fn summary(&self, limit: usize, stop: &StopSignal) -> Result<Value, SymbolsError>;

    /// Replaces the definition of the requested symbol in `text`.
    ///
    /// # Errors
    /// The symbol is missing or ambiguous, the kind is unknown, the replacement has no code, the result has a new
    /// syntax error, a limit is reached, or the call is stopped.
    fn replace(
        &self,
        language: Language,
        text: &str,
        request: &PatchRequest<'_>,
        stop: &StopSignal,
    ) -> Result<Patched, CodeError>;
}

/// One requested replacement.
pub(crate) struct PatchRequest<'a> {
    pub(crate) symbol: &'a str,
    pub(crate) kind: Option<&'a str>,
    pub(crate) replacement: &'a str,
}
