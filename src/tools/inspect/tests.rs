//! The answers of `inspect` about small workspaces.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::plan::{Code, ToolCall};
use crate::process::NoCapture;
use crate::risk::Policy;
use crate::workspace::Overlay;

struct Bench {
    folder: TempDir,
    tools: Toolbox,
}

impl Bench {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let tools = Toolbox::open(folder.path(), &Policy::default()).unwrap();
        Self { folder, tools }
    }

    fn ask(&self, query: InspectQuery, max_results: usize) -> Invocation {
        let call = ToolCall::Inspect { query, max_results };
        let preview = self.tools.preview(&call, Overlay::nothing()).unwrap();
        let (expected, stop) = (BTreeMap::new(), StopSignal::default());
        let context = Context {
            expected: &expected,
            stop: &stop,
            execution_id: Uuid::nil(),
            output: &|_, _| {},
            capture: &NoCapture,
            walls: crate::authorization::StepWalls::NONE,
        };
        let answer = self.tools.invoke(&call, &context);
        assert_eq!(preview.would_fail(), answer.error.is_some(), "{preview:?}");
        answer
    }

    fn tells(&self, query: InspectQuery, max_results: usize) -> Value {
        let answer = self.ask(query, max_results);
        assert!(answer.error.is_none(), "{:?}", answer.error);
        let told: Value = serde_json::from_slice(&answer.stdout.unwrap()).unwrap();
        if told.is_object() {
            assert_eq!(told, answer.result);
        }
        told
    }
}

const MANIFEST: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\n";

#[test]
fn overview_lists_languages_packages_and_entry_points() {
    let bench = Bench::with(&[
        ("Cargo.toml", MANIFEST),
        ("src/main.rs", "fn main() {}"),
        ("src/lib.rs", ""),
        ("tools/main.py", ""),
        ("tools/other.py", ""),
        ("notes.md", ""),
        (".gitignore", "target\n"),
        ("one/Cargo.toml", "[package]\nname = \"one\"\n"),
        ("one/src/lib.rs", ""),
    ]);
    let told = bench.tells(InspectQuery::Overview, 50);
    assert_eq!(told["files"], 8, "{told}");
    let languages = json!([
        { "language": "Rust", "files": 3 },
        { "language": "Python", "files": 2 }
    ]);
    assert_eq!(told["languages"], languages);
    assert_eq!(told["packages"][0]["name"], "app");
    assert_eq!(told["packages"][1]["manifest"], "one/Cargo.toml");
    let entries = json!([
        { "kind": "bin", "name": "app", "path": "src/main.rs" },
        { "kind": "file", "path": "tools/main.py" }
    ]);
    assert_eq!(told["entry_points"], entries);
    assert_eq!((&told["commands"], &told["left_out"]), (&Value::Null, &json!({})));
    assert!(!bench.folder.path().join("target").exists());

    let told = bench.tells(InspectQuery::Overview, 1);
    assert_eq!(told["packages"].as_array().unwrap().len(), 1);
    assert_eq!(told["left_out"], json!({ "packages": 1, "entry_points": 1 }));
}

#[test]
fn search_is_literal_and_counts_omitted_hits() {
    let bench = Bench::with(&[("a.txt", "x.y\nxzy\nx.y\nx.y\n"), ("b.txt", "x.y\n")]);
    let answer = bench.ask(InspectQuery::Search("x.y".to_owned()), 3);
    let told: Value = serde_json::from_slice(answer.stdout.as_ref().unwrap()).unwrap();
    let lines: Vec<_> = told.as_array().unwrap().iter().map(|hit| &hit["line"]).collect();
    assert_eq!(lines, [1, 3, 4]);
    assert_eq!((&answer.result["matches"], &answer.result["left_out"]), (&4.into(), &1.into()));
    assert_eq!(bench.tells(InspectQuery::Search("absent".to_owned()), 3), json!([]));
}

#[test]
fn symbol_query_lists_definitions_and_references() {
    let bench = Bench::with(&[
        ("a.rs", "pub fn f() {}\npub fn g() { f(); f() }\n"),
        ("b.py", "def f():\n    pass\n"),
        ("c.txt", "f"),
    ]);
    let told = bench.tells(InspectQuery::Symbol("f".to_owned()), 50);
    let files: Vec<_> =
        told["definitions"].as_array().unwrap().iter().map(|it| &it["file_path"]).collect();
    assert_eq!(files, ["a.rs", "b.py"]);
    assert_eq!(told["references"].as_array().unwrap().len(), 2, "{told}");
    assert_eq!(told["engine"]["name"], "embedded");
    let told = bench.tells(InspectQuery::Symbol("f".to_owned()), 1);
    assert_eq!(told["left_out"], json!({ "definitions": 1, "references": 1 }));
    let told = bench.tells(InspectQuery::Symbol("absent".to_owned()), 1);
    assert_eq!(told["definitions"], json!([]));
}

#[test]
fn semantic_query_needs_a_code_graph() {
    let bench = Bench::with(&[("a.rs", "")]);
    let answer = bench.ask(InspectQuery::Semantic, 5);
    let error = answer.error.unwrap();
    assert_eq!(error.code(), Code::NoCodegraph);
    assert!(!error.next().is_empty());
}
