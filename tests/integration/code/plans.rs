//! Code plans on a real Cargo project, through the real command: the example, its failing variant, and
//! the cases in which a file is restored.

use std::fs;

use serde_json::{Value, json};

use crate::harness::cargo_project::{
    LIB, cargo_project, changed, example, example_completes, example_fails, lib, outcomes,
    result_of, run, splice, step,
};
use crate::harness::home::Done;
use crate::harness::set_mode;

#[test]
fn example_completes_with_the_embedded_engine() {
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
fn example_failure_stops_at_second_step() {
    example_fails(&cargo_project(), "embedded");
}

#[test]
fn failed_check_restores_and_quotes_the_compiler() {
    let home = cargo_project();
    home.write("patches/bad.rs", "pub fn old_function(n: u32) -> u32 {\n    n + \"a\"\n}\n");
    example(&home, splice("old_function", "patches/bad.rs", "symbol exists"));
    let document = run(&home, "embedded").exits(1).document();
    assert_eq!(outcomes(&document), ["succeeded", "failed"]);
    let failed = &document["step_results"][1];
    assert_eq!(failed["error_code"], "E304", "{failed:#}");
    let message = failed["error_message"].as_str().unwrap();
    assert!(
        message.contains("cargo check reports 1 new error; src/lib.rs was put back"),
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
fn broken_project_may_not_get_worse() {
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
fn change_breaking_another_package_is_put_back() {
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
fn cargo_of_the_workspace_is_not_run() {
    let home = cargo_project();
    fs::create_dir(home.file("bin")).unwrap();
    let planted = home.write("bin/cargo", "#!/bin/sh\ntouch ran\n");
    set_mode(&planted, 0o755);
    example(&home, splice("old_function", "patches/fix.rs", "none"));
    // Before the real cargo in PATH, and as the only cargo.
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
            // The definition is replaced already, so cargo is first needed by the check.
            let document = done.document();
            let message = document["step_results"][2]["error_message"].as_str().unwrap();
            assert!(message.contains("bin/cargo is passed over"), "{message}");
        }
    }
}

#[test]
fn splice_plan_stops_at_first_failing_patch() {
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
fn patch_in_other_language_runs_no_check() {
    let home = cargo_project();
    // An old error remains old after replacements.
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
