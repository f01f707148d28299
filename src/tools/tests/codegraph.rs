//! A code graph in the format of magellan, and every way in which one can be unusable. Other tests run the
//! real magellan.

mod faults;

use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use serde_json::{Value, json};

use super::*;
use crate::risk::EngineChoice;

const LIB: &str =
    "pub fn one() -> u32 {\n    1\n}\n\npub fn two() -> u32 {\n    one() + one()\n}\n";

const SCHEMA: &str = "
    CREATE TABLE graph_entities (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL,
        file_path TEXT, data TEXT NOT NULL);
    CREATE TABLE graph_edges (id INTEGER PRIMARY KEY, from_id INTEGER NOT NULL,
        to_id INTEGER NOT NULL, edge_type TEXT NOT NULL, data TEXT NOT NULL);
    CREATE TABLE magellan_meta (id INTEGER PRIMARY KEY, magellan_schema_version INTEGER NOT NULL,
        index_root TEXT);
    CREATE TABLE execution_log (id INTEGER PRIMARY KEY, tool_version TEXT NOT NULL);
    INSERT INTO execution_log (tool_version) VALUES ('4.0.0'), ('4.17.0');";

/// A workspace with `src/lib.rs` and a code graph of it.
struct Graph {
    workspace: TestWorkspace,
}

impl Graph {
    fn new(engine: EngineChoice) -> Self {
        let mut workspace = test_workspace();
        workspace.put("src/lib.rs", LIB);
        workspace.tools = tools(&workspace, engine);
        Self { workspace }
    }

    /// As [`Self::new`], with a valid graph.
    fn written(engine: EngineChoice) -> Self {
        let graph = Self::new(engine);
        let connection = graph.connection();
        connection.pragma_update(None, "journal_mode", "wal").unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        graph.fill(&connection);
        connection.close().unwrap();
        graph
    }

    fn path(&self) -> PathBuf {
        self.workspace.path("codegraph.db")
    }

    #[expect(clippy::disallowed_methods, reason = "another program's database, made by the test")]
    fn connection(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    fn fill(&self, connection: &Connection) {
        let root = self.workspace.tools.workspace().to_str().unwrap().to_owned();
        let file = format!("{root}/src/lib.rs");
        let sql = "INSERT INTO magellan_meta (magellan_schema_version, index_root) VALUES (21, ?1)";
        connection.execute(sql, [&root]).unwrap();
        let entity = |kind: &str, name: &str, file: &str, data: Value| {
            let sql =
                "INSERT INTO graph_entities (kind, name, file_path, data) VALUES (?1, ?2, ?3, ?4)";
            connection.execute(sql, [kind, name, file, &data.to_string()]).unwrap();
            connection.last_insert_rowid()
        };
        let place = |start: usize, end: usize, line: usize, last: usize, col: usize| {
            json!({ "byte_start": start, "byte_end": end, "start_line": line, "start_col": col,
                "end_line": last, "end_col": 1 })
        };
        let symbol = |name: &str, place: Value| {
            // Both spellings of a path occur in real graphs.
            let file = if name == "one" { "./src/lib.rs" } else { &file };
            let mut data = place;
            data["kind"] = "Function".into();
            data["kind_normalized"] = "fn".into();
            data["fqn"] = name.into();
            entity("Symbol", name, file, data)
        };
        let modified = fs::metadata(&file).unwrap().modified().unwrap();
        let seconds = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        entity("File", "src/lib.rs", "src/lib.rs", json!({ "last_modified": seconds }));
        let two = symbol("two", place(31, 72, 5, 7, 0));
        let one = symbol("one", place(0, 29, 1, 3, 0));
        assert!(two < one, "the order of the rows is not that of the text");
        let outside = format!("{root}/../outside/secret");
        for (file, place) in [
            (&file, place(65, 68, 6, 6, 12)),
            (&file, place(57, 60, 6, 6, 4)),
            (&outside, place(1, 4, 1, 1, 0)),
        ] {
            let reference = entity("Reference", "ref to one", file, place);
            let sql = "INSERT INTO graph_edges (from_id, to_id, edge_type, data)
                       VALUES (?1, ?2, 'REFERENCES', '{}')";
            connection.execute(sql, [reference, one]).unwrap();
        }
    }

    /// Sets the modification time of the graph, in seconds after that of the source.
    fn written_after(&self, seconds: i64) {
        written_after(&self.workspace, seconds);
    }
}

fn written_after(workspace: &TestWorkspace, seconds: i64) {
    let source = fs::metadata(workspace.path("src/lib.rs")).unwrap().modified().unwrap();
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let time = if seconds < 0 { source - distance } else { source + distance };
    let file = fs::File::options().write(true).open(workspace.path("codegraph.db")).unwrap();
    file.set_modified(time).unwrap();
}

fn tools(workspace: &TestWorkspace, engine: EngineChoice) -> Toolbox {
    let policy = Policy { engine, ..Policy::default() };
    Toolbox::open(workspace.tools.workspace(), &policy).unwrap()
}

fn symbols() -> ToolCall {
    ToolCall::SymbolsInFile { file_path: "src/lib.rs".to_owned() }
}

fn references(symbol: &str) -> ToolCall {
    ToolCall::ReferencesToSymbolName { symbol: symbol.to_owned() }
}

fn rows(call_result: &CallResult) -> Vec<Value> {
    serde_json::from_slice(call_result.stdout.as_ref().unwrap()).unwrap()
}

#[test]
fn graph_rows_equal_those_of_embedded_engine() {
    let graph = Graph::written(EngineChoice::External);
    let embedded = tools(&graph.workspace, EngineChoice::Embedded);
    let calls = [
        symbols(),
        references("one"),
        ToolCall::ReferencesFromFileToSymbolName {
            file_path: "src/lib.rs".to_owned(),
            symbol: "one".to_owned(),
        },
    ];
    for call in calls {
        let external = graph.workspace.succeeds(&call);
        assert_eq!(external.result["engine"], json!({ "name": "magellan", "version": "4.17.0" }));
        let embedded = embedded.invoke(
            &call,
            &Context {
                expected: &BTreeMap::new(),
                stop: &graph.workspace.stop,
                capture: &NoCapture,
                walls: crate::authorization::StepWalls::NONE,
                terminal: None,
                execution_id: Uuid::nil(),
                output: &|_, _| {},
            },
        );
        let mut expected = rows(&embedded);
        // The engines may report different ends of a definition; the last column in this graph is invented.
        expected.iter_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("end_col")));
        let mut found = rows(&external);
        found.iter_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("end_col")));
        assert_eq!(found, expected);
    }
    let names = graph.workspace.names();
    assert_eq!(names, ["codegraph.db", "src", "src/lib.rs"], "reading leaves nothing beside it");
}

#[test]
fn graph_finds_symbols_and_indexed_files() {
    let graph = Graph::written(EngineChoice::External);
    let tools = &graph.workspace.tools;
    let words = tools.now().describe_definition("two", Some("src/lib.rs")).unwrap().unwrap();
    assert_eq!(words, "two is in src/lib.rs, line 5, says magellan 4.17.0");
    assert!(tools.now().describe_definition("two", None).unwrap().is_some());
    assert_eq!(tools.now().describe_definition("three", None).unwrap(), None);
    assert_eq!(tools.now().describe_definition("Type::two", None).unwrap(), None);
    let words = tools.describe_indexed_file("src/lib.rs").unwrap().unwrap();
    assert!(words.ends_with("codegraph.db has src/lib.rs"), "{words}");
    assert_eq!(tools.describe_indexed_file("src/new.rs").unwrap(), None);
    graph.workspace.put("src/new.rs", "fn f() {}");
    let call = ToolCall::SymbolsInFile { file_path: "src/new.rs".to_owned() };
    let (code, message) = graph.workspace.fails(&call);
    assert_eq!(code, Code::CodeEngine);
    assert!(message.ends_with("codegraph.db does not know src/new.rs"), "{message}");

    let now = fs::metadata(graph.workspace.path("src/lib.rs")).unwrap().modified().unwrap();
    let old = now - Duration::from_secs(5_000);
    let file = fs::File::options().write(true).open(graph.workspace.path("src/lib.rs")).unwrap();
    file.set_modified(old).unwrap();
    let words = tools.describe_indexed_file("src/lib.rs").unwrap().unwrap();
    assert!(words.ends_with("and it has changed since"), "{words}");
    let call_result = graph.workspace.succeeds(&symbols());
    let remark = call_result.result["engine"]["remarks"][0].as_str().unwrap();
    assert!(remark.starts_with("src/lib.rs has changed since "), "{remark}");
}

#[test]
fn only_committed_graph_rows_are_read() {
    let graph = Graph::written(EngineChoice::External);
    let writer = graph.connection();
    let count = |graph: &Graph| rows(&graph.workspace.succeeds(&symbols())).len();
    writer.execute_batch("DELETE FROM graph_entities WHERE name = 'two'").unwrap();
    assert!(graph.workspace.path("codegraph.db-wal").exists(), "it is in the log alone");
    assert_eq!(count(&graph), 1);
    writer.execute_batch("BEGIN; DELETE FROM graph_entities WHERE name = 'one'").unwrap();
    assert_eq!(count(&graph), 1);
    writer.execute_batch("COMMIT").unwrap();
    assert_eq!(count(&graph), 0);
}

#[test]
fn auto_ignores_a_graph_older_than_sources() {
    let graph = Graph::written(EngineChoice::Auto);
    let engine = |graph: &Graph| graph.workspace.succeeds(&symbols()).result["engine"].clone();
    assert_eq!(engine(&graph)["name"], "magellan");
    assert_eq!(engine(&graph).get("remarks"), None);

    graph.written_after(-1_000);
    assert_eq!(engine(&graph)["name"], "embedded");
    let remark = engine(&graph)["remarks"][0].as_str().unwrap().to_owned();
    assert!(remark.ends_with("codegraph.db is older than src/lib.rs."), "{remark}");

    graph.written_after(1_000);
    assert_eq!(engine(&graph)["name"], "magellan");
    let mut overlay = Overlay::default();
    graph.workspace.tools.project(&write("src/lib.rs", "fn f() {}"), &mut overlay).unwrap();
    let preview = graph.workspace.tools.preview(&symbols(), &overlay).unwrap();
    assert!(
        preview.notes[1].contains("older than the changes of earlier steps"),
        "{:?}",
        preview.notes
    );

    fs::remove_file(graph.path()).unwrap();
    assert_eq!(
        engine(&graph),
        json!({ "name": "embedded", "version": crate::code::PARSER_VERSION })
    );
}

#[test]
fn graph_in_a_parent_folder_omits_outside_files() {
    let graph = Graph::written(EngineChoice::External);
    let above = graph.workspace.folder.path().join("codegraph.db");
    fs::rename(graph.path(), above).unwrap();
    let call_result = graph.workspace.succeeds(&references("one"));
    assert_eq!(rows(&call_result).len(), 2, "the file outside is left out");
}

#[test]
fn without_splice_the_external_engine_replaces_nothing() {
    let graph = Graph::written(EngineChoice::External);
    let program = graph.workspace.path("bin/splice");
    let policy = Policy {
        engine: EngineChoice::External,
        splice_program: Some(program.clone()),
        ..Policy::default()
    };
    let mut workspace = graph.workspace;
    workspace.tools = Toolbox::open(workspace.tools.workspace(), &policy).unwrap();
    workspace.put("one.rs", "pub fn one() -> u32 {\n    2\n}\n");
    let call = ToolCall::SplicePatch {
        file: "src/lib.rs".to_owned(),
        symbol: "one".to_owned(),
        with: "one.rs".to_owned(),
        kind: None,
    };
    let (code, message) = workspace.fails(&call);
    assert_eq!(code, Code::Splice);
    assert_eq!(message, format!("the program splice was not found at {}", program.display()));
    assert_eq!(workspace.content("src/lib.rs"), LIB.as_bytes());
    let preview = workspace.tools.preview(&call, &Overlay::default()).unwrap();
    assert!(preview.would_fail(), "{}", preview.summary);

    let auto = Policy { engine: EngineChoice::Auto, ..policy };
    workspace.tools = Toolbox::open(workspace.tools.workspace(), &auto).unwrap();
    written_after(&workspace, 1_000);
    let preview = workspace.tools.preview(&call, &Overlay::default()).unwrap();
    let note = preview.notes.iter().find(|note| note.contains("was not found")).unwrap();
    assert!(note.starts_with("The embedded engine is used, because "), "{note}");
    let call_result = workspace.succeeds(&call);
    assert_eq!(call_result.result["engine"]["name"], "embedded");
    assert_eq!(workspace.content("src/lib.rs"), LIB.replace("    1\n", "    2\n").as_bytes());
}

#[test]
fn inspection_summarizes_the_graph_without_outside_files() {
    use crate::plan::InspectQuery;
    let graph = Graph::written(EngineChoice::External);
    let inspect = |query: InspectQuery, max_results| {
        let answer = graph.workspace.succeeds(&ToolCall::Inspect { query, max_results });
        serde_json::from_slice::<Value>(&answer.stdout.unwrap()).unwrap()
    };
    let output = inspect(InspectQuery::Semantic, 1);
    assert_eq!(output["entities"], json!({ "File": 1, "Reference": 3, "Symbol": 2 }));
    assert_eq!(output["engine"]["name"], "magellan");
    assert_eq!(output["edges"], json!({ "REFERENCES": 3 }));
    assert_eq!((&output["version"], &output["left_out"]["symbols"]), (&json!("4.17.0"), &json!(1)));
    let most = &output["symbols"][0];
    assert_eq!((&most["name"], &most["references"]), (&json!("one"), &json!(3)));
    assert_eq!((&most["file_path"], &most["line"]), (&json!("src/lib.rs"), &json!(1)));

    let output = inspect(InspectQuery::Symbol("one".to_owned()), 5);
    assert_eq!(output["definitions"].as_array().unwrap().len(), 1);
    assert_eq!(output["references"].as_array().unwrap().len(), 2, "{output}");
    assert_eq!(output["engine"]["name"], "magellan");
}
