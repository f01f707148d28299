use serde_json::{Value, json};

use super::channel::{Ask, MAX_LINE, Reply, Request, line, read};
use super::{Agent, Answer, HookCall};

fn call(agent: Agent, tool: &str, input: Value) -> HookCall {
    let text = json!({"session_id": "s", "cwd": "/w", "hook_event_name": agent.event(),
        "tool_name": tool, "tool_input": input, "more": {"later": true}});
    HookCall::read(agent, text.to_string().as_bytes()).unwrap()
}

/// The keys of an answer, each as a path.
fn keys(value: &Value, before: &str, found: &mut Vec<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let path = format!("{before}/{key}");
        if !matches!(key.as_str(), "updatedInput" | "tool_input") {
            keys(value, &path, found);
        }
        found.push(path);
    }
}

/// The fields of `PreToolUseHookSpecificOutput` of Claude Code and of `pre-tool-use.command.output` of Codex, and those of
/// `BeforeTool` in the reference of Gemini CLI.
#[test]
fn answers_have_only_fields_of_the_schema() {
    let input = json!({"command": "x", "description": "d"});
    for agent in Agent::ALL {
        let known: &[&str] = match agent {
            Agent::Gemini => {
                &["/decision", "/reason", "/hookSpecificOutput", "/hookSpecificOutput/tool_input"]
            }
            _ => &[
                "/hookSpecificOutput",
                "/hookSpecificOutput/hookEventName",
                "/hookSpecificOutput/permissionDecision",
                "/hookSpecificOutput/permissionDecisionReason",
                "/hookSpecificOutput/updatedInput",
            ],
        };
        for answer in [
            Answer::NoObjection,
            Answer::Allow,
            Answer::Rewrite(input.clone()),
            Answer::Deny(String::new()),
            Answer::Deny("no".repeat(10_000)),
        ] {
            let json = answer.to_json(agent);
            let mut found = Vec::new();
            keys(&json, "", &mut found);
            assert!(found.iter().all(|key| known.contains(&key.as_str())), "{found:?}");
            assert!(!json.to_string().contains("\"ask\""));
            if let Answer::Deny(_) = answer {
                let reason = match agent {
                    Agent::Gemini => &json["reason"],
                    _ => &json["hookSpecificOutput"]["permissionDecisionReason"],
                };
                let length = reason.as_str().unwrap().len();
                assert!((1..=4096).contains(&length), "Codex ignores a denial without a reason");
            }
        }
    }
}

/// Codex has said "hook: PreToolUse Failed" to a permission alone.
#[test]
fn codex_is_permitted_by_no_objection() {
    assert_eq!(Answer::Allow.to_json(Agent::Codex), json!({}));
    assert_eq!(Answer::Allow.to_json(Agent::Gemini), json!({"decision": "allow"}));
}

#[test]
fn a_patch_in_a_command_of_codex_is_a_patch() {
    let patch = "*** Begin Patch\n*** Add File: a\n+b\n*** End Patch\n";
    let text = |command: String| call(Agent::Codex, "Bash", json!({ "command": command })).tool;
    let whole = call(
        Agent::Codex,
        "Bash",
        json!({"command": format!("apply_patch <<'EOF'\n{patch}EOF\n")}),
    );
    assert_eq!((whole.tool.as_str(), &whole.input), ("apply_patch", &json!({ "command": patch })));
    for other in [
        format!("apply_patch <<EOF\n{patch}EOF"),
        format!("apply_patch <<'EOF'\n{patch}EOF\ntouch x"),
        format!("apply_patch <<'EOF'\n{patch}EOF\ntouch x\nEOF"),
        format!("touch x; apply_patch <<'EOF'\n{patch}EOF"),
        format!("apply_patch <<'EOF'; touch x\n{patch}EOF"),
        format!("apply_patches <<'EOF'\n{patch}EOF"),
        "apply_patch".to_owned(),
    ] {
        assert_eq!(text(other.clone()), "Bash", "{other}");
    }
    let of_claude = json!({"command": format!("apply_patch <<'EOF'\n{patch}EOF\n")});
    assert_eq!(call(Agent::Claude, "Bash", of_claude).tool, "Bash");
}

#[test]
fn only_a_command_in_a_text_is_rewritten() {
    let rewritten = |agent, tool: &str, input| call(agent, tool, input).with_command("new");
    let bash = json!({"command": "old", "timeout": 5});
    let new = json!({"command": "new", "timeout": 5});
    assert_eq!(rewritten(Agent::Claude, "Bash", bash.clone()), Some(new.clone()));
    assert_eq!(rewritten(Agent::Gemini, "run_shell_command", bash.clone()), Some(new));
    for (tool, input) in [
        ("Write", bash),
        ("Bash", json!({"command": ["ls"]})),
        ("Bash", json!({})),
        ("apply_patch", json!({"command": "*** Begin Patch"})),
    ] {
        assert_eq!(rewritten(Agent::Codex, tool, input), None, "{tool}");
    }
}

#[test]
fn messages_come_back_as_they_were_sent() {
    let ask = Ask::Exec { ticket: "t".to_owned() };
    let sent = line(&Request::new(ask)).unwrap();
    let mut input = &sent[..];
    let request = read::<Request>(&mut input).unwrap().unwrap();
    assert_eq!(request.ask, Ask::Exec { ticket: "t".to_owned() });
    assert_eq!(read::<Request>(&mut input).unwrap(), None, "the end");
    for reply in [
        Reply::Ticket("t".to_owned()),
        Reply::Permitted,
        Reply::Stdout("a\nb".to_owned()),
        Reply::End { code: 3, message: String::new() },
    ] {
        let sent = line(&reply).unwrap();
        assert_eq!(sent.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert_eq!(read::<Reply>(&mut &sent[..]).unwrap(), Some(reply));
    }
}

#[test]
fn a_message_that_is_none_is_an_error() {
    let whole = line(&Reply::Permitted).unwrap();
    for bytes in [&whole[..whole.len() - 1], b"{}\n", b"\n", b"\"heron\"\n", b"\xff\n"] {
        assert!(read::<Reply>(&mut &bytes[..]).is_err(), "{bytes:?}");
    }
    let long = vec![b'x'; MAX_LINE + 10];
    assert!(read::<Reply>(&mut &long[..]).is_err());
    let more = b"{\"version\":1,\"ask\":{\"kind\":\"exec\",\"ticket\":\"t\"},\"more\":1}\n";
    assert!(read::<Request>(&mut &more[..]).is_err(), "no unknown field");
}
