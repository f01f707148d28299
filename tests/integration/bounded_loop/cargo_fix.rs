//! The planner `cargo-fix` (SPEC §10), as a process that reads a request and prints a plan.

use std::fs;
use std::path::Path;

use countersign::plan::parse;
use serde_json::{Value, json};

use super::model::request;
use crate::harness::home::Home;

/// Six warnings and one error for which the compiler offers a fix.
const FIXME: &str = r#"use std::collections::HashMap;
use std::fmt::Display;

fn shown(it: Box<Display>) -> String {
    return (it.to_string());
}

fn first() -> u32 {
    let mut one = 1;
    while true {
        if (one > 0) {
            break;
        };
    }
    one
}

fn main() {
    let list = Vec::new();
    list.push(first());
    println!("{} {}", shown(Box::new(list.len())), 7);
}
"#;

fn fixme(folder: &Path) {
    let manifest =
        "[package]\nname = \"fixme\"\nversion = \"0.1.0\"\nedition = \"2018\"\n[workspace]\n";
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/main.rs"), FIXME).unwrap();
}

/// The plan that `cargo-fix` prints for this folder.
fn cargo_fix(home: &Home, folder: &Path) -> Value {
    let output = home
        .command()
        // The compiler needs the real home folder.
        .env("HOME", std::env::var_os("HOME").unwrap())
        .current_dir(folder)
        .args(["planner", "cargo-fix"])
        .write_stdin(request().to_string())
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let plan = answer.get("plan").unwrap_or(&answer);
    let parsed = parse(plan.to_string().as_bytes());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(parsed.is_valid(), "{:?}\n{said}", parsed.findings);
    plan.clone()
}

#[test]
fn cargo_fix_proposes_all_compiler_suggestions() {
    let home = Home::new();
    let folder = home.path().join("space");
    fixme(&folder);
    let plan = cargo_fix(&home, &folder);
    let edits = plan["actions"][0]["request"]["edits"].as_array().unwrap();
    assert_eq!((edits.len(), &edits[0]["path"]), (1, &json!("src/main.rs")));
    for mended in [
        "unused_imports",
        "unused_parens (2)",
        "while_true",
        "bare_trait_objects",
        "unused_mut",
        "E0596",
    ] {
        let rationale = plan["actions"][0]["rationale"].as_str().unwrap();
        assert!(rationale.contains(mended), "{mended}: {rationale}");
    }
    // Other programs must be able to apply the patch.
    let diff = edits[0]["diff"].as_str().unwrap();
    let mut git = home.command_of("git");
    git.args(["apply", "-"]).current_dir(&folder).write_stdin(diff).assert().success();
    let next = cargo_fix(&home, &folder);
    assert_eq!(next["actions"][0]["type"], "verify", "{next}");
    assert_eq!(
        next["metadata"]["notes"],
        "0 errors and 0 warnings, 0 of 0 suggestions of the compiler applied."
    );
}

#[test]
fn cargo_fix_says_why_it_gives_up() {
    let home = Home::new();
    let folder = home.path().join("space");
    fixme(&folder);
    fs::write(folder.join("src/main.rs"), "fn main() { let x: u32 = \"no\"; let _ = x; }\n")
        .unwrap();
    let plan = cargo_fix(&home, &folder);
    assert_eq!(
        (&plan["failure"]["code"], &plan["failure"]["retryable"]),
        (&json!("unsupported_goal"), &json!(true)),
        "{plan}"
    );
    fs::remove_file(folder.join("Cargo.toml")).unwrap();
    let plan = cargo_fix(&home, &folder);
    assert_eq!(
        (&plan["failure"]["code"], &plan["failure"]["retryable"]),
        (&json!("planner_unavailable"), &json!(false)),
        "{plan}"
    );
}

/// The final document of a loop with this goal.
pub fn bounded_loop(
    command: &mut assert_cmd::Command,
    folder: &Path,
    planner: &str,
    verify: &str,
) -> Value {
    let evidence = folder.parent().unwrap().join("evidence");
    command.args(["loop", "--goal", "No warning is left", "--planner", planner, "--yes", "--json"]);
    command.args(["--max-attempts", "3", "--verify", verify, "--workspace"]).arg(folder);
    command.arg("--evidence").arg(evidence);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(&text)
        .unwrap_or_else(|_| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// How many warnings and errors cargo reports in this folder.
fn complaints(home: &Home, folder: &Path) -> usize {
    let mut cargo = home.command_of("cargo");
    cargo.env("HOME", std::env::var_os("HOME").unwrap()).current_dir(folder);
    let output = cargo.args(["check", "--all-targets", "--message-format=json"]).output().unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .filter(|line| line.contains("\"reason\":\"compiler-message\""))
        .count()
}

#[test]
fn loop_with_cargo_fix_repairs_a_crate() {
    let home = Home::new();
    let folder = home.path().join("space");
    fixme(&folder);
    assert!(complaints(&home, &folder) >= 7);
    let mut command = home.command();
    command.env("HOME", std::env::var_os("HOME").unwrap());
    let ended = bounded_loop(&mut command, &folder, "cargo-fix", "full");
    assert_eq!(ended["stop_reason"]["code"], "completed", "{ended:#}");
    let attempts = ended["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 1, "{ended:#}");
    let verify = &attempts[0]["verify"];
    assert_eq!((&verify["scope"], &verify["passed"]), (&json!("full"), &json!(true)), "{ended:#}");
    assert_eq!(complaints(&home, &folder), 0);
}

#[test]
fn loop_with_cargo_fix_keeps_unrepairable_crate() {
    let home = Home::new();
    let folder = home.path().join("space");
    fixme(&folder);
    let text = "fn main() { let x: u32 = \"no\"; let _ = x; }\n";
    fs::write(folder.join("src/main.rs"), text).unwrap();
    let mut command = home.command();
    command.env("HOME", std::env::var_os("HOME").unwrap());
    let ended = bounded_loop(&mut command, &folder, "cargo-fix", "local");
    let code = &ended["stop_reason"]["code"];
    assert_eq!(code, "planner_rejected_retry_budget_exhausted", "{ended:#}");
    assert_eq!(ended["attempts"].as_array().unwrap().len(), 3);
    assert_eq!(fs::read_to_string(folder.join("src/main.rs")).unwrap(), text);
}

/// The parentheses and the missing `dyn` are two suggestions at one place, so that one of them waits for the next plan.
#[test]
fn loop_goes_on_until_no_suggestion_is_left() {
    let home = Home::new();
    let folder = home.path().join("space");
    fixme(&folder);
    fs::write(
        folder.join("src/main.rs"),
        "use std::fmt::Display;\n\nfn shown(it: &(Display)) -> String {\n    it.to_string()\n}\n\n\
         fn main() {\n    println!(\"{}\", shown(&7));\n}\n",
    )
    .unwrap();
    let document = bounded_loop(&mut home.command(), &folder, "cargo-fix", "local");
    assert_eq!(document["stop_reason"]["code"], "completed", "{document:#}");
    assert!(document["attempts"].as_array().unwrap().len() > 1, "{document:#}");
    let library = fs::read_to_string(folder.join("src/main.rs")).unwrap();
    assert!(library.contains("it: &dyn Display"), "{library}");
}

/// Walls hide the system's folder of temporary files, in which the program itself may lie.
#[test]
fn program_in_a_temporary_folder_can_start_its_planners() {
    let home = Home::new();
    let program = home.path().join("countersign");
    if fs::hard_link(crate::harness::home::PROGRAM, &program).is_err() {
        fs::copy(crate::harness::home::PROGRAM, &program).unwrap();
    }
    let plan = json!({"goal": "g", "steps": [{"command": "true"}]});
    fs::write(home.file("1.json"), plan.to_string()).unwrap();
    let mut command = home.command_of(program.to_str().unwrap());
    let planner = format!("replay:{}", home.path().join("space").display());
    let ended = bounded_loop(&mut command, &home.path().join("space"), &planner, "none");
    assert_eq!(ended["attempts"][0]["planner"]["status"], "accepted", "{ended:#}");
}
