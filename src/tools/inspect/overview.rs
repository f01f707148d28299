//! Lists packages, targets, languages, entry points and commands of a workspace, from its files alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::manifest::{self, Package};
use crate::code::Language;
use crate::run::StopSignal;
use crate::tools::Toolbox;
use crate::workspace::scan::look_at_files;
use crate::workspace::{Access, Last, Place, SearchBudget, WorkspaceError, file};

/// Maximum size of a manifest, in bytes.
const MANIFEST_BYTES: u64 = 1 << 20;
/// The usual names of entry points in other languages.
const BEGINNINGS: [&str; 8] =
    ["main", "__main__", "index", "app", "cli", "Main", "Program", "manage"];

/// Answers `InspectQuery::Overview`.
pub(super) fn overview(
    toolbox: &Toolbox,
    most: usize,
    stop: &StopSignal,
) -> Result<Value, WorkspaceError> {
    let place = toolbox.resolve(".", Last::Follow)?;
    let seen =
        look_at_files(&place, SearchBudget::of_run(stop), |_, _, _| Ok(Some((Vec::new(), 1))))?;
    let files: BTreeSet<&str> = seen.found.iter().map(|found| found.path.as_str()).collect();
    let mut problems = seen.problems;
    let mut packages = Vec::new();
    for path in files.iter().filter(|path| file_name(path) == "Cargo.toml") {
        match text_of(&place, path) {
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
    let packages = packages.into_iter().map(|package| json!(package)).collect();
    let packages = first(packages, most, "packages", &mut left_out);
    let entries = first(entries, most, "entry_points", &mut left_out);
    let problems: Vec<Value> = problems.into_iter().map(Value::from).collect();
    let problems = first(problems, most, "problems", &mut left_out);
    Ok(json!({
        "files": seen.files,
        "languages": languages,
        "packages": packages,
        "entry_points": entries,
        "commands": toolbox.workspace_commands_json(),
        "problems": problems,
        "left_out": left_out,
    }))
}

/// The first `most` values. The number of the others is added to `left_out` under the key `what`.
fn first(
    mut all: Vec<Value>,
    most: usize,
    what: &str,
    left_out: &mut serde_json::Map<String, Value>,
) -> Vec<Value> {
    if all.len() > most {
        left_out.insert(what.to_owned(), json!(all.len() - most));
        all.truncate(most);
    }
    all
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn text_of(place: &Place<'_>, path: &str) -> Result<String, WorkspaceError> {
    let not_there = || WorkspaceError::NotFound { path: path.to_owned() };
    let opened = place.root.open_file(Path::new(path), path, Access::Read)?;
    let (manifest, _) = opened.ok_or_else(not_there)?;
    let bytes = file::read_up_to(manifest, path, Access::Read, MANIFEST_BYTES)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The number of files in each language, the largest first.
fn languages(files: &BTreeSet<&str>) -> Vec<(usize, &'static str)> {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for language in files.iter().filter_map(|path| Language::of_path(Path::new(path))) {
        *count.entry(language.name()).or_default() += 1;
    }
    let mut languages: Vec<_> = count.into_iter().map(|(name, files)| (files, name)).collect();
    languages.sort_by_key(|(files, name)| (std::cmp::Reverse(*files), *name));
    languages
}

/// The entry points: the programs that cargo builds, and files of other languages with a usual name.
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
        language.is_some() && BEGINNINGS.contains(&stem)
    });
    of_cargo.chain(others.map(|path| json!({ "kind": "file", "path": path }))).collect()
}
