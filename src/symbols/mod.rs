//! The code engines (SPEC §4) read symbols and replace definitions, behind one trait.
//!
//! The *embedded* engine parses the files; the *external* engine reads the index of `magellan`, and its
//! replacements are written by `splice`. The engine is chosen for each call, and the result of the call names
//! it.
//!
//! A test compares the two engines on a whole crate, a dependency of this one; `tests/fixtures/agreement`
//! lists each difference with its reason, so that a change of either engine is detected there. `magellan`
//! indexes one file after the other and links references by name alone. The embedded engine finds nearly
//! everything that `magellan` finds, and more.

mod choose;
mod codegraph;
mod definitions;
mod embedded;
mod error;
mod external;
mod source_file;

use serde::Serialize;

use crate::code::{CodeError, Language, Patched, Span};
use crate::run::StopSignal;
use crate::workspace::Overlay;
use crate::workspace::scan::SearchResults;

pub(crate) use choose::{Chosen, SymbolSettings, Symbols, Work};
pub use error::SymbolsError;
pub(crate) use source_file::SourceFile;

/// The engine that gave an answer, for results, previews and the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Identity {
    /// `embedded`, `magellan` or `splice`.
    pub(crate) name: &'static str,
    /// The version of the engine; `None` if it is unknown until the program runs.
    pub(crate) version: Option<String>,
}

impl Identity {
    /// The name and version as a phrase.
    pub(crate) fn words(&self) -> String {
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

/// The place of a definition that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Defined {
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
    /// A file or database that cannot be read.
    fn symbols(
        &self,
        file: &SourceFile<'_>,
        stop: &StopSignal,
    ) -> Result<Vec<SymbolRow>, SymbolsError>;

    /// The references to `symbol` in one file or in the whole workspace, sorted by file and position.
    ///
    /// # Errors
    /// As [`Self::symbols`]; and an answer that is too large.
    fn references(
        &self,
        symbol: &str,
        file: Option<&SourceFile<'_>>,
        stop: &StopSignal,
    ) -> Result<SearchResults, SymbolsError>;

    /// The first definition of `symbol`, in one file or in the whole workspace, after the earlier steps.
    ///
    /// # Errors
    /// As [`Self::symbols`].
    fn defined(
        &self,
        symbol: &str,
        file: Option<&SourceFile<'_>>,
        overlay: &Overlay,
        stop: &StopSignal,
    ) -> Result<Option<Defined>, SymbolsError>;

    /// Every definition of `symbol` in the workspace, sorted by file and position.
    ///
    /// # Errors
    /// As [`Self::symbols`].
    fn definitions(&self, symbol: &str, stop: &StopSignal) -> Result<Vec<SymbolRow>, SymbolsError>;

    /// Computes `text` with the definition of the requested symbol replaced.
    ///
    /// # Errors
    /// A symbol that is absent or ambiguous; a result that does not parse.
    fn replaced(
        &self,
        language: Language,
        text: &str,
        asked: &PatchRequest<'_>,
        stop: &StopSignal,
    ) -> Result<Patched, CodeError>;
}

/// One requested replacement.
pub(crate) struct PatchRequest<'a> {
    pub(crate) symbol: &'a str,
    pub(crate) kind: Option<&'a str>,
    pub(crate) replacement: &'a str,
}
