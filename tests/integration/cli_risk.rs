//! `countersign risk`: verdicts on commands, one by one and line by line.

use assert_cmd::Command;
use serde_json::Value;

fn risk() -> Command {
    let mut command = Command::cargo_bin("countersign").unwrap();
    command.arg("risk");
    command
}

#[test]
fn a_command_is_judged_with_rule_place_reason_and_a_safer_way() {
    let output = risk().args(["--json", "--", "ls && rm -rf build"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdict["command"], "ls && rm -rf build");
    assert_eq!(verdict["level"], "dangerous");
    assert_eq!(verdict["rule"], "delete-recursive");
    assert_eq!(verdict["span"], serde_json::json!({"start": 6, "end": 18}));
    assert!(verdict["reason"].is_string() && verdict["suggestion"].is_string());
}

#[test]
fn each_line_of_stdin_has_its_verdict() {
    let output =
        risk().arg("--stdin").write_stdin("ls\nmake\nrm -rf x\nrm -rf /").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let levels: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(levels, ["safe", "caution", "dangerous", "blocked"]);
}

#[test]
fn nothing_to_judge_is_a_fault_of_the_command_line() {
    assert_eq!(risk().output().unwrap().status.code(), Some(5));
    assert_eq!(risk().args(["--stdin", "--", "ls"]).output().unwrap().status.code(), Some(5));
}
