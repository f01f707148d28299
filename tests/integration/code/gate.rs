//! The check of a replaced definition: false acceptance, restoring too much, and incomplete records (SPEC §4,
//! §8).

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use countersign::engine::{WorkspaceChoice, reconcile, review};
use countersign::evidence::EvidenceReader;
use countersign::plan::parse;
use countersign::risk::{EngineChoice, Policy, RiskLevel};
use countersign::run::{DiskState, RunEvent, RunFate};
use serde_json::{Value, json};

use crate::harness::cargo_project::{cargo_project, lib, outcomes, result_of, run};
use crate::harness::create_file;
use crate::harness::home::Home;
use crate::harness::unprivileged::Unprivileged;
use crate::harness::{Harness, plan, step};

const OLD: &str = "pub fn old() -> u8 {\n    1\n}\n";
const NEW: &str = "pub fn old() -> u8 {\n    2\n}\n";

fn splice(file: &str, symbol: &str, with: &str) -> Value {
    let arguments = json!({"file": file, "symbol": symbol, "with": with});
    json!({"step_id": "s", "tool": "splice_patch", "arguments": arguments})
}

/// The result of the only step, and its evidence.
fn only_step(home: &Home, document: &Value) -> (Value, Value) {
    let step = document["step_results"][0].clone();
    let id = step["execution_id"].as_str().unwrap_or_else(|| panic!("no step: {document:#}"));
    let shown = home.json(["evidence", "show", id]).exits(0).document();
    (step, shown)
}

fn package(home: &Home, name: &str, dependencies: &str, lib: &str) {
    fs::create_dir_all(home.file(&format!("{name}/src"))).unwrap();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\n{dependencies}"
    );
    home.write(&format!("{name}/Cargo.toml"), manifest);
    home.write(&format!("{name}/src/lib.rs"), lib);
}

#[test]
fn unexplained_check_failure_is_no_success() {
    let home = Home::new();
    home.write("Cargo.toml", "[workspace]\nmembers = [\"good\", \"old\"]\nresolver = \"3\"\n");
    package(&home, "good", "", OLD);
    // An old error in an unrelated package.
    package(&home, "old", "", "pub fn broken() -> u8 {\n    nowhere()\n}\n");
    home.write("new.rs", NEW);
    // The build script fails once it sees the replacement.
    home.write(
        "good/build.rs",
        "fn main() {\n    println!(\"cargo::rerun-if-changed=src/lib.rs\");\n    \
         assert!(!std::fs::read_to_string(\"src/lib.rs\").unwrap().contains('2'));\n}\n",
    );
    home.plan(json!([splice("good/src/lib.rs", "old", "new.rs")]));
    let document = run(&home, "embedded").exits(1).document();
    let (step, _) = only_step(&home, &document);
    assert_eq!(step["error_code"], "E304", "{step:#}");
    let message = step["error_message"].as_str().unwrap();
    assert!(
        message.contains("failed for another reason than the errors that it reported"),
        "{message}"
    );
    assert!(message.contains("failed to run custom build command for `good"), "{message}");
    assert_eq!(fs::read_to_string(home.file("good/src/lib.rs")).unwrap(), OLD);
}

/// Packages that cargo did not check because of the old error are listed.
#[test]
fn old_error_hides_no_new_error() {
    let home = Home::new();
    home.write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"a\", \"b\", \"c\", \"user\"]\nresolver = \"3\"\n",
    );
    home.write("one-job", "");
    fs::create_dir_all(home.file(".cargo")).unwrap();
    // One job, so that without `--keep-going` cargo would end at the first package.
    home.write(".cargo/config.toml", "[build]\njobs = 1\n");
    let broken = "pub fn broken() -> u8 {\n    nowhere()\n}\n";
    package(&home, "a", "", broken);
    package(&home, "c", "", broken);
    package(&home, "user", "a = { path = \"../a\" }\n", "pub fn uses() -> u8 {\n    1\n}\n");
    package(&home, "b", "", &format!("{OLD}\npub fn caller() -> u8 {{\n    old()\n}}\n"));
    home.write("wrong.rs", "pub fn old() -> u16 {\n    2\n}\n");
    home.plan(json!([splice("b/src/lib.rs", "old", "wrong.rs")]));
    let document = run(&home, "embedded").exits(1).document();
    let (step, shown) = only_step(&home, &document);
    assert_eq!(step["error_code"], "E304", "{step:#}");
    let message = step["error_message"].as_str().unwrap();
    assert!(message.contains("cargo check reports 1 new error;"), "{message}");
    assert!(message.contains("Before the change, cargo did not reach user (lib)"), "{message}");
    let checked = &result_of(&shown)["cargo_check"][0];
    assert_eq!(checked["errors_before"], 2, "both packages were checked: {checked:#}");
    assert_eq!(checked["errors_after"], 3);
    for when in ["not_reached_before", "not_reached_after"] {
        assert_eq!(checked[when], json!(["user (lib)"]), "{checked:#}");
    }
}

#[test]
fn foreign_write_during_the_check_is_kept() {
    let home = cargo_project();
    // Another process writes the file during the check, and the check fails.
    home.write(
        "build.rs",
        "fn main() {\n    println!(\"cargo::rerun-if-changed=src/lib.rs\");\n    \
         let text = std::fs::read_to_string(\"src/lib.rs\").unwrap();\n    \
         if text.contains(\"n + 2\") {\n        \
         std::fs::write(\"src/lib.rs\", \"// theirs\\n\").unwrap();\n        panic!();\n    }\n}\n",
    );
    let before = lib(&home);
    home.plan(json!([splice("src/lib.rs", "old_function", "patches/fix.rs")]));
    let document = run(&home, "embedded").exits(1).document();
    assert_eq!(lib(&home), "// theirs\n", "the foreign content is kept");
    let (step, shown) = only_step(&home, &document);
    let message = step["error_message"].as_str().unwrap();
    assert!(
        message.starts_with("src/lib.rs was not put back, because somebody else changed it"),
        "{message}"
    );
    assert!(message.contains("cargo check"), "and the reason for restoring: {message}");
    let changed = &result_of(&shown)["changed_files"][0];
    let digest = |text: &str| countersign::plan::Digest::of(text.as_bytes()).to_string();
    assert_eq!(changed["before"], digest(&before), "{changed:#}");
    assert_eq!(changed["after"], digest("// theirs\n"));
    // Both contents are in the evidence.
    for text in [before.as_str(), "// theirs\n"] {
        let hex = countersign::plan::Digest::of(text.as_bytes()).hex();
        assert_eq!(contents(&home, &hex), 1, "{text}");
    }
}

/// How many blobs in the evidence have this digest.
fn contents(home: &Home, digest: &str) -> i64 {
    let database = home.sql();
    let sql = "SELECT count(*) FROM blobs WHERE digest = ?1";
    database.query_row(sql, [digest], |row| row.get(0)).unwrap()
}

#[test]
fn result_of_splice_is_recorded_before_putting_back() {
    let mut harness = Harness::with(&[
        ("a.py", "def old():\n    return 1\n"),
        ("new.py", "def old():\n    return 2\n"),
    ]);
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 'splice 9.9.9' && exit 0\n\
         echo 'something else' > '{}'\nexit 1\n",
        harness.path("a.py").display()
    );
    harness.replace_splice(&script);
    let patch = json!({"file": "a.py", "symbol": "old", "with": "new.py"});
    let ran = harness.run(&plan([step("s", "splice_patch", patch)]));
    assert_eq!(ran.words(), (vec!["failed"], "failed"));
    assert_eq!(harness.content("a.py").unwrap(), "def old():\n    return 1\n");
    let results = harness
        .texts("SELECT content_json FROM execution_artifacts WHERE artifact_type = 'result'", []);
    let result: Value = serde_json::from_str(&results[0]).unwrap();
    let kept = &result["replaced_when_put_back"][0];
    assert_eq!((&kept["path"], &kept["content"]), (&json!("a.py"), &json!("something else\n")));
}

#[test]
fn unflushed_restore_is_a_warning() {
    let home = Home::new();
    let before = "def old():\n    return 1\n";
    home.write("a.py", before);
    home.write("new.py", "def old():\n    return 2\n");
    home.plan(json!([splice("a.py", "old", "new.py")]));
    let user = Unprivileged::of(&home);
    // Files in this folder can be renamed, but it cannot be opened to be flushed.
    user.forbid(&home.file(""), 0o300);
    let document = user.json(&["run", "space/p.json", "--yes", "--engine", "embedded"]).exits(1);
    let document = document.document();
    assert_eq!(fs::read_to_string(home.file("a.py")).unwrap(), before);
    let step = &document["step_results"][0];
    assert_eq!(step["error_code"], "E302", "{document:#}");
    let message = step["error_message"].as_str().unwrap();
    assert!(!message.contains("put back"), "it is back, nothing is left to do: {message}");
    let id = step["execution_id"].as_str().unwrap();
    let shown = user.json(&["evidence", "show", id]).exits(0).document();
    let result = result_of(&shown);
    assert_eq!(result["changed_files"], json!([]), "{result:#}");
    let warning = result["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("a.py was put back, and may not survive a power cut"), "{warning}");
}

#[test]
fn panic_in_check_restores_crash_is_unknown() {
    let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let harness = Harness::with(&[("Cargo.toml", manifest), ("src/lib.rs", OLD), ("new.rs", NEW)]);
    let lib = harness.path("src/lib.rs");
    // The progress callback panics at the first output of the second check.
    let harness = harness.on_event(move |event| {
        let is_output = matches!(event, RunEvent::StepOutput { .. });
        let is_written = || fs::read_to_string(&lib).unwrap() == NEW;
        assert!(!is_output || !is_written(), "the screen breaks, says the test");
    });
    let patch = json!({"file": "src/lib.rs", "symbol": "old", "with": "new.rs"});
    let approved = harness.authorize(&plan([step("s", "splice_patch", patch)]));
    let (mut executor, _) = harness.executor();
    let panicked = catch_unwind(AssertUnwindSafe(|| executor.execute(approved)));
    let words = *panicked.unwrap_err().downcast::<&str>().unwrap();
    assert!(words.contains("the screen breaks"), "{words}");
    assert_eq!(harness.content("src/lib.rs").unwrap(), OLD, "put back on the way out");
    drop(executor);

    let mut evidence = EvidenceReader::open(&harness.evidence(), harness.path("no key")).unwrap();
    let run = evidence.runs(1).unwrap().remove(0);
    assert_eq!(run.fate, RunFate::Interrupted);
    let mut found = |content: &str| {
        harness.put("src/lib.rs", content);
        let rows = reconcile(&mut evidence, run.run_id, &harness.policy).unwrap();
        let [row] = &rows[..] else { panic!("{rows:?}") };
        (row.finding, row.sentence())
    };
    assert_eq!(found(OLD).0, DiskState::AsBefore);
    // The state after a power failure during the check.
    let (finding, sentence) = found(NEW);
    assert_eq!(finding, DiskState::WrittenUnchecked);
    assert!(sentence.contains("whether it passed cargo check is not known"), "{sentence}");
    assert!(!sentence.contains("was done"), "{sentence}");
    // The same text without a window.
    let shown = serde_json::to_value(finding).unwrap();
    assert_eq!(shown, "written_unchecked");
}

#[test]
fn cargo_output_and_effects_are_recorded() {
    let home = cargo_project();
    home.plan(json!([splice("src/lib.rs", "old_function", "patches/fix.rs")]));
    assert!(!home.file("Cargo.lock").exists());
    let document = run(&home, "embedded").exits(0).document();
    let (step, shown) = only_step(&home, &document);
    let result = result_of(&shown);
    assert_eq!(step["exit_code"], 0);
    for (field, expected) in
        [("exit_code", json!(0)), ("signal", json!(null)), ("timed_out", json!(false))]
    {
        assert_eq!(result[field], expected, "{field} in {result:#}");
    }
    let stdout = step["stdout"].as_str().unwrap();
    assert_eq!(stdout.matches("\"build-finished\"").count(), 2, "of both checks: {stdout}");
    assert!(step["stderr"].as_str().unwrap().contains("Checking demo"), "{step:#}");
    let changed = result["changed_files"].as_array().unwrap();
    let paths: Vec<_> = changed.iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["src/lib.rs", "Cargo.lock"], "{result:#}");
    assert!(changed[1]["before"].is_null() && changed[1]["after"].is_string(), "{result:#}");
    let edges = shown["edges"].as_array().unwrap();
    let affected =
        |edge: &&Value| edge["edge_type"] == "AFFECTED" && edge["target"] == "Cargo.lock";
    assert_eq!(edges.iter().filter(affected).count(), 1, "{shown:#}");
    // The same for a failed check.
    home.write("patches/bad.rs", "pub fn caller() -> u32 {\n    nowhere()\n}\n");
    home.plan(json!([splice("src/lib.rs", "caller", "patches/bad.rs")]));
    let document = run(&home, "embedded").exits(1).document();
    let (step, shown) = only_step(&home, &document);
    assert_eq!(step["exit_code"], 101);
    assert_eq!(result_of(&shown)["exit_code"], 101);
    assert!(step["stdout"].as_str().unwrap().contains("cannot find function"), "{step:#}");
}

/// A plan that writes a splice plan and then applies it.
fn writes_its_splice_plan(home: &Home, target: &str, symbol: &str) -> Vec<u8> {
    let steps = json!({"steps": [{"file": target, "symbol": symbol, "with": "fix.rs"}]});
    let fix = format!("pub fn {symbol}(n: u32) -> u32 {{\n    n + 2\n}}\n");
    let path = home.plan(json!([
        create_file("plan", "new/p.json", &steps.to_string()),
        create_file("with", "new/fix.rs", &fix),
        {"step_id": "s", "tool": "splice_plan", "arguments": {"plan_file": "new/p.json"},
            "precondition": "plan file exists"},
    ]));
    fs::read(path).unwrap()
}

#[test]
fn splice_plan_of_earlier_step_is_covered() {
    let home = cargo_project();
    let bytes = writes_its_splice_plan(&home, "../src/lib.rs", "old_function");
    let plan = parse(&bytes).plan.unwrap();
    let choice = WorkspaceChoice { folder: home.file(""), reason: String::new() };
    let policy = Policy { engine: EngineChoice::Embedded, ..Policy::default() };
    let seen = review(&plan, &choice, &policy, None).unwrap();
    assert_eq!(seen.impact.files, ["new/fix.rs", "new/p.json", "src/lib.rs"]);
    assert!(seen.binding.inputs.contains_key("src/lib.rs"), "{:?}", seen.binding.inputs);
    let simulated = home.json(["simulate", "space/p.json"]).exits(0).document();
    assert!(simulated["diff"].as_str().unwrap().contains("+    n + 2"), "{simulated:#}");
    let document = run(&home, "embedded").exits(0).document();
    assert_eq!(outcomes(&document), ["succeeded"; 3], "{document:#}");
    assert!(lib(&home).contains("n + 2"));
}

#[test]
fn unwritten_splice_plan_has_risk_of_changes() {
    let home = cargo_project();
    home.write("build.rs", "fn main() {}\n");
    let bytes = writes_its_splice_plan(&home, "../build.rs", "main");
    let plan = parse(&bytes).plan.unwrap();
    let choice = WorkspaceChoice { folder: home.file(""), reason: String::new() };
    let policy = Policy { engine: EngineChoice::Embedded, ..Policy::default() };
    let seen = review(&plan, &choice, &policy, None).unwrap();
    assert_eq!(seen.risks[2].level, RiskLevel::Dangerous, "{:?}", seen.risks[2]);
    assert!(seen.asks[2].is_some());
    // The files that it changes are covered by the approval.
    home.write("build.rs", "fn main() {\n}\n");
    assert_ne!(review(&plan, &choice, &policy, None).unwrap().binding, seen.binding);
}

#[test]
fn hidden_errors_are_mentioned() {
    let home = cargo_project();
    // The compiler checks types only after parsing, so the old syntax error hides the new type error.
    let broken = lib(&home) + "\nmod broken {\n    fn\n}\n";
    home.write("src/lib.rs", &broken);
    home.write(
        "patches/fix.rs",
        "pub fn old_function(n: u32) -> u32 {\n    let _: u8 = \"\";\n    n\n}\n",
    );
    home.plan(json!([splice("src/lib.rs", "old_function", "patches/fix.rs")]));
    let document = run(&home, "embedded").exits(0).document();
    let (step, shown) = only_step(&home, &document);
    let result = result_of(&shown);
    let said = "(lib) did not compile before the change, so earlier errors may hide new ones";
    let warning = result["warnings"][0].as_str().unwrap();
    assert!(warning.contains(said), "{result:#}");
    let targets = &result["cargo_check"][0]["not_compiled_before"];
    assert_eq!(targets.as_array().map(Vec::len), Some(1), "{result:#}");
    // Also in the diagnostics.
    let diagnostic = &step["diagnostic_artifacts"][0];
    assert_eq!(diagnostic["level"], "warning", "{step:#}");
    assert!(diagnostic["message"].as_str().unwrap().contains(said), "{step:#}");
}

#[test]
fn refusal_says_what_was_hidden_before() {
    let home = cargo_project();
    let broken = lib(&home) + "\npub fn broken() -> u8 {\n    nowhere()\n}\n";
    home.write("src/lib.rs", &broken);
    home.write("patches/fix.rs", "pub fn old_function(n: u32) -> u32 {\n    elsewhere(n)\n}\n");
    home.plan(json!([splice("src/lib.rs", "old_function", "patches/fix.rs")]));
    let document = run(&home, "embedded").exits(1).document();
    let (step, _) = only_step(&home, &document);
    let message = step["error_message"].as_str().unwrap();
    assert!(message.contains("cargo check reports 1 new error;"), "{message}");
    assert!(message.contains("did not compile before the change, so earlier errors"), "{message}");
    assert_eq!(lib(&home), broken);
}
