//! Symbols, references and replaced definitions on a real folder, with the embedded engine.

mod splices;

use serde_json::Value;

use super::*;
use crate::run::{EdgeType, Predicted, TargetKind};

const LIB: &str = "mod other;\n/// Old.\n#[inline]\npub fn old_function(n: u32) -> u32 {\n    n + 1\n}\n\npub struct Thing;\n\nimpl Thing {\n    pub fn new() -> u32 {\n        old_function(1)\n    }\n}\n\npub struct Other;\n\nimpl Other {\n    pub fn new() -> u32 {\n        2\n    }\n}\n";
const FIX: &str = "pub fn old_function(n: u32) -> u32 {\n    n + 2\n}\n";

fn project() -> TestWorkspace {
    let workspace = test_workspace();
    workspace.put("src/lib.rs", LIB);
    workspace
        .put("src/other.rs", "use crate::old_function;\nfn f() -> u32 {\n    old_function(3)\n}\n");
    workspace.put("py/a.py", "def old_function():\n    return 1\n\n\nold_function()\n");
    workspace.put("notes.txt", "old_function\n");
    workspace.put("patches/fix.rs", FIX);
    workspace
}

fn symbols(path: &str) -> ToolCall {
    ToolCall::SymbolsInFile { file_path: path.to_owned() }
}

fn references(symbol: &str) -> ToolCall {
    ToolCall::ReferencesToSymbolName { symbol: symbol.to_owned() }
}

fn references_from(path: &str, symbol: &str) -> ToolCall {
    ToolCall::ReferencesFromFileToSymbolName {
        file_path: path.to_owned(),
        symbol: symbol.to_owned(),
    }
}

fn patch(file: &str, symbol: &str, with: &str) -> ToolCall {
    patch_of(file, symbol, with, None)
}

fn patch_of(file: &str, symbol: &str, with: &str, kind: Option<&str>) -> ToolCall {
    ToolCall::SplicePatch {
        file: file.to_owned(),
        symbol: symbol.to_owned(),
        with: with.to_owned(),
        kind: kind.map(ToOwned::to_owned),
    }
}

fn plan(path: &str) -> ToolCall {
    ToolCall::SplicePlan { plan_file: path.to_owned() }
}

fn rows(call_result: &CallResult) -> Vec<Value> {
    serde_json::from_slice(call_result.stdout.as_ref().unwrap()).unwrap()
}

fn places(call_result: &CallResult) -> Vec<String> {
    let place = |row: &Value| format!("{}:{}:{}", row["file_path"], row["line"], row["column"]);
    rows(call_result).iter().map(|row| place(row).replace('"', "")).collect()
}

#[test]
fn symbols_are_listed_in_file_order() {
    let workspace = project();
    let call_result = workspace.succeeds(&symbols("src/lib.rs"));
    let rows = rows(&call_result);
    let names: Vec<_> = rows.iter().map(|row| row["fqn"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["other", "old_function", "Thing", "Thing", "Thing::new", "Other", "Other", "Other::new"]
    );
    let start = LIB.find("pub fn old").unwrap();
    let expected = serde_json::json!({
        "name": "old_function", "kind": "function", "fqn": "old_function",
        "file_path": "src/lib.rs", "start_line": 4, "start_col": 0, "end_line": 6, "end_col": 1,
        "byte_start": start, "byte_end": start + FIX.len() - 1,
    });
    assert_eq!(rows[1], expected);
    assert_eq!(call_result.result["engine"]["name"], "embedded");
    assert_eq!(call_result.result["engine"]["version"], crate::code::PARSER_VERSION);
    assert_eq!(call_result.result["symbols"], 8);
}

#[test]
fn references_are_sorted_by_file_and_place() {
    let workspace = project();
    let call_result = workspace.succeeds(&references("old_function"));
    assert_eq!(
        places(&call_result),
        ["py/a.py:5:0", "src/lib.rs:12:8", "src/other.rs:1:11", "src/other.rs:3:4"]
    );
    let row = &rows(&call_result)[1];
    assert_eq!(row["from_symbol"], "Thing::new");
    assert_eq!(row["symbol"], "old_function");
    let start = LIB.find("old_function(1)").unwrap();
    assert_eq!([&row["byte_start"], &row["byte_end"]], [start, start + "old_function".len()]);
    assert!(rows(&call_result)[0].get("from_symbol").is_none(), "nothing is around it");
    let referenced = |edge: &&Edge| edge.edge_type == EdgeType::Referenced;
    let mut targets: Vec<_> =
        call_result.edges.iter().filter(referenced).map(|edge| edge.target.as_str()).collect();
    targets.sort_unstable();
    assert_eq!(targets, ["old_function", "py/a.py", "src/lib.rs", "src/other.rs"]);

    let one = workspace.succeeds(&references_from("src/other.rs", "old_function"));
    assert_eq!(places(&one), ["src/other.rs:1:11", "src/other.rs:3:4"]);
    for nothing in [references("nowhere"), references_from("src/lib.rs", "nowhere")] {
        let call_result = workspace.succeeds(&nothing);
        assert_eq!(call_result.stdout.as_deref(), Some(&b"[]"[..]), "an answer and no failure");
        assert_eq!(call_result.result["matches"], 0);
    }
}

#[test]
fn references_skip_ignored_and_name_unreadable_files() {
    let workspace = project();
    workspace.put(".hidden.rs", "fn f() { old_function(1) }");
    workspace.put(".ignore", "vendor\n");
    workspace.put("vendor/v.rs", "fn f() { old_function(1) }");
    workspace.put("latin.rs", b"// \xe9\nfn f() { old_function(1) }");
    let call_result = workspace.succeeds(&references("old_function"));
    assert_eq!(places(&call_result).len(), 4);
    let problem = "latin.rs cannot be read as code: it is not UTF-8 text";
    assert_eq!(call_result.result["problems"], serde_json::json!([problem]));
}

#[test]
fn unreadable_source_files_are_reported() {
    let workspace = project();
    workspace.put("latin.rs", b"// \xe9\n");
    for (call, code, part) in [
        (symbols("notes.txt"), Code::CodeEngine, "no grammar is there"),
        (references_from("notes.txt", "x"), Code::CodeEngine, "no grammar is there"),
        (symbols("latin.rs"), Code::CodeEngine, "is not UTF-8"),
        (symbols("absent.rs"), Code::ReadFailed, "does not exist"),
        (symbols("src"), Code::ReadFailed, "is a folder"),
        (symbols("../outside/secret"), Code::OutsideWorkspace, "outside the workspace"),
        (patch("notes.txt", "x", "patches/fix.rs"), Code::CodeEngine, "no grammar is there"),
    ] {
        let (found, message) = workspace.fails(&call);
        assert_eq!(found, code, "{message}");
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn stop_prevents_every_code_tool() {
    let workspace = project();
    workspace.stop.set();
    for call in [
        symbols("src/lib.rs"),
        references("old_function"),
        references_from("src/lib.rs", "old_function"),
        patch("src/lib.rs", "old_function", "patches/fix.rs"),
    ] {
        assert_eq!(workspace.fails(&call).0, Code::Cancelled);
    }
}

#[test]
fn symbol_is_found_in_file_or_workspace() {
    let workspace = project();
    let found = |symbol: &str, file: Option<&str>| {
        workspace.tools.now().describe_definition(symbol, file).unwrap()
    };
    let words = found("old_function", Some("src/lib.rs")).unwrap();
    assert!(
        words.starts_with("old_function is in src/lib.rs, line 4, says the embedded"),
        "{words}"
    );
    assert_eq!(found("old_function", Some("src/other.rs")), None);
    assert!(
        found("old_function", None)
            .unwrap()
            .starts_with("old_function is in patches/fix.rs, line 1")
    );
    assert!(found("Thing::new", None).unwrap().contains("src/lib.rs, line 11"));
    assert_eq!(found("Nothing::new", None), None);
    let error = workspace.tools.now().describe_definition("x", Some("notes.txt")).unwrap_err();
    assert_eq!(error.code(), Code::CodeEngine);
    let error = workspace.tools.describe_indexed_file("src/lib.rs").unwrap_err();
    assert_eq!(error.code(), Code::NoCodegraph);
}

#[test]
fn grammar_version_is_that_of_the_manifest() {
    let manifest = include_str!("../../../Cargo.toml");
    let version = crate::code::PARSER_VERSION.strip_prefix("tree-sitter ").unwrap();
    assert!(manifest.contains(&format!("\ntree-sitter = \"{version}\"\n")));
}

#[test]
fn oversized_source_file_is_named_but_unread() {
    let workspace = project();
    workspace.put("large.rs", "");
    // The file has zeros and not the symbol's name, so it is reported for its size alone.
    let file = fs::OpenOptions::new().write(true).open(workspace.path("large.rs")).unwrap();
    file.set_len(crate::code::MAX_SOURCE_BYTES as u64 + 1).unwrap();
    let call_result = workspace.succeeds(&references("old_function"));
    assert_eq!(places(&call_result).len(), 4);
    let problem = call_result.result["problems"][0].as_str().unwrap();
    assert!(problem.starts_with("large.rs: it has 33554433 bytes"), "{problem}");
    for call in [symbols("large.rs"), patch("large.rs", "x", "patches/fix.rs")] {
        let (code, message) = workspace.fails(&call);
        assert_eq!(code, Code::CodeEngine, "{message}");
        assert!(message.contains("the engine reads at most 33554432"), "{message}");
    }
}

#[test]
fn stop_ends_lookups_and_previews() {
    let workspace = project();
    workspace.stop.set();
    let now = workspace.tools.now().until(&workspace.stop);
    for file in [None, Some("src/lib.rs")] {
        let error = now.describe_definition("old_function", file).unwrap_err();
        assert_eq!(error.code(), Code::Cancelled, "{error}");
    }
    let call = patch("src/lib.rs", "old_function", "patches/fix.rs");
    let (preview, files) = workspace.tools.preview_with_effects(&call, &workspace.stop).unwrap();
    assert!(preview.would_fail() && preview.summary.contains("stopped"), "{}", preview.summary);
    assert!(files.is_empty());
}
