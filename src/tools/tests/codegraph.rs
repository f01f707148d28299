//! A code graph in the format of magellan, and every way in which one can be unusable. Other tests run the
//! real magellan.

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
    let words = tools
        .now()
        .describe_definition("two", Some("src/lib.rs"), &StopSignal::default())
        .unwrap()
        .unwrap();
    assert_eq!(words, "two is in src/lib.rs, line 5, says magellan 4.17.0");
    assert!(
        tools.now().describe_definition("two", None, &StopSignal::default()).unwrap().is_some()
    );
    assert_eq!(
        tools.now().describe_definition("three", None, &StopSignal::default()).unwrap(),
        None
    );
    assert_eq!(
        tools.now().describe_definition("Type::two", None, &StopSignal::default()).unwrap(),
        None
    );
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

// With the setting `auto` the embedded engine is used then, and a note gives the reason.
#[test]
fn unusable_graph_is_reported() {
    let graph = Graph::new(EngineChoice::External);
    let (code, message) = graph.workspace.fails(&symbols());
    assert_eq!(
        (code, &*message),
        (Code::NoCodegraph, "there is no codegraph.db in the workspace or above it")
    );
    let other_schema = {
        graph.connection().execute_batch("CREATE TABLE notes (id INTEGER)").unwrap();
        fs::read(graph.path()).unwrap()
    };
    fs::remove_file(graph.path()).unwrap();
    let older = {
        let schema = SCHEMA.replace("file_path TEXT,", "path TEXT,");
        graph.connection().execute_batch(&schema).unwrap();
        fs::read(graph.path()).unwrap()
    };
    fs::remove_file(graph.path()).unwrap();
    let view = {
        let schema = SCHEMA.replace("TABLE graph_entities", "TABLE other")
            + "CREATE VIEW graph_entities AS SELECT * FROM other;";
        graph.connection().execute_batch(&schema).unwrap();
        fs::read(graph.path()).unwrap()
    };
    let good = fs::read(Graph::written(EngineChoice::External).path()).unwrap();
    let mut torn = good.clone();
    torn.truncate(good.len() / 2);
    let one_short = good[..good.len() - 1].to_vec();
    let mut scribbled = good.clone();
    scribbled[100..4096].fill(0x5a);
    for (bytes, part) in [
        (Vec::new(), "it is empty"),
        (b"short".to_vec(), "it is no SQLite database"),
        (vec![b'x'; 8192], "it is no SQLite database"),
        (
            other_schema,
            "it is no code graph that this engine knows: there is no table graph_entities",
        ),
        (older, "it is no code graph that this engine knows: no such column: n.file_path"),
        (view, "it is no code graph that this engine knows: there is no table graph_entities"),
        (torn, "it is malformed: "),
        (one_short, "it is malformed: "),
        (scribbled, "malformed"),
    ] {
        graph.workspace.put("codegraph.db", &bytes);
        for call in [symbols(), references("one")] {
            let (code, message) = graph.workspace.fails(&call);
            assert_eq!(code, Code::CodeEngine, "{message}");
            assert!(message.contains("codegraph.db cannot be used: "), "{message}");
            assert!(message.contains(part), "{message}");
        }
        let preview = graph.workspace.tools.preview(&symbols(), &Overlay::default()).unwrap();
        assert!(preview.would_fail(), "{}", preview.summary);
        let error = graph
            .workspace
            .tools
            .now()
            .describe_definition("one", None, &StopSignal::default())
            .unwrap_err();
        assert_eq!(error.code(), Code::CodeEngine);

        let auto = tools(&graph.workspace, EngineChoice::Auto);
        let words =
            auto.now().describe_definition("one", None, &StopSignal::default()).unwrap().unwrap();
        assert!(words.ends_with("says the embedded engine, tree-sitter 0.27"), "{words}");
        let preview = auto.preview(&symbols(), &Overlay::default()).unwrap();
        let note = &preview.notes[1];
        assert!(note.starts_with("The embedded engine is used, because "), "{note}");
        assert!(note.contains(part), "{note}");
    }
}

#[test]
fn malformed_graph_row_is_reported() {
    let graph = Graph::written(EngineChoice::External);
    let spoil = "UPDATE graph_entities SET data = '{' WHERE kind = 'Symbol'";
    assert_eq!(graph.connection().execute(spoil, []).unwrap(), 2);
    let (code, message) = graph.workspace.fails(&symbols());
    assert_eq!(code, Code::CodeEngine);
    assert!(message.contains("EOF while parsing"), "{message}");
}

// The engine waits for the lock only briefly.
#[test]
fn locked_graph_is_reported_until_unlocked() {
    let graph = Graph::new(EngineChoice::External);
    let writer = graph.connection();
    writer.execute_batch(SCHEMA).unwrap();
    graph.fill(&writer);
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let (code, message) = graph.workspace.fails(&symbols());
    assert_eq!(code, Code::CodeEngine);
    assert!(message.ends_with("database is locked"), "{message}");
    writer.execute_batch("COMMIT").unwrap();
    graph.workspace.succeeds(&symbols());
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
fn graph_answers_have_a_row_limit() {
    let graph = Graph::written(EngineChoice::External);
    let connection = graph.connection();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500001)
               INSERT INTO graph_entities (kind, name, file_path, data)
               SELECT 'Reference', 'ref to many', 'src/lib.rs', '{\"byte_start\":1,\"byte_end\":2,\"start_line\":1,\"start_col\":1,\"end_line\":1,\"end_col\":2}' FROM n";
    connection.execute(sql, []).unwrap();
    connection.close().unwrap();
    let call = ToolCall::ReferencesToSymbolName { symbol: "many".to_owned() };
    let (code, message) = graph.workspace.fails(&call);
    assert_eq!(code, Code::CodeEngine);
    assert!(message.contains("it answers with more than 500000 rows"), "{message}");
}

#[test]
fn stop_ends_a_code_graph_query() {
    let graph = Graph::written(EngineChoice::External);
    graph.workspace.stop.set();
    let now = graph.workspace.tools.now();
    let error = now.describe_definition("one", None, &graph.workspace.stop).unwrap_err();
    assert_eq!(error.code(), Code::Cancelled, "{error}");
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
