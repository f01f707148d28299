//! Reads the targets of a package from its `Cargo.toml`, with cargo's defaults.

use std::collections::BTreeSet;

use serde::Serialize;
use toml::{Table, Value};

/// A package and its targets.
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

/// The kinds of which a package can have several targets: the key in the manifest, the folder, and the
/// setting that turns off discovery.
const KINDS: [(&str, &str, &str); 4] = [
    ("bin", "src/bin", "autobins"),
    ("example", "examples", "autoexamples"),
    ("test", "tests", "autotests"),
    ("bench", "benches", "autobenches"),
];

/// Reads the manifest in a folder (`""`, or a path that ends in `/`), given all files of the workspace.
/// `None` when it does not parse or has no package, as in a virtual workspace.
pub(super) fn package(text: &str, folder: &str, files: &BTreeSet<&str>) -> Option<Package> {
    let manifest: Table = text.parse().ok()?;
    let package = manifest.get("package")?.as_table()?;
    let name = package.get("name")?.as_str()?.to_owned();
    let of = |kind, name: &str, path: &str| Target {
        kind,
        name: name.to_owned(),
        path: format!("{folder}{path}"),
    };
    let exists = |path: &str| files.contains(format!("{folder}{path}").as_str());
    let mut targets = Vec::new();
    let library = manifest.get("lib").and_then(Value::as_table);
    if library.is_some() || exists("src/lib.rs") {
        let field = |field: &str| library.and_then(|it| it.get(field)).and_then(Value::as_str);
        let usual = name.replace('-', "_");
        let (lib, path) = (field("name").unwrap_or(&usual), field("path").unwrap_or("src/lib.rs"));
        targets.push(of("lib", lib, path));
    }
    for (kind, place, switch) in KINDS {
        let before = targets.len();
        let named = manifest.get(kind).and_then(Value::as_array).into_iter().flatten();
        for table in named.filter_map(Value::as_table) {
            let Some(target) = table.get("name").and_then(Value::as_str) else { continue };
            let main = || (kind == "bin").then(|| "src/main.rs".to_owned());
            let usual = [format!("{place}/{target}.rs"), format!("{place}/{target}/main.rs")];
            let found = usual.iter().cloned().chain(main()).find(|path| exists(path));
            let path = table.get("path").and_then(Value::as_str).or(found.as_deref());
            targets.push(of(kind, target, path.unwrap_or(&usual[0])));
        }
        if package.get(switch).and_then(Value::as_bool) == Some(false) {
            continue;
        }
        let mut found: Vec<(String, String)> = Vec::new();
        if kind == "bin" && exists("src/main.rs") {
            found.push((name.clone(), "src/main.rs".to_owned()));
        }
        let below = format!("{folder}{place}/");
        let inside = files.range(below.as_str()..).take_while(|path| path.starts_with(&below));
        for path in inside {
            let rest = path.strip_prefix(&below).unwrap_or(path);
            let target = rest.strip_suffix("/main.rs").or_else(|| rest.strip_suffix(".rs"));
            let target = target.filter(|target| !target.contains('/'));
            if let Some(target) = target.filter(|target| !target.is_empty()) {
                found.push((target.to_owned(), format!("{place}/{rest}")));
            }
        }
        for (target, path) in found {
            let (named, whole) =
                (targets.get(before..).unwrap_or_default(), format!("{folder}{path}"));
            if !named.iter().any(|it| it.name == target || it.path == whole) {
                targets.push(of(kind, &target, &path));
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
            .map(|it| (it.kind, it.name.as_str(), it.path.as_str()))
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
