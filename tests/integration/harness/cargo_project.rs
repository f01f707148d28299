//! A small Cargo project, a plan that replaces one of its functions, and checks of that plan's outcome.

use std::fs;

use serde_json::{Value, json};

use super::home::{Done, Home};

pub const LIB: &str = "\
/// What is to be replaced.
#[must_use]
pub fn old_function(n: u32) -> u32 {
    n + 1
}

#[must_use]
pub fn caller() -> u32 {
    old_function(1)
}
";
const FIX: &str = "pub fn old_function(n: u32) -> u32 {\n    n + 2\n}\n";

/// A workspace that is a Cargo package without dependencies.
pub fn cargo_project() -> Home {
    let home = Home::new();
    fs::create_dir_all(home.file("src")).unwrap();
    fs::create_dir_all(home.file("patches")).unwrap();
    home.write(
        "Cargo.toml",
        "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
    );
    home.write("src/lib.rs", LIB);
    home.write("patches/fix.rs", FIX);
    home
}

pub fn step(id: &str, tool: &str, arguments: Value, precondition: &str) -> Value {
    json!({"step_id": id, "tool": tool, "arguments": arguments, "precondition": precondition,
        "requires_confirmation": tool == "splice_patch"})
}

pub fn splice(symbol: &str, with: &str, precondition: &str) -> Value {
    let arguments = json!({"file": "src/lib.rs", "symbol": symbol, "with": with});
    step("step_2", "splice_patch", arguments, precondition)
}

/// Writes the example plan with this replacement step.
pub fn example(home: &Home, replacement: Value) {
    let plan = json!({
        "plan_id": "plan_001",
        "intent": "MUTATE",
        "steps": [
            step("step_1", "file_read", json!({"path": "src/lib.rs"}), "file exists"),
            replacement,
            step("step_3", "lsp_check", json!({"path": "."}), "Cargo project exists"),
        ],
        "evidence_referenced": ["Q8"],
    });
    home.write("p.json", serde_json::to_vec_pretty(&plan).unwrap());
}

/// Runs the plan and approves every confirmation.
pub fn run(home: &Home, engine: &str) -> Done {
    home.json(["run", "space/p.json", "--yes", "--confirm", "approve", "--engine", engine])
}

pub fn outcomes(document: &Value) -> Vec<&str> {
    let results = document["step_results"].as_array().unwrap();
    results.iter().map(|result| result["outcome"].as_str().unwrap()).collect()
}

pub fn lib(home: &Home) -> String {
    fs::read_to_string(home.file("src/lib.rs")).unwrap()
}

/// Runs the example plan to its end with one engine. `expected` is the content of the file afterwards. Returns the
/// record of the replacement.
pub fn example_completes(home: &Home, engine: &str, expected: &str) -> Value {
    example(home, splice("old_function", "patches/fix.rs", "symbol exists"));
    let check = home.json(["check", "space/p.json", "--engine", engine]).exits(0).document();
    assert_eq!(check["findings"], json!([]), "{check:#}");
    let document = run(home, engine).exits(0).document();
    assert_eq!(document["status"], "completed", "{document:#}");
    assert_eq!(outcomes(&document), ["succeeded", "succeeded", "succeeded"]);
    assert_eq!(document["step_results"][0]["stdout"], LIB);
    assert_eq!(document["step_results"][2]["diagnostic_artifacts"], json!([]));
    assert_eq!(lib(home), expected);
    let id = document["step_results"][1]["execution_id"].as_str().unwrap();
    let shown = home.json(["evidence", "show", id]).exits(0).document();
    let edges = shown["edges"].as_array().unwrap();
    for (edge_type, kind, target) in [
        ("EXECUTED_ON", "file", "src/lib.rs"),
        ("AFFECTED", "file", "src/lib.rs"),
        ("AFFECTED", "symbol", "old_function"),
        ("REFERENCED", "file", "patches/fix.rs"),
    ] {
        let wanted = |edge: &&Value| {
            edge["edge_type"] == edge_type
                && edge["target"] == target
                && edge["target_kind"] == kind
        };
        assert!(edges.iter().any(|edge| wanted(&edge)), "{edge_type} {target}: {shown:#}");
    }
    shown
}

/// The content of the step's result artifact.
pub fn result_of(shown: &Value) -> &Value {
    let artifacts = shown["artifacts"].as_array().unwrap();
    let result = artifacts.iter().find(|artifact| artifact["artifact_type"] == "result");
    &result.unwrap()["content"]
}

/// The files that the step changed.
pub fn changed(shown: &Value) -> Vec<&str> {
    let files = result_of(shown)["changed_files"].as_array().unwrap();
    files.iter().map(|file| file["path"].as_str().unwrap()).collect()
}

/// The failing variant of the example: the symbol is missing, and the third step does not run.
pub fn example_fails(home: &Home, engine: &str) {
    let before = lib(home);
    // Without a precondition the tool itself reports the missing symbol.
    for (precondition, outcome) in [("none", "failed"), ("symbol exists", "precondition_failed")] {
        example(home, splice("nowhere", "patches/fix.rs", precondition));
        let document = run(home, engine).exits(1).document();
        assert_eq!(document["status"], "failed", "{document:#}");
        assert_eq!(outcomes(&document), ["succeeded", outcome]);
        let failed = &document["step_results"][1];
        assert_eq!(failed["error_code"], "E104", "{failed:#}");
        let message = failed["error_message"].as_str().unwrap();
        assert!(message.contains("nowhere"), "{message}");
        assert_eq!(lib(home), before);
        assert_recorded_as_failed(home, &document, message);
        if outcome == "failed" {
            let latest = home.json(["evidence", "query", "q6", "src/lib.rs"]).exits(0).lines();
            assert_eq!(latest[0]["execution_id"], failed["execution_id"], "{latest:?}");
        }
    }
}

/// Checks the evidence of a run whose second of three steps failed.
pub fn assert_recorded_as_failed(home: &Home, document: &Value, message: &str) {
    let id = document["step_results"][1]["execution_id"].as_str().unwrap();
    let shown = home.json(["evidence", "show", id]).exits(0).document();
    assert_eq!(
        (&shown["error_code"], &shown["run"]["steps_recorded"]),
        (&json!("E104"), &json!(2))
    );
    assert_eq!(shown["error_message"], message, "{shown:#}");
    let run = document["run_id"].as_str().unwrap();
    let lines = home.json(["evidence", "query", "q1", "lsp_check"]).exits(0).lines();
    assert!(
        lines.iter().all(|line| line["run_id"] != run),
        "the third was not executed: {lines:?}"
    );
}
