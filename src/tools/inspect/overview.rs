//! Lists packages, targets, languages, entry points and commands of a workspace, from its files alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::manifest;
use super::manifest::Package;
use crate::code::Language;
use crate::run::StopSignal;
use crate::tools::Toolbox;
use crate::workspace::scan::search_files;
use crate::workspace::{Access, Last, Place, SearchBudget, WorkspaceError, file};

/// Maximum size of a manifest, in bytes.
const MANIFEST_BYTES: u64 = 1 << 20;
/// The names, without their extension, by which a file of another language than Rust counts as an entry point.
const ENTRY_POINT_NAMES: [&str; 8] =
    ["main", "__main__", "index", "app", "cli", "Main", "Program", "manage"];

/// The result of `InspectQuery::Overview`, with at most `max_results` packages, entry points and problems.
pub(super) fn overview(
    toolbox: &Toolbox,
    max_results: usize,
    stop: &StopSignal,
) -> Result<Value, WorkspaceError> {
    let place = toolbox.resolve(".", Last::Follow)?;
    let all =
        search_files(&place, SearchBudget::unlimited(stop), |_, _, _| Ok(Some((Vec::new(), 1))))?;
    let files: BTreeSet<&str> = all.found.iter().map(|found| found.path.as_str()).collect();
    let mut problems = all.problems;
    let mut packages = Vec::new();
    for path in files.iter().filter(|path| file_name(path) == "Cargo.toml") {
        match read_manifest(&place, path) {
            Ok(text) => {
                let folder = path.strip_suffix("Cargo.toml").unwrap_or_default();
                packages.extend(manifest::package(&text, folder, &files));
            }
            Err(error) => problems.push(error.to_string()),
        }
    }
    let languages: Vec<Value> = languages(&files)
        .into_iter()
        .map(|(files, name)| json!({ "language": name, "files": files }))
        .collect();
    let entries = entry_points(&packages, &files);
    let mut left_out = serde_json::Map::new();
    // The first `max_results` values. The number of the others is added to `left_out` under `key`.
    let mut truncate = |mut values: Vec<Value>, key: &str| {
        if values.len() > max_results {
            left_out.insert(key.to_owned(), json!(values.len() - max_results));
            values.truncate(max_results);
        }
        values
    };
    let packages = packages.into_iter().map(|package| json!(package)).collect();
    let packages = truncate(packages, "packages");
    let entries = truncate(entries, "entry_points");
    let problems = truncate(problems.into_iter().map(Value::from).collect(), "problems");
    Ok(json!({
        "files": all.files,
        "languages": languages,
        "packages": packages,
        "entry_points": entries,
        "commands": toolbox.workspace_commands_json(),
        "problems": problems,
        "left_out": left_out,
    }))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn read_manifest(place: &Place<'_>, path: &str) -> Result<String, WorkspaceError> {
    let not_found = || WorkspaceError::NotFound { path: path.to_owned() };
    let opened = place.root.open_file(Path::new(path), path, Access::Read)?;
    let (manifest, _) = opened.ok_or_else(not_found)?;
    let bytes = file::read_up_to(manifest, path, Access::Read, MANIFEST_BYTES)?;
    let bytes = place.root.shown(path, bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The languages with their numbers of files, the largest number first.
fn languages(files: &BTreeSet<&str>) -> Vec<(usize, &'static str)> {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for language in files.iter().filter_map(|path| Language::of_path(Path::new(path))) {
        *count.entry(language.name()).or_default() += 1;
    }
    let mut languages: Vec<_> = count.into_iter().map(|(name, files)| (files, name)).collect();
    languages.sort_by_key(|(files, name)| (std::cmp::Reverse(*files), *name));
    languages
}

/// The entry points: the programs that cargo builds, and files of other languages with one of the
/// [`ENTRY_POINT_NAMES`].
fn entry_points(packages: &[Package], files: &BTreeSet<&str>) -> Vec<Value> {
    let of_cargo = packages
        .iter()
        .flat_map(|package| &package.targets)
        .filter(|target| matches!(target.kind, "bin" | "example"));
    let of_cargo = of_cargo
        .map(|target| json!({ "kind": target.kind, "name": target.name, "path": target.path }));
    let others = files.iter().filter(|path| {
        let path = Path::new(path);
        let language = Language::of_path(path).filter(|language| *language != Language::Rust);
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        language.is_some() && ENTRY_POINT_NAMES.contains(&stem)
    });
    of_cargo.chain(others.map(|path| json!({ "kind": "file", "path": path }))).collect()
}
