//! The code engines (SPEC §4): who reads symbols and replaces definitions, behind one trait.
//!
//! *Embedded* reads the files themselves, *external* reads what `magellan` wrote and lets `splice`
//! write. Which one answers is decided here for each call, and every answer says who gave it.

mod choice;
mod codegraph;
mod definitions;
mod embedded;
mod error;
mod external;

use serde::Serialize;
use serde_json::{Value, json};

use crate::code::Language;
use crate::run::{Edge, EdgeType, Predicted, Preview, TargetKind};

use super::search::Answer;
use super::source_file::SourceFile;
use super::{Context, Invocation, Overlay, StopSignal, ToolError, Toolbox};

pub(super) use choice::{Chosen, Work, choose, choose_after};
pub(super) use definitions::{look_up, semantic};
pub use error::EngineError;

/// Most files, or symbols, that one list is linked to in the evidence.
const MOST_REFERENCES: usize = 1_000;

/// Who gave an answer, as results, previews and the evidence name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Identity {
    /// `embedded`, `magellan` or `splice`.
    pub(super) name: &'static str,
    /// Its version; none where it cannot be told without running it.
    pub(super) version: Option<String>,
}

impl Identity {
    /// Name and version in one, for sentences.
    pub(super) fn words(&self) -> String {
        match (self.name, &self.version) {
            ("embedded", Some(version)) => format!("the embedded engine, {version}"),
            (name, Some(version)) => format!("{name} {version}"),
            (name, None) => name.to_owned(),
        }
    }
}

/// One symbol that a file defines (SPEC §4). Lines from 1, columns from 0, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct SymbolRow {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) fqn: String,
    pub(super) file_path: String,
    pub(super) start_line: usize,
    pub(super) start_col: usize,
    pub(super) end_line: usize,
    pub(super) end_col: usize,
    pub(super) byte_start: usize,
    pub(super) byte_end: usize,
}

/// One place that names a symbol (SPEC §4). Lines from 1, columns from 0, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ReferenceRow {
    pub(super) file_path: String,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) byte_start: usize,
    pub(super) byte_end: usize,
    pub(super) symbol: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from_symbol: Option<String>,
}

/// A definition that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Defined {
    pub(super) file_path: String,
    pub(super) line: usize,
}

/// Where a definition lies in a text, and what stands there when it is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Replaced {
    /// The whole new text.
    pub(super) text: String,
    /// The definition that goes.
    pub(super) definition: crate::code::Definition,
    /// What the replacement defines, when that has another name.
    pub(super) defines_instead: Option<String>,
}

/// What is asked of a code engine.
pub(super) trait CodeEngine {
    /// Who it is.
    fn identity(&self) -> Identity;

    /// What a person should know about its answers: that they may be old, for instance.
    fn remarks(&self, file: Option<&SourceFile<'_>>) -> Vec<String>;

    /// What one file defines, in the order of the text.
    ///
    /// # Errors
    /// A file or database that it cannot read.
    fn symbols(
        &self,
        file: &SourceFile<'_>,
        stop: &StopSignal,
    ) -> Result<Vec<SymbolRow>, ToolError>;

    /// The places that name `symbol`, in one file or in the workspace, by file and position.
    ///
    /// # Errors
    /// As [`Self::symbols`]; and an answer that is too large.
    fn references(
        &self,
        symbol: &str,
        file: Option<&SourceFile<'_>>,
        stop: &StopSignal,
    ) -> Result<Answer, ToolError>;

    /// The first definition of `symbol`, in one file or anywhere in the workspace, as earlier steps would
    /// leave it.
    ///
    /// # Errors
    /// As [`Self::symbols`].
    fn defined(
        &self,
        symbol: &str,
        file: Option<&SourceFile<'_>>,
        overlay: &Overlay,
        stop: &StopSignal,
    ) -> Result<Option<Defined>, ToolError>;

    /// Every definition of `symbol` in the workspace, by file and position.
    ///
    /// # Errors
    /// As [`Self::symbols`].
    fn definitions(&self, symbol: &str, stop: &StopSignal) -> Result<Vec<SymbolRow>, ToolError>;

    /// What `text` becomes when the definition of `symbol` is replaced.
    ///
    /// # Errors
    /// A symbol that is absent or ambiguous; a result that does not parse.
    fn replaced(
        &self,
        language: Language,
        text: &str,
        asked: &Asked<'_>,
        stop: &StopSignal,
    ) -> Result<Replaced, crate::code::CodeError>;
}

/// One replacement that is asked for.
pub(super) struct Asked<'a> {
    pub(super) symbol: &'a str,
    pub(super) kind: Option<&'a str>,
    pub(super) replacement: &'a str,
}

pub(super) fn stopped(stop: &StopSignal) -> Result<(), ToolError> {
    if stop.is_set() { Err(ToolError::Cancelled) } else { Ok(()) }
}

/// What a list of symbols, or of references to `symbol`, would be of after earlier steps.
///
/// # Errors
/// A file that cannot be read, or an engine that cannot answer.
pub(super) fn preview(
    toolbox: &Toolbox,
    overlay: &Overlay,
    symbol: Option<&str>,
    path: Option<&str>,
    stop: &StopSignal,
) -> Result<Preview, ToolError> {
    let file = path.map(|path| SourceFile::read_after(toolbox, overlay, path)).transpose()?;
    let place = file.as_ref().map_or("the workspace", SourceFile::key);
    let summary = match symbol {
        Some(symbol) => format!("Lists what names {symbol} in {place}."),
        None => format!("Lists what {place} defines."),
    };
    let chosen = choose_after(toolbox, overlay, Work::Read, stop)?;
    if let Some(file) = file.as_ref().filter(|_| !chosen.is_external) {
        file.language()?;
    }
    Ok(Preview {
        predicted: Predicted::Exact,
        summary,
        changes: Vec::new(),
        notes: chosen.notes(file.as_ref()),
    })
}

/// `symbols_in_file`.
///
/// # Errors
/// As [`CodeEngine::symbols`].
pub(super) fn symbols(
    toolbox: &Toolbox,
    path: &str,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    stopped(context.stop)?;
    let file = SourceFile::read(toolbox, path)?;
    let chosen = choose(toolbox, Work::Read, context.stop)?;
    let rows = chosen.engine.symbols(&file, context.stop)?;
    let named = rows.iter().map(|row| row.fqn.as_str()).take(MOST_REFERENCES);
    let named: std::collections::BTreeSet<_> = named.collect();
    let edge = |edge_type, target_kind, target: &str| Edge {
        edge_type,
        target_kind,
        target: target.to_owned(),
    };
    let on = edge(EdgeType::ExecutedOn, TargetKind::File, file.key());
    let named =
        named.into_iter().map(|symbol| edge(EdgeType::Referenced, TargetKind::Symbol, symbol));
    Ok(Invocation {
        stdout: serde_json::to_vec(&rows).ok(),
        result: json!({
            "symbols": rows.len(),
            "engine": chosen.evidence(Some(&file)),
        }),
        edges: std::iter::once(on).chain(named).collect(),
        ..Invocation::default()
    })
}

/// `references_to_symbol_name`, and from one file. A symbol that nothing names has no references: that is
/// an answer and no failure.
///
/// # Errors
/// As [`CodeEngine::references`].
pub(super) fn references(
    toolbox: &Toolbox,
    symbol: &str,
    path: Option<&str>,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    stopped(context.stop)?;
    let file = path.map(|path| SourceFile::read(toolbox, path)).transpose()?;
    let chosen = choose(toolbox, Work::Read, context.stop)?;
    let answer = chosen.engine.references(symbol, file.as_ref(), context.stop)?;
    let edge = |edge_type, target_kind, target: &str| Edge {
        edge_type,
        target_kind,
        target: target.to_owned(),
    };
    let mut edges = vec![edge(EdgeType::Referenced, TargetKind::Symbol, symbol)];
    match &file {
        Some(file) => edges.push(edge(EdgeType::ExecutedOn, TargetKind::File, file.key())),
        None => edges.push(edge(EdgeType::ExecutedOn, TargetKind::File, ".")),
    }
    let others = answer.found.iter().filter(|found| Some(&*found.path) != file_key(&file));
    edges.extend(
        others
            .take(MOST_REFERENCES)
            .map(|found| edge(EdgeType::Referenced, TargetKind::File, &found.path)),
    );
    let mut invocation = answer.into_invocation(edges);
    if let Value::Object(fields) = &mut invocation.result {
        fields.insert("engine".to_owned(), chosen.evidence(file.as_ref()));
    }
    Ok(invocation)
}

fn file_key<'a>(file: &'a Option<SourceFile<'_>>) -> Option<&'a str> {
    file.as_ref().map(SourceFile::key)
}

/// See [`super::After::symbol_defined`].
///
/// # Errors
/// A file that cannot be read, an engine that cannot answer, or a stop.
pub(super) fn symbol_defined(
    toolbox: &Toolbox,
    overlay: &Overlay,
    symbol: &str,
    file: Option<&str>,
    stop: &StopSignal,
) -> Result<Option<String>, ToolError> {
    let file = file.map(|path| SourceFile::read_after(toolbox, overlay, path)).transpose()?;
    let chosen = choose_after(toolbox, overlay, Work::Read, stop)?;
    let found = chosen.engine.defined(symbol, file.as_ref(), overlay, stop)?;
    Ok(found.map(|found| {
        let (path, line) = (found.file_path, found.line);
        format!("{symbol} is in {path}, line {line}, says {}", chosen.engine.identity().words())
    }))
}

impl Toolbox {
    /// Whether the code graph has `file`, in words that say since when it is old, if it is; `None`
    /// when it does not have it (SPEC §5, `magellan has indexed file`).
    ///
    /// # Errors
    /// A file that cannot be looked at, no code graph (E103), or one that cannot be used.
    pub fn indexed_by_magellan(&self, file: &str) -> Result<Option<String>, ToolError> {
        external::indexed(self, file)
    }
}
