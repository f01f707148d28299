//! What the hook answers without a decision of a person.

use serde_json::json;

use super::person::{call, denial, hook};
use crate::harness::home::Home;

#[test]
fn reading_needs_no_window() {
    let home = Home::new();
    for (agent, tool, input) in [
        ("claude", "Read", json!({"file_path": "/etc/hostname", "limit": 3})),
        ("claude", "Grep", json!({"pattern": "x"})),
        ("gemini", "read_file", json!({"file_path": "a"})),
        ("gemini", "list_directory", json!({"dir_path": "."})),
        ("codex", "view_image", json!({"path": "/x.png"})),
    ] {
        let input = call(&home, agent, tool, input).to_string();
        let done = hook(&home, &["--agent", agent], input).exits(0);
        assert_eq!((done.document(), done.stderr.as_str()), (json!({}), ""), "{agent} {tool}");
    }
    let at = |name: &str| home.path().join(name);
    let is_there = at(".local/share").exists() || at(".config").exists();
    assert!(!is_there, "nothing is created but the log");
}

#[test]
fn without_a_window_calls_are_denied() {
    let home = Home::new();
    for (agent, tool, input) in [
        ("claude", "Bash", json!({"command": "touch x"})),
        ("claude", "Write", json!({"file_path": "x", "content": "y"})),
        ("gemini", "run_shell_command", json!({"command": "touch x"})),
        ("codex", "apply_patch", json!({"command": "*** Begin Patch\n*** End Patch"})),
        ("claude", "mcp__a__b", json!({})),
    ] {
        let input = call(&home, agent, tool, input).to_string();
        let reason = denial(agent, hook(&home, &["--agent", agent], input));
        assert!(reason.starts_with("No window of Countersign is open"), "{reason}");
    }
}

#[test]
fn what_is_no_call_is_denied() {
    let home = Home::new();
    let mut other = call(&home, "claude", "Read", json!({"file_path": "a"}));
    other["hook_event_name"] = "PostToolUse".into();
    let mut nowhere = call(&home, "claude", "Bash", json!({"command": "ls"}));
    nowhere["cwd"] = "relative".into();
    // The agent could make the first call, and a person be asked about the second one.
    let read = call(&home, "claude", "Read", json!({"file_path": "a"})).to_string();
    let twice =
        read.replace("\"tool_name\":\"Read\"", "\"tool_name\":\"Bash\",\"tool_name\":\"Read\"");
    assert_ne!(twice, read);
    for input in [
        Vec::new(),
        b"{".to_vec(),
        b"\xff\xfe".to_vec(),
        b"[1, 2]".to_vec(),
        other.to_string().into_bytes(),
        nowhere.to_string().into_bytes(),
        "[".repeat(200_000).into_bytes(),
        twice.into_bytes(),
    ] {
        for agent in ["claude", "codex", "gemini"] {
            let reason = denial(agent, hook(&home, &["--agent", agent], input.clone()));
            assert!(reason.starts_with("Countersign cannot read the call"), "{reason}");
        }
    }
    let large = hook(&home, &["--agent", "claude"], vec![b' '; (16 << 20) + 1]);
    assert!(denial("claude", large).contains("more than 16 MiB"));
}

/// Agents take another code than 2 for a failure, and make the call.
#[test]
fn a_wrong_command_line_blocks() {
    let home = Home::new();
    for arguments in [&["--agent", "heron"][..], &[], &["--agent", "claude", "--timeout", "0"]] {
        let done = hook(&home, arguments, "{}").exits(2);
        assert!(done.stdout.is_empty() && !done.stderr.is_empty());
    }
}

#[test]
fn an_answer_that_cannot_be_written_blocks() {
    let home = Home::new();
    let input = call(&home, "codex", "Bash", json!({"command": "ls"})).to_string();
    let script = format!("{} hook --agent claude >/dev/full", crate::harness::home::PROGRAM);
    let mut command = home.command_of("sh");
    let done = crate::harness::home::Done::of(command.args(["-c", &script]).write_stdin(input));
    assert!(done.exits(2).stderr.contains("denies the call"));
}

/// In the sandbox of Codex nothing can connect to the window.
#[test]
fn commands_of_codex_wait_in_the_inbox() {
    let home = Home::new();
    let ask = |command: &str| {
        let input = call(&home, "codex", "Bash", json!({ "command": command })).to_string();
        denial("codex", hook(&home, &["--agent", "codex"], input))
    };
    let handle = |reason: &str| {
        let at = reason.split("as the plan ").nth(1).unwrap();
        at.split(' ').next().unwrap().to_owned()
    };
    let first = handle(&ask("touch a"));
    assert_eq!(handle(&ask("touch a")), first, "the same call waits once");
    let second = handle(&ask("touch b"));
    let listed = home.json(["inbox", "list"]).exits(0).document();
    let ids: Vec<_> = listed["entries"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, [&json!(first), &json!(second)]);
    assert_eq!(listed["entries"][0]["from"], "Codex");
    let blocked = ask("rm -rf /");
    assert!(blocked.contains("never runs such a command"), "{blocked}");
}
