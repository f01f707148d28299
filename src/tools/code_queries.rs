//! `symbols_in_file`, `references_to_symbol_name` and `references_from_file_to_symbol_name` (SPEC §4):
//! queries to the code engine.

use std::collections::BTreeSet;

use serde_json::json;

use super::search::search_result;
use super::tool::{PreviewWithEffects, Tool, file_edge, read_only, set_field};
use super::{CallResult, Context, ProjectedToolbox, ToolError, Toolbox};
use crate::run::{Edge, EdgeType, TargetKind};
use crate::symbols::{SourceFile, Work};
use crate::workspace::check_cancelled;

/// Maximum number of files, or of symbols, to which one result has edges.
const MAX_REFERENCES: usize = 1_000;

/// `symbols_in_file`: the symbols that one file defines.
pub(super) struct SymbolsInFile<'a> {
    pub(super) path: &'a str,
}

impl Tool for SymbolsInFile<'_> {
    fn preview(&self, projected: ProjectedToolbox<'_>) -> Result<PreviewWithEffects, ToolError> {
        preview(projected, None, Some(self.path))
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<CallResult, ToolError> {
        check_cancelled(context.stop)?;
        let file = SourceFile::read(*toolbox.now(), self.path)?;
        let chosen = toolbox.now().symbols().choose(Work::Read, context.stop)?;
        let rows = chosen.engine.symbols(&file, context.stop)?;
        let symbols = rows.iter().map(|row| row.fqn.as_str()).take(MAX_REFERENCES);
        let symbols: BTreeSet<_> = symbols.collect();
        let executed_on = file_edge(EdgeType::ExecutedOn, file.key());
        let symbols = symbols
            .into_iter()
            .map(|symbol| Edge::new(EdgeType::Referenced, TargetKind::Symbol, symbol));
        Ok(CallResult {
            stdout: serde_json::to_vec(&rows).ok(),
            result: json!({
                "symbols": rows.len(),
                "engine": chosen.evidence(Some(&file)),
            }),
            edges: std::iter::once(executed_on).chain(symbols).collect(),
            ..CallResult::default()
        })
    }
}

/// The references to a symbol, in one file or in the workspace. For a symbol without references the list is
/// empty.
pub(super) struct References<'a> {
    pub(super) symbol: &'a str,
    pub(super) path: Option<&'a str>,
}

impl Tool for References<'_> {
    fn preview(&self, projected: ProjectedToolbox<'_>) -> Result<PreviewWithEffects, ToolError> {
        preview(projected, Some(self.symbol), self.path)
    }

    fn symbol(&self) -> Option<(EdgeType, &str)> {
        Some((EdgeType::Referenced, self.symbol))
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<CallResult, ToolError> {
        check_cancelled(context.stop)?;
        let now = toolbox.now();
        let file = self.path.map(|path| SourceFile::read(*now, path)).transpose()?;
        let file = file.as_ref();
        let chosen = now.symbols().choose(Work::Read, context.stop)?;
        let answer = chosen.engine.references(self.symbol, file, context.stop)?;
        let key = file.map(SourceFile::key);
        let mut edges = vec![
            Edge::new(EdgeType::Referenced, TargetKind::Symbol, self.symbol),
            file_edge(EdgeType::ExecutedOn, key.unwrap_or(".")),
        ];
        let others = answer.found.iter().filter(|found| Some(&*found.path) != key);
        let others = others.take(MAX_REFERENCES);
        edges.extend(others.map(|found| file_edge(EdgeType::Referenced, found.path.as_str())));
        let mut call_result = search_result(answer, edges);
        set_field(&mut call_result.result, "engine", chosen.evidence(file));
        Ok(call_result)
    }
}

fn preview(
    projected: ProjectedToolbox<'_>,
    symbol: Option<&str>,
    path: Option<&str>,
) -> Result<PreviewWithEffects, ToolError> {
    let file = path.map(|path| SourceFile::read(*projected, path)).transpose()?;
    let scope = file.as_ref().map_or("the workspace", SourceFile::key);
    let summary = match symbol {
        Some(symbol) => format!("Lists what names {symbol} in {scope}."),
        None => format!("Lists what {scope} defines."),
    };
    let chosen = projected.symbols().choose(Work::Read, projected.stop)?;
    if let Some(file) = file.as_ref().filter(|_| !chosen.is_external) {
        file.language()?;
    }
    Ok(read_only(summary, chosen.notes(file.as_ref())))
}

impl ProjectedToolbox<'_> {
    /// Finds the first definition of `symbol` in `file`, or in the workspace if `file` is `None`, and describes
    /// its position in a sentence. `None` if there is no definition (SPEC §5, `symbol exists`).
    ///
    /// # Errors
    /// A file or a code graph that cannot be used, a failure of the engine, or a stop.
    pub fn describe_definition(
        self,
        symbol: &str,
        file: Option<&str>,
    ) -> Result<Option<String>, ToolError> {
        let file = file.map(|path| SourceFile::read(*self, path)).transpose()?;
        let chosen = self.symbols().choose(Work::Read, self.stop)?;
        let (engine, file) = (&chosen.engine, file.as_ref());
        let found = engine.first_definition(symbol, file, self.overlay, self.stop)?;
        Ok(found.map(|found| {
            let (path, line) = (found.file_path, found.line);
            format!(
                "{symbol} is in {path}, line {line}, says {}",
                chosen.engine.identity().phrase()
            )
        }))
    }
}

impl Toolbox {
    /// States in a sentence that the code graph has `file` and, if so, that the file has changed or disappeared
    /// since it was indexed. `None` if the graph does not have it (SPEC §5, `magellan has indexed file`).
    ///
    /// # Errors
    /// A path that cannot be used, no code graph (E103), or one that cannot be used.
    pub fn describe_indexed_file(&self, file: &str) -> Result<Option<String>, ToolError> {
        Ok(self.now().symbols().indexed(file)?)
    }
}
