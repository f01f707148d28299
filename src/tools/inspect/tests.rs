//! `inspect` on small workspaces.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::plan::{Code, ToolCall};
use crate::process::NoCapture;
use crate::risk::Policy;
use crate::run::StopSignal;
use crate::workspace::Overlay;

struct Fixture {
    folder: TempDir,
    tools: Toolbox,
}

impl Fixture {
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

    fn inspect(&self, query: InspectQuery, max_results: usize) -> CallResult {
        let call = ToolCall::Inspect { query, max_results };
        let preview = self.tools.preview(&call, Overlay::empty()).unwrap();
        let (expected, stop) = (BTreeMap::new(), StopSignal::default());
        let context = Context {
            expected: &expected,
            stop: &stop,
            execution_id: Uuid::nil(),
            output: &|_, _| {},
            capture: &NoCapture,
            walls: crate::authorization::StepWalls::NONE,
            terminal: None,
        };
        let answer = self.tools.invoke(&call, &context);
        assert_eq!(preview.would_fail(), answer.error.is_some(), "{preview:?}");
        answer
    }

    /// The output of a call that succeeds. An object is also the return value.
    fn output(&self, query: InspectQuery, max_results: usize) -> Value {
        let answer = self.inspect(query, max_results);
        assert!(answer.error.is_none(), "{:?}", answer.error);
        let output: Value = serde_json::from_slice(&answer.stdout.unwrap()).unwrap();
        if output.is_object() {
            assert_eq!(output, answer.result);
        }
        output
    }
}

const MANIFEST: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\n";

#[test]
fn overview_lists_languages_packages_and_entry_points() {
    let fixture = Fixture::with(&[
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
    let output = fixture.output(InspectQuery::Overview, 50);
    assert_eq!(output["files"], 8, "{output}");
    let languages = json!([
        { "language": "Rust", "files": 3 },
        { "language": "Python", "files": 2 }
    ]);
    assert_eq!(output["languages"], languages);
    assert_eq!(output["packages"][0]["name"], "app");
    assert_eq!(output["packages"][1]["manifest"], "one/Cargo.toml");
    let entries = json!([
        { "kind": "bin", "name": "app", "path": "src/main.rs" },
        { "kind": "file", "path": "tools/main.py" }
    ]);
    assert_eq!(output["entry_points"], entries);
    assert_eq!((&output["commands"], &output["left_out"]), (&Value::Null, &json!({})));
    assert!(!fixture.folder.path().join("target").exists());

    let output = fixture.output(InspectQuery::Overview, 1);
    assert_eq!(output["packages"].as_array().unwrap().len(), 1);
    assert_eq!(output["left_out"], json!({ "packages": 1, "entry_points": 1 }));
}

#[test]
fn search_is_literal_and_counts_omitted_hits() {
    let fixture = Fixture::with(&[("a.txt", "x.y\nxzy\nx.y\nx.y\n"), ("b.txt", "x.y\n")]);
    let answer = fixture.inspect(InspectQuery::Search("x.y".to_owned()), 3);
    let output: Value = serde_json::from_slice(answer.stdout.as_ref().unwrap()).unwrap();
    let lines: Vec<_> = output.as_array().unwrap().iter().map(|hit| &hit["line"]).collect();
    assert_eq!(lines, [1, 3, 4]);
    assert_eq!((&answer.result["matches"], &answer.result["left_out"]), (&4.into(), &1.into()));
    assert_eq!(fixture.output(InspectQuery::Search("absent".to_owned()), 3), json!([]));
}

#[test]
fn symbol_query_lists_definitions_and_references() {
    let fixture = Fixture::with(&[
        ("a.rs", "pub fn f() {}\npub fn g() { f(); f() }\n"),
        ("b.py", "def f():\n    pass\n"),
        ("c.txt", "f"),
    ]);
    let output = fixture.output(InspectQuery::Symbol("f".to_owned()), 50);
    let files: Vec<_> =
        output["definitions"].as_array().unwrap().iter().map(|it| &it["file_path"]).collect();
    assert_eq!(files, ["a.rs", "b.py"]);
    assert_eq!(output["references"].as_array().unwrap().len(), 2, "{output}");
    assert_eq!(output["engine"]["name"], "embedded");
    let output = fixture.output(InspectQuery::Symbol("f".to_owned()), 1);
    assert_eq!(output["left_out"], json!({ "definitions": 1, "references": 1 }));
    let output = fixture.output(InspectQuery::Symbol("absent".to_owned()), 1);
    assert_eq!(output["definitions"], json!([]));
}

#[test]
fn semantic_query_needs_a_code_graph() {
    let fixture = Fixture::with(&[("a.rs", "")]);
    let answer = fixture.inspect(InspectQuery::Semantic, 5);
    let error = answer.error.unwrap();
    assert_eq!(error.code(), Code::NoCodegraph);
    assert!(!error.next().is_empty());
}
