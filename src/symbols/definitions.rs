//! Looks up a symbol in the whole workspace, and summarizes a code graph (SPEC §9, `inspect`).

use serde_json::{Value, json};

use super::codegraph::Codegraph;
use super::{Symbols, SymbolsError, Work};
use crate::run::StopSignal;
use crate::workspace::{Last, check_cancelled};

impl Symbols<'_> {
    /// The definitions of `symbol` and the references to it, at most `most` of each.
    ///
    /// # Errors
    /// The errors of a query for the references of a symbol.
    pub(crate) fn look_up(
        self,
        symbol: &str,
        most: usize,
        stop: &StopSignal,
    ) -> Result<Value, SymbolsError> {
        let chosen = self.choose(Work::Read, stop)?;
        let definitions = chosen.engine.definitions(symbol, stop)?;
        let references = chosen.engine.references(symbol, None, stop)?.json();
        let references: Vec<Value> = serde_json::from_slice(&references).unwrap_or_default();
        let left_out = |count: usize| count.saturating_sub(most);
        Ok(json!({
            "symbol": symbol,
            "engine": chosen.evidence(None),
            "left_out": {
                "definitions": left_out(definitions.len()),
                "references": left_out(references.len()),
            },
            "definitions": definitions.into_iter().take(most).collect::<Vec<_>>(),
            "references": references.into_iter().take(most).collect::<Vec<_>>(),
        }))
    }

    /// A summary of the code graph: its counts, and the symbols that are referenced most.
    ///
    /// # Errors
    /// No code graph (E103), or one that cannot be used.
    pub(crate) fn semantic(self, most: usize, stop: &StopSignal) -> Result<Value, SymbolsError> {
        check_cancelled(stop)?;
        let path = self.codegraph().ok_or(SymbolsError::NoCodegraph)?;
        let graph = Codegraph::open(&path)?;
        let (entities, edges) = graph.counts(stop)?;
        let mut named = Vec::new();
        let mut inside = 0_usize;
        for (symbol, references) in graph.named_most(stop)? {
            check_cancelled(stop)?;
            // Symbols in files outside the workspace are skipped, because they must not be reported.
            let file = symbol
                .file
                .to_str()
                .and_then(|it| self.files.workspace.resolve(it, Last::Keep).ok());
            let Some(file) = file else { continue };
            inside += 1;
            if named.len() < most {
                named.push(json!({
                    "name": symbol.name,
                    "kind": symbol.kind,
                    "fqn": symbol.fqn,
                    "file_path": file.key,
                    "line": symbol.place.start_line,
                    "references": references,
                }));
            }
        }
        Ok(json!({
            "codegraph": path.display().to_string(),
            "version": graph.version,
            "entities": entities.into_iter().collect::<serde_json::Map<_, _>>(),
            "edges": edges.into_iter().collect::<serde_json::Map<_, _>>(),
            "left_out": { "symbols": inside - named.len() },
            "symbols": named,
        }))
    }
}
