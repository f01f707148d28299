//! The command line itself: help, usage errors, the schema, and a closed stdout (SPEC §11).

use std::process::Stdio;

use serde_json::Value;

use crate::harness::home::{Done, Home};

fn line(home: &Home, arguments: &[&str]) -> Done {
    Done::of(home.command().args(arguments))
}

#[test]
fn help_and_version_are_answers() {
    let home = Home::new();
    for arguments in [
        &["--help"][..],
        &["check", "--help"],
        &["run", "--help"],
        &["evidence", "--help"],
        &["evidence", "query", "--help"],
        &["help", "schema"],
    ] {
        let done = line(&home, arguments).exits(0);
        assert!(done.stdout.contains("Usage:") && done.stderr.is_empty(), "{done:#?}");
    }
    let version = line(&home, &["--version"]).exits(0);
    assert_eq!(version.stdout.trim(), concat!("countersign ", env!("CARGO_PKG_VERSION")));
}

#[test]
fn usage_error_exits_five_with_empty_stdout() {
    let home = Home::new();
    for arguments in [
        &["check"][..],
        &["run"],
        &["check", ""],
        &["check", "a", "b"],
        &["check", "a", "--unknown"],
        &["run", "a", "--authorize", "sha256:12"],
        &["run", "a", "--authorize"],
        &["run", "a", "--confirm", "yes", "--yes"],
        &["evidence"],
        &["evidence", "query"],
        &["evidence", "query", "q9"],
        &["evidence", "query", "q1"],
        &["evidence", "query", "q1", "file_read", "--since", "tomorrow"],
        &["evidence", "query", "q1", "file_read", "--limit", "0"],
        &["evidence", "query", "q7", "--threshold", "0"],
        &["evidence", "search", "--outcome", "faild"],
        &["evidence", "search", "--risk", "deadly"],
        &["evidence", "show", "no-id"],
        &["evidence", "verify", "--head", "abc"],
        &["evidence", "export"],
        &["schema", "novel"],
        &["simulate"],
        &["simulate", "p.json", "--yes"],
        &["revert", "x", "--yes"],
        &["chekc"],
        &["run", "a", "--engine", "both"],
        &["evidence", "search", "--engine", "auto"],
    ] {
        let done = line(&home, arguments).exits(5);
        assert!(done.stdout.is_empty() && !done.stderr.is_empty(), "{arguments:?}: {done:#?}");
    }
    let both = format!("sha256:{}", "0".repeat(64));
    line(&home, &["run", "a", "--yes", "--authorize", &both]).exits(5);
}

#[cfg(target_os = "linux")]
#[test]
fn missing_display_is_one_line() {
    let home = Home::new();
    for arguments in [&[][..], &["plan.json"], &["plan.json", "--workspace", "."]] {
        let mut command = home.command();
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
            command.env_remove(name);
        }
        let done = Done::of(command.args(arguments)).exits(5);
        assert_eq!(done.stderr.lines().count(), 1, "{done:#?}");
        assert!(done.stderr.contains("DISPLAY"), "{done:#?}");
    }
}

#[test]
fn schema_is_printed_by_each_name() {
    let home = Home::new();
    for arguments in
        [&["schema"][..], &["schema", "step_plan"], &["schema", "step-plan"], &["schema", "--json"]]
    {
        let done = line(&home, arguments).exits(0);
        let schema: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(schema["title"], "Countersign step plan");
    }
    for name in ["command_plan", "command-plan", "command"] {
        let done = line(&home, &["schema", name]).exits(0);
        let schema: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(schema["title"], "Countersign command plan");
    }
}

#[expect(clippy::disallowed_methods, reason = "only the standard command takes a pipe of ours")]
fn schema_into(stdout: impl Into<Stdio>) -> (Option<i32>, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_countersign"))
        .arg("schema")
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn closed_stdout_is_no_error() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(schema_into(writer), (Some(0), String::new()));
}

#[cfg(target_os = "linux")]
#[test]
fn unwritten_result_is_no_success() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (code, stderr) = schema_into(full);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("could not be written"), "{stderr}");
}
