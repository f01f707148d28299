//! Code plans on a real Cargo project, through the real command: the example of the sources, its failure,
//! and everything that puts a file back.

use std::fs;

use serde_json::{Value, json};

use crate::cli_home::{Done, Home};

const LIB: &str = "\
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

fn step(id: &str, tool: &str, arguments: Value, precondition: &str) -> Value {
    json!({"step_id": id, "tool": tool, "arguments": arguments, "precondition": precondition,
        "requires_confirmation": tool == "splice_patch"})
}

pub fn splice(symbol: &str, with: &str, precondition: &str) -> Value {
    let arguments = json!({"file": "src/lib.rs", "symbol": symbol, "with": with});
    step("step_2", "splice_patch", arguments, precondition)
}

/// The plan of the sources' example, with this replacement.
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

/// Runs the plan; the person approves what they are asked.
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

/// The example of the sources, to its end, with one of the engines; `expected` is the file afterwards.
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

/// What the step's result artifact says.
pub fn result_of(shown: &Value) -> &Value {
    let artifacts = shown["artifacts"].as_array().unwrap();
    let result = artifacts.iter().find(|artifact| artifact["artifact_type"] == "result");
    &result.unwrap()["content"]
}

/// The files that the step has changed.
fn changed(shown: &Value) -> Vec<&str> {
    let files = result_of(shown)["changed_files"].as_array().unwrap();
    files.iter().map(|file| file["path"].as_str().unwrap()).collect()
}

/// The failure of the sources' example: the symbol is not there, and the third step does not run.
pub fn example_fails(home: &Home, engine: &str) {
    let before = lib(home);
    // The tool itself finds out where no precondition does.
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
        is_recorded_as_failed(home, &document, message);
        if outcome == "failed" {
            let latest = home.json(["evidence", "query", "q6", "src/lib.rs"]).exits(0).lines();
            assert_eq!(latest[0]["execution_id"], failed["execution_id"], "{latest:?}");
        }
    }
}

/// The evidence of a run whose second of three steps failed.
pub fn is_recorded_as_failed(home: &Home, document: &Value, message: &str) {
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

#[test]
fn the_example_of_the_sources_runs_with_the_embedded_engine() {
    let home = cargo_project();
    let shown = example_completes(&home, "embedded", &LIB.replace("n + 1", "n + 2"));
    let result = result_of(&shown);
    assert_eq!(result["engine"]["name"], "embedded");
    assert_eq!(
        result["cargo_check"],
        json!([{"file": "src/lib.rs", "errors_before": 0, "errors_after": 0}])
    );
    assert_eq!(result["changed_files"][0]["path"], "src/lib.rs");
}

#[test]
fn the_failure_of_the_sources_stops_at_the_second_step() {
    example_fails(&cargo_project(), "embedded");
}

#[test]
fn a_replacement_that_does_not_check_is_put_back_with_the_compilers_words() {
    let home = cargo_project();
    home.write("patches/bad.rs", "pub fn old_function(n: u32) -> u32 {\n    n + \"a\"\n}\n");
    example(&home, splice("old_function", "patches/bad.rs", "symbol exists"));
    let document = run(&home, "embedded").exits(1).document();
    assert_eq!(outcomes(&document), ["succeeded", "failed"]);
    let failed = &document["step_results"][1];
    assert_eq!(failed["error_code"], "E304", "{failed:#}");
    let message = failed["error_message"].as_str().unwrap();
    assert!(
        message.contains("1 error in it that was not there before; src/lib.rs was put back"),
        "{message}"
    );
    assert!(message.contains("error[E0277]: cannot add `&str` to `u32`"), "{message}");
    assert!(message.contains("--> src/lib.rs:4:7"), "verbatim, with the place: {message}");
    let diagnostic = &failed["diagnostic_artifacts"][0];
    assert_eq!(
        (&diagnostic["code"], &diagnostic["file_name"]),
        (&json!("E0277"), &json!("src/lib.rs"))
    );
    assert_eq!(lib(&home), LIB);
    let id = failed["execution_id"].as_str().unwrap();
    let shown = home.json(["evidence", "show", id]).exits(0).document();
    assert_eq!(changed(&shown), ["Cargo.lock"], "which the check has made");
}

#[test]
fn a_project_that_is_broken_already_may_be_patched_and_not_broken_further() {
    let home = cargo_project();
    let broken = format!("{LIB}\npub fn broken() -> u32 {{\n    missing()\n}}\n");
    home.write("src/lib.rs", &broken);
    example(&home, splice("old_function", "patches/fix.rs", "none"));
    let document = run(&home, "embedded").exits(1).document();
    assert_eq!(outcomes(&document), ["succeeded", "succeeded", "failed"], "{document:#}");
    assert_eq!(document["step_results"][2]["error_code"], "E304");
    let patched = broken.replace("n + 1", "n + 2");
    assert_eq!(lib(&home), patched);
    home.write("patches/worse.rs", "pub fn broken() -> u32 {\n    missing() + other()\n}\n");
    example(&home, splice("broken", "patches/worse.rs", "none"));
    let document = run(&home, "embedded").exits(1).document();
    assert_eq!(outcomes(&document), ["succeeded", "failed"]);
    let message = document["step_results"][1]["error_message"].as_str().unwrap();
    assert!(message.contains("cannot find function `other`"), "{message}");
    assert!(!message.contains("cannot find function `missing`"), "that one is old: {message}");
    assert_eq!(lib(&home), patched);
}

#[test]
fn a_change_that_breaks_another_package_of_the_workspace_is_put_back() {
    let home = cargo_project();
    let manifest = fs::read_to_string(home.file("Cargo.toml")).unwrap();
    home.write("Cargo.toml", manifest.replace("[workspace]", "[workspace]\nmembers = [\"user\"]"));
    fs::create_dir_all(home.file("user/src")).unwrap();
    home.write(
        "user/Cargo.toml",
        "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\ndemo = { path = \"..\" }\n",
    );
    home.write("user/src/lib.rs", "pub fn uses() -> u32 {\n    demo::caller()\n}\n");
    home.write(
        "patches/caller.rs",
        "pub fn caller() -> u64 {\n    u64::from(old_function(1))\n}\n",
    );
    example(&home, splice("caller", "patches/caller.rs", "none"));
    let document = run(&home, "embedded").exits(1).document();
    let failed = &document["step_results"][1];
    assert_eq!(failed["error_code"], "E304", "{document:#}");
    assert!(failed["error_message"].as_str().unwrap().contains("user/src/lib.rs"), "{failed:#}");
    assert_eq!(lib(&home), LIB);
}

#[test]
fn without_cargo_nothing_is_replaced() {
    let home = cargo_project();
    example(&home, splice("old_function", "patches/fix.rs", "none"));
    let mut command = home.command();
    command
        .env("PATH", home.path())
        .args(["run", "space/p.json", "--yes", "--confirm", "approve", "--json", "--evidence"])
        .arg(home.evidence());
    let document = Done::of(&mut command).exits(1).document();
    let failed = &document["step_results"][1];
    assert_eq!(failed["error_code"], "E304", "{failed:#}");
    assert!(
        failed["error_message"].as_str().unwrap().contains("cargo is not on PATH"),
        "{failed:#}"
    );
    assert_eq!(lib(&home), LIB);
}

#[cfg(unix)]
#[test]
fn a_cargo_that_the_workspace_brings_along_is_not_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = cargo_project();
    fs::create_dir(home.file("bin")).unwrap();
    let planted = home.write("bin/cargo", "#!/bin/sh\ntouch ran\n");
    fs::set_permissions(&planted, fs::Permissions::from_mode(0o755)).unwrap();
    example(&home, splice("old_function", "patches/fix.rs", "none"));
    // In front of the real one by its name, and where nothing else is.
    let real = std::env::var("PATH").unwrap();
    for (path, exit) in [
        (format!("{}:bin:{real}", home.file("bin").display()), 0),
        (home.file("bin").display().to_string(), 1),
    ] {
        let mut command = home.command();
        command
            .env("PATH", path)
            .args(["run", "space/p.json", "--yes", "--confirm", "approve", "--json", "--evidence"])
            .arg(home.evidence());
        let done = Done::of(&mut command).exits(exit);
        let ran = ["ran", "src/ran", "bin/ran"].iter().any(|name| home.file(name).exists());
        assert!(!ran, "{done:#?}");
        if exit == 1 {
            // The definition is replaced already, so that cargo is first wanted by the check.
            let document = done.document();
            let message = document["step_results"][2]["error_message"].as_str().unwrap();
            assert!(message.contains("bin/cargo is passed over"), "{message}");
        }
    }
}

#[test]
fn a_splice_plan_keeps_what_checks_and_stops_at_what_does_not() {
    let home = cargo_project();
    home.write("patches/bad.rs", "pub fn caller() -> u32 {\n    nowhere()\n}\n");
    let steps = json!({"steps": [
        {"file": "../src/lib.rs", "symbol": "old_function", "with": "fix.rs"},
        {"file": "../src/lib.rs", "symbol": "caller", "with": "bad.rs", "kind": "function"},
        {"file": "../src/lib.rs", "symbol": "old_function", "with": "fix.rs"},
    ]});
    home.write("patches/plan.json", steps.to_string());
    let arguments = json!({"plan_file": "patches/plan.json"});
    home.plan(json!([step("s", "splice_plan", arguments, "plan file exists")]));
    let document = run(&home, "embedded").exits(1).document();
    let failed = &document["step_results"][0];
    assert_eq!(failed["error_code"], "E304", "{document:#}");
    assert_eq!(
        lib(&home),
        LIB.replace("n + 1", "n + 2"),
        "the first stays, the second is put back"
    );
    let id = failed["execution_id"].as_str().unwrap();
    let shown = home.json(["evidence", "show", id]).exits(0).document();
    let result = result_of(&shown);
    assert_eq!(changed(&shown), ["src/lib.rs", "Cargo.lock"], "{result:#}");
    let checks: Vec<_> =
        result["cargo_check"].as_array().unwrap().iter().map(|it| &it["errors_after"]).collect();
    assert_eq!(checks, [0, 1]);
}

#[test]
fn a_patch_in_another_language_says_nothing_about_the_project() {
    let home = cargo_project();
    // An error that was there before stays an old one, whatever is replaced in between.
    home.write("src/lib.rs", format!("{LIB}\npub fn broken() -> u32 {{\n    nowhere()\n}}\n"));
    home.write("gen.py", "def make(x):\n    return x\n");
    home.write("patches/make.py", "def make(x):\n    return x + 1\n");
    home.write("patches/caller.rs", "pub fn caller() -> u32 {\n    old_function(2)\n}\n");
    let steps = json!({"steps": [
        {"file": "../src/lib.rs", "symbol": "old_function", "with": "fix.rs"},
        {"file": "../gen.py", "symbol": "make", "with": "make.py"},
        {"file": "../src/lib.rs", "symbol": "caller", "with": "caller.rs", "kind": "function"},
    ]});
    home.write("patches/plan.json", steps.to_string());
    let arguments = json!({"plan_file": "patches/plan.json"});
    home.plan(json!([step("s", "splice_plan", arguments, "plan file exists")]));
    let document = run(&home, "embedded").exits(0).document();
    let id = document["step_results"][0]["execution_id"].as_str().unwrap();
    let result = result_of(&home.json(["evidence", "show", id]).exits(0).document()).clone();
    let checks = result["cargo_check"].as_array().unwrap();
    let seen =
        |it: &Value| (it["file"].clone(), it["errors_before"].clone(), it["errors_after"].clone());
    let lib = || (json!("src/lib.rs"), json!(1), json!(1));
    assert_eq!(checks.iter().map(seen).collect::<Vec<_>>(), [lib(), lib()], "{result:#}");
}
