//! `hook install`, `remove` and `doctor`, with the real agents.

use serde_json::{Value, json};

use crate::harness::agents::with_agent;
use crate::harness::home::{Done, Home, PROGRAM};

/// Runs `hook` with the agents on `PATH`.
fn hook(home: &Home, arguments: &[&str]) -> Done {
    let mut command = home.command();
    command.arg("hook").args(arguments);
    Done::of(with_agent(home, &mut command, None))
}

#[test]
fn the_hook_is_installed_once_and_removed() {
    let home = Home::new();
    let project = home.file("");
    let place = ["--project", project.to_str().unwrap()];
    for (agent, file, event) in [
        ("claude", ".claude/settings.json", "PreToolUse"),
        ("codex", ".codex/hooks.json", "PreToolUse"),
        ("gemini", ".gemini/settings.json", "BeforeTool"),
    ] {
        for (at, place) in [(home.path(), &[][..]), (&project, &place)] {
            let file = at.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            let before = "{\n  // mine\n  \"zoom\": 1, \"a\": [true]\n}\n";
            std::fs::write(&file, before).unwrap();
            let flags = [&["install", "--agent", agent, "--timeout", "30"], place].concat();
            let done = hook(&home, &[&flags[..], &["--json"]].concat()).exits(0).document();
            assert_eq!(done["state"], "installed", "{done}");
            let backup = done["backup"].as_str().unwrap();
            assert_eq!(std::fs::read_to_string(backup).unwrap(), before);
            let with = std::fs::read_to_string(&file).unwrap();
            assert!(
                with.contains("// mine") && with.contains("\"zoom\": 1, \"a\": [true]"),
                "{with}"
            );
            let pure: Value = serde_json::from_str(&with.replace("// mine", "")).unwrap();
            let entry = &pure["hooks"][event][0]["hooks"][0];
            let command = format!("{PROGRAM} hook --agent {agent} --timeout 30");
            assert_eq!(entry["command"], command);
            let patience = if agent == "gemini" { 90_000 } else { 90 };
            assert_eq!(entry["timeout"], patience);
            let blocks = (agent == "claude").then_some("block");
            assert_eq!(entry.get("onFailure").and_then(Value::as_str), blocks);
            let again = hook(&home, &[&flags[..], &["--json"]].concat()).exits(0).document();
            assert_eq!((&again["state"], &again["backup"]), (&json!("unchanged"), &Value::Null));
            let removed = hook(&home, &[&["remove", "--agent", agent], place].concat()).exits(0);
            assert!(removed.stdout.contains("is removed"), "{removed:?}");
            let words = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(words(&std::fs::read_to_string(&file).unwrap()), words(before));
        }
    }
}

#[test]
fn settings_that_are_none_are_left() {
    let home = Home::new();
    let file = home.path().join(".gemini/settings.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    for text in ["{\"hooks\": 1}", "{", "\u{0}"] {
        std::fs::write(&file, text).unwrap();
        for action in ["install", "remove", "doctor"] {
            if action == "remove" && text.starts_with("{\"hooks") {
                continue;
            }
            hook(&home, &[action, "--agent", "gemini"])
                .exits(if text.len() > 5 && action == "doctor" { 1 } else { 5 });
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }
    let names: Vec<_> = std::fs::read_dir(file.parent().unwrap()).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "no backup without a change");
}

#[test]
fn the_doctor_proves_that_the_hook_of_gemini_fires() {
    let home = Home::new();
    let silent = hook(&home, &["doctor", "--agent", "gemini"]).exits(1);
    assert!(silent.stdout.contains("not installed"), "{silent:?}");
    hook(&home, &["install", "--agent", "gemini"]).exits(0);
    let done = hook(&home, &["doctor", "--agent", "gemini", "--json"]).exits(0).document();
    assert_eq!(done["fires"], true, "{done}");
    // Gemini CLI can be told to start no hooks.
    let file = home.path().join(".gemini/settings.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let off = text.replacen('{', "{\"hooksConfig\": {\"enabled\": false},", 1);
    std::fs::write(&file, off).unwrap();
    let done = hook(&home, &["doctor", "--agent", "gemini", "--json"]).exits(1).document();
    assert_eq!(done["fires"], false, "{done}");
}

#[test]
fn the_doctor_sees_that_codex_does_not_trust_the_hook() {
    let home = Home::new();
    hook(&home, &["install", "--agent", "codex"]).exits(0);
    let done = hook(&home, &["doctor", "--agent", "codex", "--json"]).exits(1).document();
    assert_eq!(done["fires"], false, "{done}");
    assert!(done["note"].as_str().unwrap().contains("not trusted"), "{done}");
}

#[test]
fn the_doctor_says_that_claude_is_not_proven() {
    let home = Home::new();
    hook(&home, &["install", "--agent", "claude"]).exits(0);
    let done = hook(&home, &["doctor", "--agent", "claude", "--json"]).exits(0).document();
    assert_eq!(done["fires"], Value::Null, "{done}");
}
