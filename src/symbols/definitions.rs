//! Looks up a symbol in the whole workspace, and summarizes the code of the workspace (SPEC §9, `inspect`).

use serde_json::{Value, json};

use super::{Symbols, SymbolsError, Work};
use crate::run::StopSignal;
use crate::workspace::check_cancelled;

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

    /// What the workspace defines and calls, as far as the chosen engine can tell: the code graph of magellan, or the
    /// names in all files. At most `limit` rows of each kind, the most used first.
    ///
    /// # Errors
    /// No engine can be chosen (with `external`, no code graph: E103), or it cannot answer.
    pub(crate) fn summary(self, limit: usize, stop: &StopSignal) -> Result<Value, SymbolsError> {
        check_cancelled(stop)?;
        let chosen = self.choose(Work::Read, stop)?;
        let mut summary = chosen.engine.summary(limit, stop)?;
        if let Value::Object(fields) = &mut summary {
            fields.insert("engine".to_owned(), chosen.evidence(None));
        }
        Ok(summary)
    }
}
