//! Code graphs that are unusable, locked or too large.

use super::*;

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
        let error = graph.workspace.tools.now().describe_definition("one", None).unwrap_err();
        assert_eq!(error.code(), Code::CodeEngine);

        let auto = tools(&graph.workspace, EngineChoice::Auto);
        let words = auto.now().describe_definition("one", None).unwrap().unwrap();
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
    let now = graph.workspace.tools.now().until(&graph.workspace.stop);
    let error = now.describe_definition("one", None).unwrap_err();
    assert_eq!(error.code(), Code::Cancelled, "{error}");
}
