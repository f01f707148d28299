//! `inspect` on small workspaces.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::plan::{Code, ToolCall};
use crate::process::NoCapture;
use crate::risk::{EngineChoice, Policy};
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

// The rows are sorted by use, and what several definitions may mean is counted apart.
#[test]
fn semantic_query_without_a_graph_reads_the_files() {
    let fixture = Fixture::with(&[
        ("a.rs", "pub struct A;\nimpl A { pub fn new() -> A { A } }\npub fn same() {}\n"),
        (
            "b.rs",
            "fn main() {\n    A::new();\n    Vec::<u8>::new();\n    wade();\n    wade();\n    same();\n}\nfn wade() { log!(1); }\n",
        ),
        ("c.rs", "pub fn same() {}\n"),
        ("d.py", "class Bird:\n    def fly(self):\n        wade()\n\nBird().fly()\n"),
        ("e.rs", ""),
        ("notes.txt", "wade()"),
    ]);
    let output = fixture.output(InspectQuery::Semantic, 50);
    assert_eq!(output["engine"]["name"], "embedded");
    assert_eq!(output["entities"]["File"], 5, "{output:#}");
    let calls: Vec<_> = output["calls"].as_array().unwrap().iter().map(call).collect();
    assert_eq!(
        calls,
        [
            "main in b.rs calls wade in b.rs: 2",
            "main in b.rs calls A::new in a.rs: 1",
            "null in d.py calls Bird in d.py: 1",
            "null in d.py calls Bird.fly in d.py: 1",
        ],
        "{output:#}"
    );
    assert_eq!(output["ambiguous"], json!({ "references": 1, "calls": 1 }));
    let used = |name: &str| {
        let all = output["symbols"].as_array().unwrap();
        let rows = all.iter().filter(|row| row["name"] == name);
        rows.map(|row| (row["references"].clone(), row["ambiguous"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(used("wade"), [(json!(2), json!(0))], "the one of Python is another name");
    assert_eq!(used("same"), [(json!(0), json!(1)), (json!(0), json!(1))]);
    assert_eq!(output, fixture.output(InspectQuery::Semantic, 50));

    let output = fixture.output(InspectQuery::Semantic, 1);
    assert_eq!(output["symbols"].as_array().unwrap().len(), 1);
    assert_eq!(call(&output["calls"][0]), "main in b.rs calls wade in b.rs: 2");
    assert_eq!(output["left_out"]["calls"], 3);
}

fn call(row: &Value) -> String {
    let text = |field: &str| row[field].as_str().unwrap_or("null").to_owned();
    let [from, from_file, to, to_file] = ["from", "from_file", "to", "to_file"].map(text);
    format!("{from} in {from_file} calls {to} in {to_file}: {}", row["calls"])
}

#[test]
fn files_without_code_are_problems_of_the_semantic_query() {
    let fixture = Fixture::with(&[("a.rs", "fn f() {}\n")]);
    fs::write(fixture.folder.path().join("b.rs"), b"fn g() { \"\xff\" }\n").unwrap();
    let output = fixture.output(InspectQuery::Semantic, 5);
    assert_eq!(output["entities"]["File"], 1);
    let problems = output["problems"].as_array().unwrap();
    assert!(problems[0].as_str().unwrap().contains("b.rs"), "{problems:?}");
}

#[test]
fn semantic_query_of_the_external_engine_needs_a_graph() {
    let mut fixture = Fixture::with(&[("a.rs", "")]);
    let policy = Policy { engine: EngineChoice::External, ..Policy::default() };
    fixture.tools = Toolbox::open(fixture.folder.path(), &policy).unwrap();
    let error = fixture.inspect(InspectQuery::Semantic, 5).error.unwrap();
    assert_eq!(error.code(), Code::NoCodegraph);
    assert!(!error.next().is_empty());
}
