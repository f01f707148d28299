//! The real Gemini CLI, whose model makes calls that are written down before.

use std::fs;

use serde_json::{Value, json};

use super::session::Session;
use crate::harness::agents::{gemini_answering, with_agent};
use crate::harness::home::{Done, Home};

/// Runs Gemini CLI, whose model makes these calls one after another and then says that it is done.
fn gemini(home: &Home, calls: &[(&str, Value)], flags: &[&str]) -> Session {
    in_mode(home, "default", calls, flags)
}

/// As [`gemini`], in an approval mode of the agent.
fn in_mode(home: &Home, mode: &str, calls: &[(&str, Value)], flags: &[&str]) -> Session {
    gemini_answering(home, &[], true);
    let own = home.path().join(".gemini");
    let calls =
        calls.iter().map(|(name, args)| json!({"functionCall": {"name": name, "args": args}}));
    let lines: String = calls
        .chain([json!({"text": "The heron is done."})])
        .map(|part| {
            let response = json!([{"candidates": [{"content": {"parts": [part], "role": "model"},
                "finishReason": "STOP", "index": 0}], "usageMetadata": {"promptTokenCount": 1,
                "candidatesTokenCount": 1, "totalTokenCount": 2}}]);
            format!("{}\n", json!({"method": "generateContentStream", "response": response}))
        })
        .collect();
    fs::write(own.join("answers"), lines).unwrap();
    let settings = json!({"privacy": {"usageStatisticsEnabled": false},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
        "security": {"auth": {"selectedType": "gemini-api-key"}}});
    fs::write(own.join("settings.json"), settings.to_string()).unwrap();
    let mut command = home.command();
    with_agent(home, &mut command, None).env("GEMINI_API_KEY", "x");
    command.args(["acp", "--json", "--prompt", "mend it", "--workspace"]).arg(home.file(""));
    command.arg("--evidence").arg(home.evidence()).args(flags);
    command.args(["gemini", "--acp", "--approval-mode", mode, "--fake-responses-non-strict"]);
    command.arg(own.join("answers"));
    Session::of(Done::of(&mut command))
}

fn write(home: &Home, name: &str, content: &str) -> (&'static str, Value) {
    let file = home.file("").canonicalize().unwrap().join(name);
    ("write_file", json!({"file_path": file, "content": content}))
}

#[test]
fn approved_changes_are_written_here() {
    let home = Home::new();
    home.write("old.txt", "one\ntwo\n");
    let old = home.file("").canonicalize().unwrap().join("old.txt");
    let replace = json!({"file_path": old, "old_string": "two", "new_string": "three",
        "instruction": "count on"});
    let calls = [write(&home, "new.txt", "kingfisher\n"), ("replace", replace)];
    let session = gemini(&home, &calls, &["--confirm", "approve"]).exits(0);
    assert_eq!(session.outcomes(), ["written", "written"], "{session:#?}");
    assert_eq!(session.document["agent"], "Gemini CLI");
    assert!(session.document["words"].as_str().unwrap().contains("The heron is done."));
    assert_eq!(fs::read_to_string(home.file("new.txt")).unwrap(), "kingfisher\n");
    assert_eq!(fs::read_to_string(home.file("old.txt")).unwrap(), "one\nthree\n");
    let tools = home.texts("SELECT tool_name FROM executions WHERE success = 1 ORDER BY rowid", []);
    assert_eq!(tools, ["file_create", "file_write"]);
    let notes = home.texts("SELECT note FROM decisions ORDER BY rowid", []);
    let about = format!("in its conversation {}", session.document["session"].as_str().unwrap());
    let says = |note: &&String| {
        note.contains("Gemini CLI 0.") && note.contains(&about) && note.contains("\"mend it\"")
    };
    assert_eq!(notes.iter().filter(says).count(), 2, "{notes:#?}");
    let verified = home.json(["evidence", "verify"]).exits(0);
    assert_eq!(verified.document()["ok"], true);
}

#[test]
fn rejected_changes_leave_no_file() {
    let home = Home::new();
    let calls = [write(&home, "new.txt", "x"), write(&home, "other.txt", "y")];
    let session = gemini(&home, &calls, &["--confirm", "skip"]).exits(3);
    assert!(session.outcomes().iter().all(|it| *it == "rejected"), "{session:#?}");
    assert!(fs::read_dir(home.file("")).unwrap().next().is_none());
    assert!(home.texts("SELECT id FROM runs", []).is_empty());
    let reasons = home.texts("SELECT reason FROM authorizations", []);
    assert!(reasons.iter().all(|reason| reason == "--confirm skip"), "{reasons:?}");
}

/// Without a terminal and without a flag, nobody can approve anything.
#[test]
fn without_a_person_the_turn_ends() {
    let home = Home::new();
    let session = gemini(&home, &[write(&home, "new.txt", "x")], &[]).exits(3);
    assert_eq!(session.outcomes(), ["rejected"]);
    assert_eq!(session.document["stopped"], true);
    assert!(!home.file("new.txt").exists());
}

/// Gemini CLI shows the command only in its title, which it may shorten.
#[test]
fn a_command_that_is_not_shown_cannot_be_approved() {
    let home = Home::new();
    let command = json!({"command": "touch made", "description": "d"});
    let session = gemini(&home, &[("run_shell_command", command)], &["--confirm", "approve"]);
    let session = session.exits(3);
    assert_eq!(session.outcomes(), ["not_approvable"], "{session:#?}");
    assert!(session.reason(0).contains("does not show"));
    assert!(!home.file("made").exists());
}

/// In this mode it asks for nothing, and its files are questions themselves.
#[test]
fn an_agent_that_does_not_ask_is_asked_about() {
    let home = Home::new();
    let calls = [write(&home, "new.txt", "kingfisher\n")];
    let command = json!({"command": "touch made", "description": "d"});
    let calls = [&calls[..], &[("run_shell_command", command)]].concat();
    let flags = ["--confirm", "approve"];
    let session = in_mode(&home, "yolo", &calls, &flags).exits(0);
    assert_eq!(session.outcomes(), ["written"], "{session:#?}");
    assert_eq!(fs::read_to_string(home.file("new.txt")).unwrap(), "kingfisher\n");
    assert!(!home.file("made").exists(), "its commands cannot write the workspace");
    let home = Home::new();
    let calls = [write(&home, "new.txt", "x")];
    let session = in_mode(&home, "auto_edit", &calls, &["--confirm", "skip"]).exits(3);
    assert_eq!(session.outcomes(), ["rejected"], "{session:#?}");
    assert!(!home.file("new.txt").exists());
}
