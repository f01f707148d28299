//! The external engine: the index of `magellan`, and the program `splice` (SPEC §4).

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use super::codegraph::{Codegraph, Reference, Symbol};
use super::embedded::joined_json;
use super::{
    CodeEngine, FoundDefinition, Identity, PatchRequest, ReferenceRow, SourceFile, SymbolRow,
    Symbols, SymbolsError,
};
use crate::code;
use crate::code::{CodeError, Language, Patched, Source, SymbolKind};
use crate::run::StopSignal;
use crate::workspace::scan::{ANSWER_BYTES, FileMatches, SearchResults};
use crate::workspace::{Last, Overlay, Workspace, WorkspaceError, check_cancelled};

/// The external engine for one call: reads a code graph, or, without a graph, computes replacements for the
/// program `splice`.
pub(super) struct External<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) graph: Option<Codegraph>,
}

impl External<'_> {
    fn graph(&self) -> Result<&Codegraph, SymbolsError> {
        self.graph.as_ref().ok_or(SymbolsError::NoCodegraph)
    }

    fn absolute(&self, file: &SourceFile<'_>) -> PathBuf {
        file.place.root.path.join(&file.place.relative)
    }

    /// The canonical path of a file in the graph; `None` outside the workspace and the added roots.
    fn key_of(&self, file: &Path) -> Option<String> {
        Some(self.workspace.resolve(file.to_str()?, Last::Keep).ok()?.key)
    }

    fn symbols_of(
        &self,
        file: &SourceFile<'_>,
        stop: &StopSignal,
    ) -> Result<Vec<Symbol>, SymbolsError> {
        let graph = self.graph()?;
        let absolute = self.absolute(file);
        if graph.indexed(&absolute)?.is_none() {
            let (path, file) = (graph.path.clone(), file.key().to_owned());
            return Err(SymbolsError::NotIndexed { path, file });
        }
        graph.symbols_of(&absolute, stop)
    }
}

impl CodeEngine for External<'_> {
    fn identity(&self) -> Identity {
        match &self.graph {
            Some(graph) => Identity { name: "magellan", version: graph.version.clone() },
            None => Identity { name: "splice", version: None },
        }
    }

    fn remarks(&self, file: Option<&SourceFile<'_>>) -> Vec<String> {
        let (Some(file), Some(graph)) = (file, &self.graph) else { return Vec::new() };
        let Ok(Some(then)) = graph.indexed(&self.absolute(file)) else { return Vec::new() };
        match modified_at(&self.absolute(file)) {
            Some(now) if now != then => {
                let graph = graph.path.display();
                vec![format!("{} has changed since {graph} was written.", file.key())]
            }
            _ => Vec::new(),
        }
    }

    fn symbols(
        &self,
        file: &SourceFile<'_>,
        stop: &StopSignal,
    ) -> Result<Vec<SymbolRow>, SymbolsError> {
        check_cancelled(stop)?;
        let symbols = self.symbols_of(file, stop)?;
        Ok(symbols.into_iter().map(|it| row(it, file.key().to_owned())).collect())
    }

    fn references(
        &self,
        symbol: &str,
        file: Option<&SourceFile<'_>>,
        stop: &StopSignal,
    ) -> Result<SearchResults, SymbolsError> {
        let graph = self.graph()?;
        if let Some(file) = file {
            // Fails for a file that was never indexed, which would otherwise look like a file without
            // references.
            self.symbols_of(file, stop)?;
        }
        let name = code::last_name(symbol);
        let mut keys: HashMap<PathBuf, Option<String>> = HashMap::new();
        let mut around: HashMap<PathBuf, Vec<Symbol>> = HashMap::new();
        let mut rows: BTreeMap<String, Vec<ReferenceRow>> = BTreeMap::new();
        for reference in graph.references_to(name, stop)? {
            check_cancelled(stop)?;
            let key =
                keys.entry(reference.file.clone()).or_insert_with(|| self.key_of(&reference.file));
            let Some(key) = key.clone() else { continue };
            let elsewhere = file.is_some_and(|file| file.key() != key);
            if elsewhere
                || reference.target.as_ref().is_some_and(|fqn| !matches_symbol(fqn, symbol))
            {
                continue;
            }
            if !around.contains_key(&reference.file) {
                let symbols = graph.symbols_of(&reference.file, stop)?;
                around.insert(reference.file.clone(), symbols);
            }
            let from_symbol =
                around.get(&reference.file).and_then(|all| innermost(all, &reference));
            let row = ReferenceRow::new(key.clone(), reference.span, name.to_owned(), from_symbol);
            rows.entry(key).or_default().push(row);
        }
        let files = rows.len() as u64;
        let mut bytes = 0;
        let mut found = Vec::with_capacity(rows.len());
        for (path, mut rows) in rows {
            rows.sort_by_key(|row| (row.byte_start, row.byte_end));
            rows.dedup();
            let json = joined_json(&rows);
            bytes += json.len() as u64;
            if bytes > ANSWER_BYTES {
                return Err(WorkspaceError::OutputLimit { limit: ANSWER_BYTES }.into());
            }
            found.push(FileMatches { path, json, count: rows.len() as u64 });
        }
        Ok(SearchResults { found, files, problems: Vec::new() })
    }

    fn first_definition(
        &self,
        symbol: &str,
        file: Option<&SourceFile<'_>>,
        // The overlay is not used: the code graph never contains the changes of earlier steps, not even when
        // the next step runs.
        _: &Overlay,
        stop: &StopSignal,
    ) -> Result<Option<FoundDefinition>, SymbolsError> {
        check_cancelled(stop)?;
        let symbols = match file {
            Some(file) => self.symbols_of(file, stop)?,
            None => self.graph()?.symbols_named(code::last_name(symbol), stop)?,
        };
        let name = code::last_name(symbol);
        let found = symbols
            .into_iter()
            .filter(|it| it.name == name && matches_symbol(&it.fqn, symbol))
            .find_map(|it| Some((self.key_of(&it.file)?, it.span.start_line)));
        Ok(found.map(|(file_path, line)| FoundDefinition { file_path, line }))
    }

    fn definitions(&self, symbol: &str, stop: &StopSignal) -> Result<Vec<SymbolRow>, SymbolsError> {
        check_cancelled(stop)?;
        let name = code::last_name(symbol);
        let found = self.graph()?.symbols_named(name, stop)?.into_iter();
        let found = found.filter(|it| matches_symbol(&it.fqn, symbol));
        Ok(found.filter_map(|it| self.key_of(&it.file).map(|key| row(it, key))).collect())
    }

    fn summary(&self, limit: usize, stop: &StopSignal) -> Result<Value, SymbolsError> {
        let graph = self.graph()?;
        let (entities, edges) = graph.counts(stop)?;
        let mut symbols = Vec::new();
        let mut in_workspace = 0_usize;
        for (symbol, references) in graph.symbols_by_references(stop)? {
            check_cancelled(stop)?;
            // Symbols in files outside the workspace are skipped, because they must not be reported.
            let Some(file_path) = self.key_of(&symbol.file) else { continue };
            in_workspace += 1;
            if symbols.len() < limit {
                symbols.push(json!({
                    "name": symbol.name,
                    "kind": symbol.kind,
                    "fqn": symbol.fqn,
                    "file_path": file_path,
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

    fn replace(
        &self,
        language: Language,
        text: &str,
        request: &PatchRequest<'_>,
        stop: &StopSignal,
    ) -> Result<Patched, CodeError> {
        let stop = || stop.is_set();
        let source = Source::parse(language, text, &stop)?;
        let patched =
            code::replace(&source, request.symbol, request.kind, request.replacement, &stop)?;
        // `splice` looks for the bare name and takes the first match, so the bare name must be unique.
        source.definition(&patched.definition.name, None)?;
        Ok(patched)
    }
}

fn row(it: Symbol, file_path: String) -> SymbolRow {
    SymbolRow {
        // The embedded engine's name for the kind, if it has the kind.
        kind: SymbolKind::parse(&it.kind).map_or(it.kind, |kind| kind.as_str().to_owned()),
        name: it.name,
        fqn: it.fqn,
        file_path,
        span: it.span,
    }
}

/// Whether a full name matches `symbol`: both are equal, or the full name has more outer segments.
fn matches_symbol(fqn: &str, symbol: &str) -> bool {
    code::segments(fqn).ends_with(&code::segments(symbol))
}

/// The full name of the smallest symbol that contains a reference.
fn innermost(symbols: &[Symbol], reference: &Reference) -> Option<String> {
    symbols
        .iter()
        .filter(|it| {
            it.span.byte_start <= reference.span.byte_start
                && reference.span.byte_end <= it.span.byte_end
        })
        .min_by_key(|it| it.span.byte_end.saturating_sub(it.span.byte_start))
        .map(|it| it.fqn.clone())
}

/// The modification time of a file, in Unix seconds as in the graph.
fn modified_at(file: &Path) -> Option<i64> {
    let modified = std::fs::metadata(file).ok()?.modified().ok()?;
    i64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

impl Symbols<'_> {
    /// A sentence that the code graph contains the file at `path`, and whether the file has changed or disappeared
    /// since it was indexed. `None` if the graph does not contain it (SPEC §5, `magellan has indexed file`).
    ///
    /// # Errors
    /// A file that cannot be read, no code graph (E103), or one that cannot be used.
    pub(crate) fn indexed(self, path: &str) -> Result<Option<String>, SymbolsError> {
        let graph = self.open_codegraph()?;
        let place = self.files.workspace.resolve(path, Last::Follow)?;
        let absolute = place.root.path.join(&place.relative);
        Ok(graph.indexed(&absolute)?.map(|then| {
            let old = match modified_at(&absolute) {
                Some(now) if now == then => "",
                Some(_) => ", and it has changed since",
                None => ", and it is gone since",
            };
            format!("{} has {path}{old}", graph.path.display())
        }))
    }
}
