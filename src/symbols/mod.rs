//! The code engines (SPEC §4) read symbols and replace definitions, behind one trait.
//!
//! *Embedded* parses the files; *external* reads what `magellan` wrote and lets `splice` write. The engine
//! is chosen here for each call, and every answer names it.
//!
//! How far the two agree is counted on a whole crate, one of our own dependencies; each difference has its reason in
//! `tests/fixtures/agreement`, so that a change on either side shows there first. `magellan` reads one file after
//! the other and links names alone, so the embedded engine has nearly all that it has, and more.

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
use crate::workspace::scan::Answer;

pub(crate) use choose::{Chosen, SymbolSettings, Symbols, Work};
pub use error::SymbolsError;
pub(crate) use source_file::SourceFile;

/// The engine that gave an answer, for results, previews and the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Identity {
    /// `embedded`, `magellan` or `splice`.
    pub(crate) name: &'static str,
    /// Its version; `None` where it is unknown without running the program.
    pub(crate) version: Option<String>,
}

impl Identity {
    /// Name and version, for sentences.
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

/// One place that names a symbol (SPEC §4). Lines from 1, columns from 0, in bytes.
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

/// A definition that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Defined {
    pub(crate) file_path: String,
    pub(crate) line: usize,
}

/// A code engine.
pub(crate) trait CodeEngine {
    /// The name and version of the engine.
    fn identity(&self) -> Identity;

    /// Notes on its answers for a person, such as that they may be outdated.
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

    /// The places that name `symbol`, in one file or in the workspace, by file and position.
    ///
    /// # Errors
    /// As [`Self::symbols`]; and an answer that is too large.
    fn references(
        &self,
        symbol: &str,
        file: Option<&SourceFile<'_>>,
        stop: &StopSignal,
    ) -> Result<Answer, SymbolsError>;

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

    /// Every definition of `symbol` in the workspace, by file and position.
    ///
    /// # Errors
    /// As [`Self::symbols`].
    fn definitions(&self, symbol: &str, stop: &StopSignal) -> Result<Vec<SymbolRow>, SymbolsError>;

    /// Replaces the definition of `symbol` in `text`.
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
