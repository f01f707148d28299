//! The embedded engine: parses the files with the built-in grammars.

use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;

use serde_json::Value;

use super::{
    CodeEngine, FoundDefinition, Identity, PatchRequest, ReferenceRow, SourceFile, SymbolRow,
    SymbolsError, source_file, summary,
};
use crate::code;
use crate::code::{CodeError, Language, Patched, Source};
use crate::run::StopSignal;
use crate::workspace::scan::{FileMatches, SearchError, SearchResults, search_files};
use crate::workspace::{Access, Counted, Last, Overlay, Workspace, budget};

/// Maximum size of a file that is parsed, in bytes.
const MAX_BYTES: u64 = code::MAX_SOURCE_BYTES as u64;

/// Looks up symbols in the files of a workspace with the built-in grammars.
pub(super) struct Embedded<'a> {
    pub(super) workspace: &'a Workspace,
}

impl CodeEngine for Embedded<'_> {
    fn identity(&self) -> Identity {
        Identity { name: "embedded", version: Some(code::PARSER_VERSION.to_owned()) }
    }

    fn symbols(
        &self,
        file: &SourceFile<'_>,
        stop: &StopSignal,
    ) -> Result<Vec<SymbolRow>, SymbolsError> {
        let source = self.parse_file(file, stop)?;
        Ok(source.definitions().into_iter().map(|it| row(it, file.key())).collect())
    }

    fn references(
        &self,
        symbol: &str,
        file: Option<&SourceFile<'_>>,
        stop: &StopSignal,
    ) -> Result<SearchResults, SymbolsError> {
        let Some(file) = file else {
            return self.visit_files_with_name(symbol, stop, |source, key| {
                Ok(matches(source, symbol, key))
            });
        };
        let found = matches(&self.parse_file(file, stop)?, symbol, file.key());
        let path = file.key().to_owned();
        let found = found.map(|(json, count)| FileMatches { path, json, count });
        Ok(SearchResults { found: found.into_iter().collect(), files: 1, problems: Vec::new() })
    }

    fn first_definition(
        &self,
        symbol: &str,
        file: Option<&SourceFile<'_>>,
        overlay: &Overlay,
        stop: &StopSignal,
    ) -> Result<Option<FoundDefinition>, SymbolsError> {
        let line =
            |source: &Source<'_>| source.first_definition(symbol).map(|it| it.span.start_line);
        if let Some(file) = file {
            let line = line(&self.parse_file(file, stop)?);
            return Ok(line.map(|line| FoundDefinition { file_path: file.key().to_owned(), line }));
        }
        let changed = self.first_in_changed_files(symbol, overlay, stop)?;
        let found = Mutex::new(Vec::from_iter(changed));
        self.visit_files_with_name(symbol, stop, |source, key| {
            if !overlay.has(key)
                && let Some(line) = line(source)
            {
                let definition = FoundDefinition { file_path: key.to_owned(), line };
                found.lock().unwrap_or_else(PoisonError::into_inner).push(definition);
            }
            Ok(None)
        })?;
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(found.into_iter().min_by(|a, b| a.file_path.cmp(&b.file_path)))
    }

    fn definitions(&self, symbol: &str, stop: &StopSignal) -> Result<Vec<SymbolRow>, SymbolsError> {
        let meant = code::segments(symbol);
        let all = Mutex::new(Vec::new());
        self.visit_files_with_name(symbol, stop, |source, key| {
            let found = source.definitions().into_iter();
            let found = found.filter(|it| code::segments(&it.fqn).ends_with(&meant));
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend(found.map(|it| row(it, key)));
            Ok(None)
        })?;
        Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn summary(&self, limit: usize, stop: &StopSignal) -> Result<Value, SymbolsError> {
        summary::summary(self, limit, stop)
    }

    fn replace(
        &self,
        language: Language,
        text: &str,
        request: &PatchRequest<'_>,
        stop: &StopSignal,
    ) -> Result<Patched, CodeError> {
        let budget = self.workspace.search_budget(stop);
        let stop = || stop.is_set() || self.workspace.stop_signal().is_set();
        let read = Source::parse(language, text, &stop);
        // The steps are counted twice, because the result is parsed too, which takes about as many steps.
        for _ in 0..2 {
            budget.count_parsed(&read).map_err(|_| budget::too_many_steps())?;
        }
        let source = read?;
        code::patch(&source, request.symbol, request.kind, request.replacement, &stop)
    }
}

impl Embedded<'_> {
    fn parse_file<'t>(
        &self,
        file: &'t SourceFile<'_>,
        stop: &StopSignal,
    ) -> Result<Source<'t>, SymbolsError> {
        let (language, text) = (file.language()?, file.text()?);
        let read = Source::parse(language, text, &|| stop.is_set());
        self.workspace.search_budget(stop).count_parsed(&read)?;
        read.map_err(|source| SymbolsError::Code { path: file.key().to_owned(), source })
    }

    /// The first definition of `symbol` in the files that earlier steps change. Files that do not parse are
    /// skipped.
    fn first_in_changed_files(
        &self,
        symbol: &str,
        overlay: &Overlay,
        stop: &StopSignal,
    ) -> Result<Option<FoundDefinition>, SymbolsError> {
        let name = code::last_name(symbol);
        for (key, content) in overlay.files() {
            let text = content.and_then(|content| std::str::from_utf8(content).ok());
            let names = text.is_some_and(|text| text.contains(name));
            if !names || Language::of_path(Path::new(key)).is_none() {
                continue;
            }
            let file = SourceFile::read(self.workspace.projected(overlay), key)?;
            if let Some(found) =
                self.first_definition(symbol, Some(&file), overlay, stop).unwrap_or_default()
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// [`Self::visit_files`] with the name of a symbol.
    fn visit_files_with_name(
        &self,
        symbol: &str,
        stop: &StopSignal,
        visit: impl Fn(&Source<'_>, &str) -> Result<Option<(Vec<u8>, u64)>, SearchError> + Sync,
    ) -> Result<SearchResults, SymbolsError> {
        match code::last_name(symbol) {
            "" => Ok(SearchResults { found: Vec::new(), files: 0, problems: Vec::new() }),
            name => self.visit_files(Some(name), stop, visit),
        }
    }

    /// Parses every file of the workspace that ripgrep would search, that has a grammar, and that contains `name`, and
    /// calls `visit` with it and its canonical path.
    pub(super) fn visit_files(
        &self,
        name: Option<&str>,
        stop: &StopSignal,
        visit: impl Fn(&Source<'_>, &str) -> Result<Option<(Vec<u8>, u64)>, SearchError> + Sync,
    ) -> Result<SearchResults, SymbolsError> {
        let place = self.workspace.resolve(".", Last::Follow)?;
        let budget = self.workspace.search_budget(stop);
        Ok(search_files(&place, budget, |_, relative: &Path, key| {
            let Some(language) = Language::of_path(relative) else { return Ok(None) };
            let Some((file, _)) = place.root.open_file(relative, key, Access::Read)? else {
                return Ok(None);
            };
            let bytes = file.metadata().map_or(0, |data| data.len().min(MAX_BYTES));
            budget.count(Counted::Bytes, bytes + budget::OPENED)?;
            let bytes = place.root.shown(key, source_file::read(file, key)?)?;
            let text = std::str::from_utf8(&bytes)
                .map_err(|_| SymbolsError::NotText { path: key.to_owned() })?;
            if name.is_some_and(|name| !text.contains(name)) {
                return Ok(None);
            }
            let _turn = budget::lock_large_parse(text);
            let read = Source::parse(language, text, &|| stop.is_set());
            budget.count_parsed(&read)?;
            let failed = |source| SymbolsError::Code { path: key.to_owned(), source };
            visit(&read.map_err(failed)?, key)
        })?)
    }
}

fn row(it: code::Definition, key: &str) -> SymbolRow {
    SymbolRow {
        name: it.name,
        kind: it.kind.as_str().to_owned(),
        fqn: it.fqn,
        file_path: key.to_owned(),
        span: it.span,
    }
}

/// The references in one file as JSON, and their number; `None` without references.
fn matches(source: &Source<'_>, symbol: &str, key: &str) -> Option<(Vec<u8>, u64)> {
    let row =
        |it: code::Reference| ReferenceRow::new(key.to_owned(), it.span, it.symbol, it.from_symbol);
    let rows: Vec<_> = source.references_to(symbol).into_iter().map(row).collect();
    (!rows.is_empty()).then(|| (joined_json(&rows), rows.len() as u64))
}

/// Rows as JSON objects separated by commas, without brackets.
pub(super) fn joined_json(rows: &[ReferenceRow]) -> Vec<u8> {
    let mut json = serde_json::to_vec(rows).unwrap_or_default();
    json.pop();
    if !json.is_empty() {
        json.remove(0);
    }
    json
}
