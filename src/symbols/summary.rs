//! What a workspace defines and calls, as the embedded engine sees it: every definition, and every name that may mean
//! one (SPEC §9, `inspect` with `semantic`).
//!
//! The grammars know no types and no imports. A name therefore means the definitions of this name in the same
//! language, and of these the ones in its qualifier or else in its own file. A name for which several remain is
//! counted as ambiguous, and no call is reported for it.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::SymbolsError;
use super::embedded::Embedded;
use crate::code::{Language, Source, SymbolKind, segments};
use crate::run::StopSignal;
use crate::workspace::check_cancelled;

/// The definitions and used names of one file.
#[derive(Serialize, Deserialize)]
struct FileSummary {
    definitions: Vec<Defined>,
    uses: Vec<Uses>,
}

/// One definition.
#[derive(Serialize, Deserialize)]
struct Defined {
    name: String,
    kind: String,
    fqn: String,
    line: usize,
}

/// The uses of one name by one definition of a file.
#[derive(Serialize, Deserialize)]
struct Uses {
    name: String,
    qualifier: Option<String>,
    /// The full name of the definition around the uses; `None` outside of all.
    from: Option<String>,
    is_call: bool,
    count: u64,
}

impl FileSummary {
    fn of(source: &Source<'_>) -> Self {
        let definitions = source.definitions().into_iter().map(|it| Defined {
            name: it.name,
            kind: it.kind.as_str().to_owned(),
            fqn: it.fqn,
            line: it.span.start_line,
        });
        let mut uses = BTreeMap::new();
        for it in source.references() {
            *uses.entry((it.symbol, it.qualifier, it.from_symbol, it.is_call)).or_default() += 1;
        }
        let uses = uses.into_iter();
        Self {
            definitions: definitions.collect(),
            uses: uses
                .map(|((name, qualifier, from, is_call), count)| Uses {
                    name,
                    qualifier,
                    from,
                    is_call,
                    count,
                })
                .collect(),
        }
    }
}

/// A definition of the workspace, and how often it is used.
struct Symbol<'f> {
    file: usize,
    defined: &'f Defined,
    references: u64,
    ambiguous: u64,
}

/// The languages whose definitions a name of this file may mean: those of its family.
fn family(path: &str) -> Option<Language> {
    Language::of_path(path.as_ref()).map(|language| match language {
        Language::C => Language::Cpp,
        Language::JavaScript | Language::Tsx => Language::TypeScript,
        other => other,
    })
}

/// Summarizes the workspace: at most `limit` symbols and calls, the most used first, then by file and position.
///
/// # Errors
/// A limit of the search is reached, or the call is stopped.
pub(super) fn summary(
    engine: &Embedded<'_>,
    limit: usize,
    stop: &StopSignal,
) -> Result<Value, SymbolsError> {
    let found = engine.visit_files(None, stop, |source, _| {
        Ok(serde_json::to_vec(&FileSummary::of(source)).ok().map(|json| (json, 1)))
    })?;
    let mut files: Vec<(String, FileSummary)> = Vec::new();
    for file in found.found {
        check_cancelled(stop)?;
        // The bytes were written above.
        if let Ok(summary) = serde_json::from_slice(&file.json) {
            files.push((file.path, summary));
        }
    }
    let mut symbols: Vec<Symbol<'_>> = Vec::new();
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (file, (_, summary)) in files.iter().enumerate() {
        for defined in &summary.definitions {
            // An `impl` has the name of its type.
            if defined.kind != SymbolKind::Impl.as_str() {
                by_name.entry(&defined.name).or_default().push(symbols.len());
            }
            symbols.push(Symbol { file, defined, references: 0, ambiguous: 0 });
        }
    }
    let mut counts = Counts::default();
    let mut calls: BTreeMap<(usize, Option<&str>, usize), u64> = BTreeMap::new();
    for (file, (_, summary)) in files.iter().enumerate() {
        check_cancelled(stop)?;
        for uses in &summary.uses {
            let named = by_name.get(&*uses.name).map_or(&[][..], Vec::as_slice);
            let meant = meant(named, &symbols, &files, file, uses);
            counts.add(uses, meant.len());
            for index in &meant {
                let Some(symbol) = symbols.get_mut(*index) else { continue };
                match meant.len() {
                    1 => symbol.references += uses.count,
                    _ => symbol.ambiguous += uses.count,
                }
            }
            if let ([only], true) = (&*meant, uses.is_call) {
                *calls.entry((file, uses.from.as_deref(), *only)).or_default() += uses.count;
            }
        }
    }
    let file_path = |file: usize| files.get(file).map(|(path, _)| path.as_str());
    let call_count = calls.len();
    let mut calls: Vec<_> = calls.into_iter().collect();
    // Stable sorts: what is used equally often stays in the order of files and text.
    calls.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let call_rows = calls.into_iter().take(limit).filter_map(|((file, from, to), count)| {
        let to = symbols.get(to)?;
        Some(json!({
            "from": from,
            "from_file": file_path(file),
            "to": to.defined.fqn,
            "to_file": file_path(to.file),
            "calls": count,
        }))
    });
    let call_rows: Vec<Value> = call_rows.collect();
    let symbol_count = symbols.len();
    symbols.sort_by_key(|it| std::cmp::Reverse((it.references, it.ambiguous)));
    let symbol_rows = symbols.iter().take(limit).map(|it| {
        json!({
            "name": it.defined.name,
            "kind": it.defined.kind,
            "fqn": it.defined.fqn,
            "file_path": file_path(it.file),
            "line": it.defined.line,
            "references": it.references,
            "ambiguous": it.ambiguous,
        })
    });
    let problems = found.problems;
    Ok(json!({
        "entities": {
            "File": files.len(),
            "Symbol": symbol_count,
            "Reference": counts.references,
            "Call": counts.calls,
        },
        "edges": {
            "DEFINES": symbol_count,
            "REFERENCES": counts.resolved_references,
            "CALLS": counts.resolved_calls,
        },
        "ambiguous": { "references": counts.ambiguous_references, "calls": counts.ambiguous_calls },
        "left_out": {
            "symbols": symbol_count.saturating_sub(limit),
            "calls": call_count.saturating_sub(limit),
            "problems": problems.len().saturating_sub(limit),
        },
        "symbols": symbol_rows.collect::<Vec<_>>(),
        "calls": call_rows,
        "problems": problems.into_iter().take(limit).collect::<Vec<_>>(),
    }))
}

/// How many names mean something in the workspace. Every call is also a reference.
#[derive(Default)]
struct Counts {
    references: u64,
    calls: u64,
    resolved_references: u64,
    resolved_calls: u64,
    ambiguous_references: u64,
    ambiguous_calls: u64,
}

impl Counts {
    fn add(&mut self, uses: &Uses, meant: usize) {
        let calls = if uses.is_call { uses.count } else { 0 };
        self.references += uses.count;
        self.calls += calls;
        match meant {
            0 => {}
            1 => {
                self.resolved_references += uses.count;
                self.resolved_calls += calls;
            }
            _ => {
                self.ambiguous_references += uses.count;
                self.ambiguous_calls += calls;
            }
        }
    }
}

/// Of the definitions `named` like a use in the file number `file`, those that it may mean.
fn meant(
    named: &[usize],
    symbols: &[Symbol<'_>],
    files: &[(String, FileSummary)],
    file: usize,
    uses: &Uses,
) -> Vec<usize> {
    let path_of = |file: usize| files.get(file).map_or("", |(path, _)| path.as_str());
    let language = family(path_of(file));
    let narrowed = |is_meant: &dyn Fn(&Symbol<'_>) -> bool, from: &[usize]| -> Vec<usize> {
        let is_meant = |index: &usize| symbols.get(*index).is_some_and(is_meant);
        from.iter().copied().filter(is_meant).collect()
    };
    let mut meant = narrowed(&|it| family(path_of(it.file)) == language, named);
    if let Some(qualifier) = uses.qualifier.as_deref() {
        // A qualifier that fits no definition, as in `Vec::new`, belongs to something outside the workspace.
        return narrowed(&|it| is_qualified(it, path_of(it.file), qualifier), &meant);
    }
    let of_kind = |it: &Symbol<'_>| {
        let unlikely = [SymbolKind::Field, SymbolKind::Module].map(SymbolKind::as_str);
        !uses.is_call || !unlikely.contains(&&*it.defined.kind)
    };
    for narrower in [&of_kind as &dyn Fn(&Symbol<'_>) -> bool, &|it| it.file == file] {
        let fewer = narrowed(narrower, &meant);
        if !fewer.is_empty() {
            meant = fewer;
        }
    }
    meant
}

/// Whether the definition is inside the type or module `qualifier`; a file is a module by its name, or by the name of
/// its folder.
fn is_qualified(symbol: &Symbol<'_>, path: &str, qualifier: &str) -> bool {
    let fqn = &symbol.defined.fqn;
    if let Some((implementation, _)) = fqn.strip_prefix('<').and_then(|fqn| fqn.split_once(">::")) {
        // `<Type as Trait>::name` is called through either of them.
        return implementation.split(" as ").any(|part| segments(part).last() == Some(&qualifier));
    }
    if let [.., outer, _] = segments(fqn).as_slice() {
        return *outer == qualifier;
    }
    let path = std::path::Path::new(path);
    let folder = path.parent().and_then(std::path::Path::file_name);
    [path.file_stem(), folder].into_iter().flatten().any(|name| name == qualifier)
}
