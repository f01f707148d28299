//! Looks up a symbol in the whole workspace, and summarizes a code graph (SPEC §9, `inspect`).

use serde_json::{Value, json};

use super::{Symbols, SymbolsError, Work};
use crate::run::StopSignal;
use crate::workspace::{Last, check_cancelled};

impl Symbols<'_> {
    /// The definitions of `symbol` and the references to it, at most `limit` of each.
    ///
    /// # Errors
    /// No engine can be chosen, or a query of it fails.
    pub(crate) fn look_up(
        self,
        symbol: &str,
        limit: usize,
        stop: &StopSignal,
    ) -> Result<Value, SymbolsError> {
        let chosen = self.choose(Work::Read, stop)?;
        let mut definitions = chosen.engine.definitions(symbol, stop)?;
        definitions.sort_by(|a, b| {
            (&a.file_path, a.span.byte_start).cmp(&(&b.file_path, b.span.byte_start))
        });
        let references = chosen.engine.references(symbol, None, stop)?.json();
        let references: Vec<Value> = serde_json::from_slice(&references).unwrap_or_default();
        let left_out = |count: usize| count.saturating_sub(limit);
        Ok(json!({
            "symbol": symbol,
            "engine": chosen.evidence(None),
            "left_out": {
                "definitions": left_out(definitions.len()),
                "references": left_out(references.len()),
            },
            "definitions": definitions.into_iter().take(limit).collect::<Vec<_>>(),
            "references": references.into_iter().take(limit).collect::<Vec<_>>(),
        }))
    }

    /// A summary of the code graph: its counts, and at most `limit` symbols, the most referenced first.
    ///
    /// # Errors
    /// No code graph (E103), or one that cannot be used.
    pub(crate) fn codegraph_summary(
        self,
        limit: usize,
        stop: &StopSignal,
    ) -> Result<Value, SymbolsError> {
        check_cancelled(stop)?;
        let graph = self.open_codegraph()?;
        let (entities, edges) = graph.counts(stop)?;
        let mut symbols = Vec::new();
        let mut in_workspace = 0_usize;
        for (symbol, references) in graph.symbols_by_references(stop)? {
            check_cancelled(stop)?;
            // Symbols in files outside the workspace are skipped, because they must not be reported.
            let file = symbol
                .file
                .to_str()
                .and_then(|it| self.files.workspace.resolve(it, Last::Keep).ok());
            let Some(file) = file else { continue };
            in_workspace += 1;
            if symbols.len() < limit {
                symbols.push(json!({
                    "name": symbol.name,
                    "kind": symbol.kind,
                    "fqn": symbol.fqn,
                    "file_path": file.key,
                    "line": symbol.span.start_line,
                    "references": references,
                }));
            }
        }
        Ok(json!({
            "codegraph": graph.path.display().to_string(),
            "version": graph.version,
            "entities": entities.into_iter().collect::<serde_json::Map<_, _>>(),
            "edges": edges.into_iter().collect::<serde_json::Map<_, _>>(),
            "left_out": { "symbols": in_workspace - symbols.len() },
            "symbols": symbols,
        }))
    }
}
