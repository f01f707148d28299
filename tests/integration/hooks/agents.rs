//! The real agents, which `packaging/test.sh` installs, with their hooks set up by hand.

use serde_json::{Value, json};

use super::person::{Does, Window};
use crate::harness::agents::{ResponsesApi, gemini_answering, with_agent};
use crate::harness::home::{Done, Home, PROGRAM};

/// A call of a tool by the model of Gemini CLI.
fn gemini_call(tool: &str, input: &Value) -> Value {
    json!({"functionCall": {"name": tool, "args": input}})
}

/// Runs Gemini CLI, whose model makes these calls one after another and then says that it is done. Returns what the agent was
/// told about each call.
fn gemini(home: &Home, calls: &[Value], flags: &[&str]) -> Vec<String> {
    let start = gemini_answering(home, &[], true);
    let own = home.path().join(".gemini");
    // It counts its starts, and takes the answers of that number.
    let _ = std::fs::remove_file(own.join("n"));
    let parts = calls.iter().cloned().chain([json!({"text": "done"})]);
    let lines: String = parts
        .map(|part| {
            let response = json!([{"candidates": [{"content": {"parts": [part], "role": "model"},
                "finishReason": "STOP", "index": 0}], "usageMetadata": {"promptTokenCount": 1,
                "candidatesTokenCount": 1, "totalTokenCount": 2}}]);
            format!("{}\n", json!({"method": "generateContentStream", "response": response}))
        })
        .collect();
    std::fs::write(own.join("answer1"), lines).unwrap();
    let command = format!("{PROGRAM} hook --agent gemini {}", flags.join(" "));
    let hook = json!({"type": "command", "command": command, "timeout": 60_000});
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [hook]}]},
        "security": {"auth": {"selectedType": "gemini-api-key"}}});
    std::fs::write(own.join("settings.json"), settings.to_string()).unwrap();
    let mut command = home.command_of("gemini");
    with_agent(home, &mut command, Some(("gemini", &start)));
    command.env("GEMINI_API_KEY", "x").current_dir(home.file(""));
    let arguments = ["--approval-mode", "yolo", "--output-format", "stream-json", "--prompt", "go"];
    let done = Done::of(command.args(arguments)).exits(0);
    let events = done.lines().into_iter().filter(|event| event["type"] == "tool_result");
    events.map(|event| event.to_string()).collect()
}

#[test]
fn gemini_runs_a_command_by_a_ticket() {
    let home = Home::new();
    let _window = Window::open(&home, Does::Authorizes);
    let told = gemini(
        &home,
        &[gemini_call("run_shell_command", &json!({"command": "echo kingfisher | tee made"}))],
        &[],
    );
    assert!(told[0].contains("kingfisher"), "{told:?}");
    assert_eq!(std::fs::read_to_string(home.file("made")).unwrap(), "kingfisher\n");
    let run = home.texts("SELECT arguments_json FROM executions WHERE success = 1", []);
    assert_eq!(run.len(), 1, "the worker has run it");
}

#[test]
fn codex_runs_a_command_by_a_ticket() {
    let home = Home::new();
    let _window = Window::open(&home, Does::Authorizes);
    let told = codex(&home, "echo kingfisher | tee made", "--unsandboxed", "danger-full-access");
    assert!(told.contains("kingfisher"), "{told}");
    assert_eq!(std::fs::read_to_string(home.file("made")).unwrap(), "kingfisher\n");
    let run = home.texts("SELECT arguments_json FROM executions WHERE success = 1", []);
    assert_eq!(run.len(), 1, "the worker has run it");
}

/// Runs Codex, whose model makes one call. Returns what the model was told about it.
fn codex(home: &Home, command: &str, flags: &str, sandbox: &str) -> String {
    let arguments = json!({ "cmd": command }).to_string();
    let call = json!({"type": "function_call", "name": "exec_command", "call_id": "c1",
        "arguments": arguments});
    let api = ResponsesApi::of_codex(home, [Some(call), Some(json!("done"))]);
    let config = home.path().join(".codex/config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let hook = format!(
        "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"{PROGRAM} hook --agent codex \
         {flags}\"\ntimeout = 60\n"
    );
    std::fs::write(&config, text + &hook).unwrap();
    let mut agent = home.command_of("codex");
    with_agent(home, &mut agent, None);
    agent.current_dir(home.file("")).args(["exec", "--skip-git-repo-check", "--sandbox", sandbox]);
    Done::of(agent.args(["--dangerously-bypass-hook-trust", "go"])).exits(0);
    let asked = api.asked();
    let told = asked.last().unwrap()["input"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(told["type"], "function_call_output", "{told}");
    told["output"].to_string()
}

#[test]
fn agents_are_told_why_a_call_is_denied() {
    let home = Home::new();
    let _window = Window::open(&home, Does::Rejects("use the linter"));
    let touch = gemini_call("run_shell_command", &json!({"command": "touch made"}));
    let write = gemini_call("write_file", &json!({"file_path": home.file("made"), "content": "x"}));
    for told in gemini(&home, &[touch, write], &[]) {
        assert!(told.contains("the person says: use the linter"), "{told}");
    }
    let told = codex(&home, "touch made", "--unsandboxed", "danger-full-access");
    assert!(told.contains("the person says: use the linter"), "{told}");
    assert!(!home.file("made").exists());
}

#[test]
fn without_a_window_or_in_time_agents_run_nothing() {
    let home = Home::new();
    let touch = gemini_call("run_shell_command", &json!({"command": "touch made"}));
    let told = gemini(&home, std::slice::from_ref(&touch), &[]);
    assert!(told[0].contains("No window of Countersign is open"), "{told:?}");
    let told = codex(&home, "touch made", "--unsandboxed", "danger-full-access");
    assert!(told.contains("No window of Countersign is open"), "{told}");
    let _window = Window::open(&home, Does::Nothing);
    let told = gemini(&home, &[touch], &["--timeout", "3"]);
    assert!(told[0].contains("nobody decided"), "{told:?}");
    let told = codex(&home, "touch made", "--unsandboxed --timeout 3", "danger-full-access");
    assert!(told.contains("nobody decided"), "{told}");
    assert!(!home.file("made").exists());
}

/// From its default sandbox nothing connects to the window, so that the command waits in the inbox.
#[test]
fn codex_in_its_sandbox_gets_a_handle() {
    let home = Home::new();
    let told = codex(&home, "touch made", "", "workspace-write");
    assert!(told.contains("It waits as the plan"), "{told}");
    let listed = home.json(["inbox", "list"]).exits(0).document();
    assert_eq!(listed["entries"].as_array().unwrap().len(), 1);
    assert!(!home.file("made").exists());
}

/// Codex applies a patch itself, so that the hook only permits it.
#[test]
fn codex_makes_a_permitted_change_itself() {
    let home = Home::new();
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: made\n+kingfisher\n*** End Patch\nEOF\n";
    {
        let _window = Window::open(&home, Does::Rejects("no"));
        let told = codex(&home, patch, "", "danger-full-access");
        assert!(told.contains("the person says: no"), "{told}");
        assert!(!home.file("made").exists());
    }
    let _window = Window::open(&home, Does::Authorizes);
    let told = codex(&home, patch, "", "danger-full-access");
    assert!(told.contains("Success"), "{told}");
    assert_eq!(std::fs::read_to_string(home.file("made")).unwrap(), "kingfisher\n");
    let methods = home.texts("SELECT method FROM authorizations ORDER BY rowid", []);
    assert_eq!(methods, ["window", "agent_call"]);
}

#[test]
fn gemini_makes_a_permitted_change_itself() {
    let home = Home::new();
    let _window = Window::open(&home, Does::Authorizes);
    let file = home.file("").canonicalize().unwrap().join("made");
    let write = gemini_call("write_file", &json!({"file_path": file, "content": "kingfisher"}));
    let read = gemini_call("read_file", &json!({"file_path": file}));
    let told = gemini(&home, &[write, read], &[]);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "kingfisher");
    assert_eq!(told.len(), 2);
    assert_eq!(home.texts("SELECT method FROM authorizations", []), ["agent_call"]);
    assert!(home.texts("SELECT id FROM runs", []).is_empty());
}
