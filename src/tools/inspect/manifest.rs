//! Reads the targets of a package from its `Cargo.toml`, with cargo's defaults.

use std::collections::BTreeSet;

use serde::Serialize;
use toml::{Table, Value};

/// A package and its targets, with paths relative to the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) manifest: String,
    pub(super) targets: Vec<Target>,
}

/// A target of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Target {
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) path: String,
}

/// The kinds of targets of which a package can have several: the key in the manifest, the default folder, and the
/// setting that turns off the discovery of files in that folder.
const KINDS: [(&str, &str, &str); 4] = [
    ("bin", "src/bin", "autobins"),
    ("example", "examples", "autoexamples"),
    ("test", "tests", "autotests"),
    ("bench", "benches", "autobenches"),
];

/// Parses the manifest `text` of a folder (`""`, or a path that ends in `/`); `files` are all files of the workspace.
/// `None` if the manifest does not parse or has no package, as in a virtual workspace.
pub(super) fn package(text: &str, folder: &str, files: &BTreeSet<&str>) -> Option<Package> {
    let manifest: Table = text.parse().ok()?;
    let package = manifest.get("package")?.as_table()?;
    let name = package.get("name")?.as_str()?.to_owned();
    let target = |kind, name: &str, path: &str| Target {
        kind,
        name: name.to_owned(),
        path: format!("{folder}{path}"),
    };
    let exists = |path: &str| files.contains(format!("{folder}{path}").as_str());
    let mut targets = Vec::new();
    let library = manifest.get("lib").and_then(Value::as_table);
    if library.is_some() || exists("src/lib.rs") {
        let field =
            |field: &str| library.and_then(|table| table.get(field)).and_then(Value::as_str);
        let default_name = name.replace('-', "_");
        let lib_name = field("name").unwrap_or(&default_name);
        targets.push(target("lib", lib_name, field("path").unwrap_or("src/lib.rs")));
    }
    for (kind, default_folder, discovery) in KINDS {
        let first = targets.len();
        let listed = manifest.get(kind).and_then(Value::as_array).into_iter().flatten();
        for table in listed.filter_map(Value::as_table) {
            let Some(name) = table.get("name").and_then(Value::as_str) else { continue };
            let main = || (kind == "bin").then(|| "src/main.rs".to_owned());
            let default_paths =
                [format!("{default_folder}/{name}.rs"), format!("{default_folder}/{name}/main.rs")];
            let found = default_paths.iter().cloned().chain(main()).find(|path| exists(path));
            let path = table.get("path").and_then(Value::as_str).or(found.as_deref());
            targets.push(target(kind, name, path.unwrap_or(&default_paths[0])));
        }
        if package.get(discovery).and_then(Value::as_bool) == Some(false) {
            continue;
        }
        let mut discovered: Vec<(String, String)> = Vec::new();
        if kind == "bin" && exists("src/main.rs") {
            discovered.push((name.clone(), "src/main.rs".to_owned()));
        }
        let prefix = format!("{folder}{default_folder}/");
        let inside = files.range(prefix.as_str()..).take_while(|path| path.starts_with(&prefix));
        for path in inside {
            let rest = path.strip_prefix(&prefix).unwrap_or(path);
            let name = rest.strip_suffix("/main.rs").or_else(|| rest.strip_suffix(".rs"));
            let name = name.filter(|name| !name.contains('/'));
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                discovered.push((name.to_owned(), format!("{default_folder}/{rest}")));
            }
        }
        for (name, path) in discovered {
            let known = targets.get(first..).unwrap_or_default();
            let full_path = format!("{folder}{path}");
            if !known.iter().any(|known| known.name == name || known.path == full_path) {
                targets.push(target(kind, &name, &path));
            }
        }
    }
    Some(Package { name, manifest: format!("{folder}Cargo.toml"), targets })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_those_that_cargo_would_find() {
        let files = BTreeSet::from([
            "a/benches/b.rs",
            "a/examples/show.rs",
            "a/examples/two/main.rs",
            "a/examples/two/part.rs",
            "a/src/bin/other.rs",
            "a/src/lib.rs",
            "a/src/main.rs",
            "a/tests/it.rs",
            "elsewhere/examples/no.rs",
        ]);
        let text = "[package]\nname = \"my-app\"\nautobenches = false\n[[bin]]\nname = \"tool\"\n\
                    path = \"src/main.rs\"\n[[test]]\nname = \"more\"\n";
        let package = package(text, "a/", &files).unwrap();
        let targets: Vec<_> = package
            .targets
            .iter()
            .map(|target| (target.kind, target.name.as_str(), target.path.as_str()))
            .collect();
        assert_eq!(
            targets,
            [
                ("lib", "my_app", "a/src/lib.rs"),
                ("bin", "tool", "a/src/main.rs"),
                ("bin", "other", "a/src/bin/other.rs"),
                ("example", "show", "a/examples/show.rs"),
                ("example", "two", "a/examples/two/main.rs"),
                ("test", "more", "a/tests/more.rs"),
                ("test", "it", "a/tests/it.rs"),
            ]
        );
        assert_eq!(package.manifest, "a/Cargo.toml");
        assert_eq!(super::package("[workspace]\n", "", &files), None);
        assert_eq!(super::package("[package", "", &files), None);
    }
}
