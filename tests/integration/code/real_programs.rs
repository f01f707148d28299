//! Tests with the real `magellan` and `splice`, which `packaging/test.sh` installs. They fail where these
//! programs are missing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::harness::cargo_project::{
    assert_recorded_as_failed, cargo_project, example, example_completes, example_fails, lib,
    outcomes, result_of, run, splice,
};
use crate::harness::home::Home;
use crate::harness::magellan::index;
use crate::harness::set_mode;

const LIB_AFTER: &str = "n + 2\n}\n\n\n#[must_use]";

/// The example project with its code graph.
fn indexed() -> Home {
    let home = cargo_project();
    index(&home.file(""));
    home
}

fn rows(home: &Home, engine: &str, tool: &str, arguments: Value) -> Vec<Value> {
    home.write(
        "q.json",
        json!({"plan_id": "q", "intent": "QUERY",
            "steps": [{"step_id": "s", "tool": tool, "arguments": arguments}]})
        .to_string(),
    );
    let document =
        home.json(["run", "space/q.json", "--yes", "--engine", engine]).exits(0).document();
    let text = document["step_results"][0]["stdout"].as_str().unwrap().to_owned();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn example_completes_with_magellan_and_splice() {
    let home = indexed();
    set_mode(&home.file("src/lib.rs"), 0o640);
    // splice inserts the replacement with its final line break.
    let expected = fs::read_to_string(home.file("src/lib.rs"))
        .unwrap()
        .replace("n + 1\n}\n\n#[must_use]", LIB_AFTER);
    let shown = example_completes(&home, "external", &expected);
    let result = result_of(&shown);
    assert_eq!(result["engine"]["name"], "splice");
    let version = result["engine"]["version"].as_str().unwrap();
    assert!(version.starts_with(|first: char| first.is_ascii_digit()), "{version}");
    assert_eq!(
        (&result["exit_code"], &result["timed_out"]),
        (&json!(0), &json!(false)),
        "{result:#}"
    );
    let mode = fs::metadata(home.file("src/lib.rs")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640, "the mode is kept");
    assert!(!home.file("src/.splice_graph.db").exists(), "its database is elsewhere");
    let stdout = shown["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .find(|artifact| artifact["artifact_type"] == "stdout")
        .unwrap();
    assert!(stdout["content"].to_string().contains("Patched 'old_function'"), "{stdout:#}");
}

#[test]
fn example_failure_of_splice_stops_at_second_step() {
    example_fails(&indexed(), "external");
}

/// The precondition finds the symbol in the graph; the step does not find it in the file.
#[test]
fn symbol_only_in_graph_fails_the_step() {
    let home = indexed();
    // The stale graph still has the symbol, so the precondition holds.
    let without = lib(&home).replace("old_function", "new_function");
    home.write("src/lib.rs", &without);
    example(&home, splice("old_function", "patches/fix.rs", "symbol exists"));
    let document = run(&home, "external").exits(1).document();
    assert_eq!(document["status"], "failed");
    assert_eq!(outcomes(&document), ["succeeded", "failed"], "{document:#}");
    let failed = &document["step_results"][1];
    assert_eq!(failed["error_code"], "E104", "{failed:#}");
    let message = failed["error_message"].as_str().unwrap();
    assert!(message.contains("no definition of old_function"), "{message}");
    assert_eq!(lib(&home), without);
    assert_recorded_as_failed(&home, &document, message);
}

/// splice first writes temporary files with predictable names beside the file.
#[test]
fn link_at_splice_temporary_name_is_harmless() {
    let home = indexed();
    let before = lib(&home);
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = elsewhere.path().join("precious");
    for what in ["patch", "rollback"] {
        std::fs::write(&outside, "precious").unwrap();
        let link = home.file(&format!("src/.lib.rs.{what}.tmp"));
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        example(&home, splice("old_function", "patches/fix.rs", "symbol exists"));
        let document = run(&home, "external").exits(1).document();
        let failed = &document["step_results"][1];
        assert_eq!(failed["error_code"], "E302", "{failed:#}");
        assert!(failed["error_message"].as_str().unwrap().contains(what), "{failed:#}");
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "precious");
        assert_eq!(lib(&home), before);
        std::fs::remove_file(&link).unwrap();
    }
    example(&home, splice("old_function", "patches/fix.rs", "symbol exists"));
    run(&home, "external").exits(0);
    let log = home.file(".splice");
    assert!(!log.exists(), "the log of its work stays out of the workspace");
}

#[test]
fn refusal_of_splice_is_quoted_and_restored() {
    let home = indexed();
    let before = lib(&home);
    for (text, code, part) in [
        (
            "pub fn old_function(n: u32) -> u32 {\n    n + \"a\"\n}",
            "E304",
            "splice: Cargo check failed in workspace",
        ),
        ("pub fn old_function(n: u32) -> u32 {\n    n + (\n}", "E303", "does not parse as Rust"),
        ("", "E203", "it is empty"),
    ] {
        home.write("patches/bad.rs", text);
        example(&home, splice("old_function", "patches/bad.rs", "symbol exists"));
        let document = run(&home, "external").exits(1).document();
        assert_eq!(outcomes(&document), ["succeeded", "failed"], "{document:#}");
        let failed = &document["step_results"][1];
        assert_eq!(failed["error_code"], code, "{failed:#}");
        assert!(failed["error_message"].as_str().unwrap().contains(part), "{failed:#}");
        assert_eq!(lib(&home), before);
        if code == "E304" {
            assert_eq!(failed["exit_code"], 5);
            assert!(failed["stderr"].as_str().unwrap().contains("\"CargoCheckFailed\""));
            let diagnostics = failed["diagnostic_artifacts"].as_array().unwrap();
            let error = diagnostics.iter().find(|it| it["level"] == "error").unwrap();
            assert_eq!((&error["code"], &error["line_start"]), (&json!("E0277"), &json!(4)));
            assert_eq!(error["message"], "cannot add `&str` to `u32`");
        }
    }
}

#[test]
fn ambiguous_name_is_refused_before_splice() {
    let home = indexed();
    let more = "\npub struct A;\n\nimpl A {\n    pub fn make() -> u8 {\n        1\n    }\n}\n\npub struct B;\n\nimpl B {\n    pub fn make() -> u8 {\n        2\n    }\n}\n";
    let text = format!("{}{more}", lib(&home));
    home.write("src/lib.rs", &text);
    home.write("patches/make.rs", "pub fn make() -> u8 {\n        3\n    }");
    for symbol in ["make", "B::make"] {
        example(&home, splice(symbol, "patches/make.rs", "none"));
        let document = run(&home, "external").exits(1).document();
        let failed = &document["step_results"][1];
        assert_eq!(failed["error_code"], "E104", "{failed:#}");
        let message = failed["error_message"].as_str().unwrap();
        assert!(message.contains("make is defined 2 times: method A::make (line"), "{message}");
        assert_eq!(lib(&home), text);
    }
    example(&home, splice("B::make", "patches/make.rs", "none"));
    let document = run(&home, "embedded").exits(0).document();
    assert_eq!(document["status"], "completed");
}

#[test]
fn splice_plan_calls_splice_per_patch() {
    let home = indexed();
    home.write("patches/caller.rs", "pub fn caller() -> u32 {\n    old_function(7)\n}");
    home.write("patches/plan.json", json!({"steps": [
        {"file": "../src/lib.rs", "symbol": "old_function", "with": "fix.rs", "kind": "function"},
        {"file": "../src/lib.rs", "symbol": "caller", "with": "caller.rs"},
    ]}).to_string());
    home.plan(json!([{"step_id": "s", "tool": "splice_plan",
        "arguments": {"plan_file": "patches/plan.json"}}]));
    let document = run(&home, "external").exits(0).document();
    let stdout = document["step_results"][0]["stdout"].as_str().unwrap();
    assert_eq!(stdout.matches("\"operation_type\": \"patch\"").count(), 2, "{stdout}");
    assert!(lib(&home).contains("n + 2") && lib(&home).contains("old_function(7)"));
}

#[test]
fn engines_list_the_same_symbols_and_references() {
    let home = indexed();
    home.write(
        "src/more.rs",
        "use crate::old_function;\n\npub fn more() -> u32 {\n    old_function(2)\n}\n",
    );
    let with_module = format!("pub mod more;\n\n{}", lib(&home));
    home.write("src/lib.rs", with_module);
    index(&home.file(""));
    let names = |engine: &str| -> Vec<Value> {
        let rows = rows(&home, engine, "symbols_in_file", json!({"file_path": "src/lib.rs"}));
        let keys = [
            "name",
            "kind",
            "file_path",
            "start_line",
            "start_col",
            "end_line",
            "end_col",
            "byte_start",
            "byte_end",
        ];
        rows.iter().map(|row| keys.map(|key| row[key].clone()).to_vec().into()).collect()
    };
    assert_eq!(names("external"), names("embedded"));
    assert_eq!(names("auto").len(), 3);
    let places = |engine: &str, tool: &str, arguments: Value| -> Vec<Value> {
        let rows = rows(&home, engine, tool, arguments);
        // For an import magellan gives the whole path.
        let calls = rows.into_iter().filter(|row| row.get("from_symbol").is_some());
        calls.collect()
    };
    for (tool, arguments) in [
        ("references_to_symbol_name", json!({"symbol": "old_function"})),
        (
            "references_from_file_to_symbol_name",
            json!({"file_path": "src/more.rs", "symbol": "old_function"}),
        ),
    ] {
        let external = places("external", tool, arguments.clone());
        assert_eq!(external, places("embedded", tool, arguments));
        assert!(!external.is_empty());
    }
}

#[test]
fn auto_ignores_a_stale_graph() {
    let home = indexed();
    example(&home, splice("old_function", "patches/fix.rs", "magellan has indexed file"));
    let note = |engine: &str| {
        let document =
            home.json(["simulate", "space/p.json", "--engine", engine]).exits(0).document();
        document["steps"][1]["note"].as_str().unwrap().to_owned()
    };
    assert!(note("auto").contains("Done by splice."), "{}", note("auto"));
    assert!(note("auto").contains("splice writes the file itself"), "{}", note("auto"));
    home.write("src/new.rs", "fn f() {}\n");
    let said = note("auto");
    assert!(said.contains("The embedded engine is used, because "), "{said}");
    assert!(said.contains("codegraph.db is older than src/new.rs."), "{said}");
    let document = run(&home, "auto").exits(0).document();
    assert_eq!(document["status"], "completed");
    let id = document["step_results"][1]["execution_id"].as_str().unwrap();
    let shown = home.json(["evidence", "show", id]).exits(0).document();
    let engine = &result_of(&shown)["engine"];
    assert_eq!(engine["name"], "embedded", "{engine:#}");
    assert!(engine["remarks"][0].as_str().unwrap().contains("is older than"), "{engine:#}");
}

#[test]
fn unexpected_effects_of_splice_are_undone() {
    let home = indexed();
    let before = lib(&home);
    for (script, code, part) in [
        ("echo '// more' >> \"$FILE\"", "E311", "splice changed src/lib.rs to "),
        (": > \"$FILE\"; exit 1", "E303", "splice failed: exit code 1"),
        ("rm \"$FILE\"; kill -9 $$", "E303", "splice failed: it was ended by a signal"),
        ("true", "E311", "splice changed src/lib.rs to "),
    ] {
        set_mode(&home.file("src/lib.rs"), 0o640);
        let program = home.write(
            "fake",
            format!(
                "#!/bin/sh\n[ \"$1\" = --version ] && echo 'splice 9.9.9' && exit 0\n\
                 for word; do case $word in --file=*) FILE=${{word#--file=}};; esac; done\n{script}\n"
            ),
        );
        set_mode(&program, 0o755);
        let text = format!("[policy]\nsplice_program = {:?}\n", program.to_str().unwrap());
        home.settings(text);
        example(&home, splice("old_function", "patches/fix.rs", "symbol exists"));
        let document = run(&home, "external").exits(1).document();
        let failed = &document["step_results"][1];
        assert_eq!(failed["error_code"], code, "{failed:#}");
        assert!(failed["error_message"].as_str().unwrap().contains(part), "{failed:#}");
        assert_eq!(lib(&home), before, "{script}");
        let mode = fs::metadata(home.file("src/lib.rs")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "{script}");
    }
}
