//! The planners `codex`, `claude` and `gemini` (SPEC §13): the real programs of Codex and Gemini CLI without their servers,
//! and a stand-in for Claude Code, which is not free software.

use std::fs;

use serde_json::{Value, json};

use crate::harness::agents::{ResponsesApi, gemini_answering, text_of, with_agent};
use crate::harness::home::{Done, Home};

const GOAL: &str = "write the note";

/// A plan as an agent with an output schema answers: every field is there.
fn strict_plan() -> Value {
    let edit = json!({"op": "create", "path": "note.txt", "contents": "grey heron\n"});
    let request = json!({"edits": [edit], "dry_run": null});
    let action = json!({"type": "mutate_batch", "request": request, "rationale": "the note"});
    let plan = json!({"version": "2026-02-19", "goal": GOAL, "metadata": null, "failure": null,
        "actions": [action]});
    json!({"plan": plan, "looks": null, "answers_goal": null})
}

fn strict_looks() -> Value {
    let mut look = json!({"read": "heron.txt"});
    for name in ["search", "root", "glob", "symbol", "inspect", "host", "lines"] {
        look[name] = Value::Null;
    }
    json!({"plan": null, "looks": [look], "answers_goal": null})
}

/// Runs `plan` or `loop` with an agent.
fn run(home: &Home, words: &[&str], script: Option<(&str, &str)>) -> Done {
    let mut command = home.command();
    command.args(words).args(["--workspace", "space", "--evidence", "evidence", "--json"]);
    with_agent(home, &mut command, script);
    command.env("GEMINI_API_KEY", "none");
    Done::of(&mut command)
}

fn attempt(done: &Done) -> Value {
    let document = done.document();
    let outcome = document.get("loop").unwrap_or(&document);
    outcome["attempts"].as_array().unwrap().last().unwrap().clone()
}

#[test]
fn codex_looks_plans_and_its_plan_runs() {
    let home = Home::new();
    home.write("heron.txt", "a grey bird\n");
    let answers = [strict_looks(), strict_plan()].map(|answer| Some(json!(answer.to_string())));
    let server = ResponsesApi::of_codex(&home, answers);
    let words = ["loop", "--goal", GOAL, "--planner", "codex", "--yes", "--verify", "none"];
    let done = run(&home, &words, None).exits(0);
    assert_eq!(done.document()["stop_reason"]["code"], "completed", "{done:#?}");
    assert_eq!(text_of(&home.file("note.txt")), "grey heron\n");
    assert_eq!(attempt(&done)["looks"][0]["ok"], true);
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    let format = &asked[0]["text"]["format"];
    assert_eq!((&format["type"], &format["strict"]), (&json!("json_schema"), &json!(true)));
    let schema = jsonschema::validator_for(&format["schema"]).unwrap();
    for answer in [strict_plan(), strict_looks()] {
        assert!(schema.is_valid(&answer), "{answer}");
    }
    let prompt = asked[1]["input"].to_string();
    for part in [GOAL, "mutate_batch", "a grey bird", "read-only"] {
        assert!(prompt.contains(part), "{part}");
    }
    // No session of the agent is left.
    assert!(!home.path().join(".codex/sessions").exists());
}

// The first plan of the model writes a file with the agent's own tool.
#[test]
fn codex_itself_writes_nothing() {
    let home = Home::new();
    let command = "echo x > made-by-codex; echo x > \"$HOME/made-by-codex\"; echo x >> \"$HOME/.codex/config.toml\"";
    let arguments = json!({"cmd": command, "yield_time_ms": 5000}).to_string();
    let call = json!({"type": "function_call", "call_id": "c", "name": "exec_command",
        "arguments": arguments});
    let server =
        ResponsesApi::of_codex(&home, [Some(call), Some(json!(strict_plan().to_string()))]);
    let settings = text_of(&home.path().join(".codex/config.toml"));
    let done = run(&home, &["plan", GOAL, "--planner", "codex:mock"], None).exits(0);
    assert!(done.document()["plan"].as_str().unwrap().contains("grey heron"));
    assert_eq!(server.asked().len(), 2, "{done:#?}");
    assert!(!home.file("made-by-codex").exists() && !home.path().join("made-by-codex").exists());
    assert_eq!(text_of(&home.path().join(".codex/config.toml")), settings);
}

#[test]
fn codex_without_a_login_says_so_once() {
    let home = Home::new();
    let _server = ResponsesApi::of_codex(&home, [None]);
    let done = run(&home, &["plan", GOAL, "--planner", "codex"], None).exits(2);
    let planner = &attempt(&done)["planner"];
    assert_eq!(planner["failure_code"], "planner_unavailable", "{done:#?}");
    assert_eq!(planner["retryable"], false);
    let message = planner["message"].as_str().unwrap();
    assert!(message.contains("401 Unauthorized: Incorrect API key provided"), "{message}");
    assert_eq!(done.document()["loop"]["attempts"].as_array().unwrap().len(), 1);
}

#[test]
fn gemini_plans_in_its_plan_mode() {
    let home = Home::new();
    let answer = format!("```json\n{}\n```", strict_plan());
    // The first answer is none: the model tells instead of planning.
    let script = gemini_answering(&home, &["I would write a note.", &answer], true);
    let done = run(&home, &["plan", GOAL, "--planner", "gemini"], Some(("gemini", &script)));
    let done = done.exits(0);
    assert!(done.document()["plan"].as_str().unwrap().contains("grey heron"));
    let attempts = done.document()["loop"]["attempts"].clone();
    let first = &attempts[0]["planner"];
    assert_eq!(first["failure_code"], "validation_failed", "{done:#?}");
    let message = first["message"].as_str().unwrap();
    assert!(message.ends_with("the answer begins: I would write a note."), "{message}");
    let own = home.path().join(".gemini");
    assert!(text_of(&own.join("arguments")).contains("--approval-mode=plan"));
    let prompt = text_of(&own.join("prompt2"));
    for part in [GOAL, "mutate_batch", "expected_hashes", "I would write a note."] {
        assert!(prompt.contains(part), "{part}");
    }
}

#[test]
fn gemini_that_does_not_trust_the_workspace_says_so() {
    let home = Home::new();
    let script = gemini_answering(&home, &["{}"], false);
    let done = run(&home, &["plan", GOAL, "--planner", "gemini"], Some(("gemini", &script)));
    let planner = &attempt(&done.exits(2))["planner"];
    let message = planner["message"].as_str().unwrap();
    assert!(message.contains("not running in a trusted directory"), "{message}");
    assert_eq!(planner["retryable"], false);
}

/// Prints as the types of `@anthropic-ai/claude-agent-sdk` 0.3.332 describe it, after it tried to write.
const CLAUDE: &str = r#"#!/bin/sh
own=$HOME/.claude
printf '%s\n' "$@" >"$own/arguments"
cat >"$own/prompt"
for file in "$own/settings.json" "$own/hooks/start" "$HOME/made" made "$own/session"; do
    echo x >>"$file"
done 2>"$own/refused"
cat "$own/answer"
"#;

fn claude(home: &Home, answer: &Value) -> Done {
    let own = home.path().join(".claude");
    fs::create_dir_all(own.join("hooks")).unwrap();
    fs::write(own.join("settings.json"), "{}").unwrap();
    fs::write(own.join("answer"), answer.to_string()).unwrap();
    run(home, &["plan", GOAL, "--planner", "claude:opus"], Some(("claude", CLAUDE)))
}

#[test]
fn claude_plans_and_writes_only_its_own_folder() {
    let home = Home::new();
    let result = json!({"type": "result", "subtype": "success", "is_error": false,
        "result": "", "structured_output": strict_plan(), "stop_reason": "tool_use"});
    let done = claude(&home, &result).exits(0);
    assert!(done.document()["plan"].as_str().unwrap().contains("grey heron"));
    let own = home.path().join(".claude");
    let arguments = text_of(&own.join("arguments"));
    let lines: Vec<&str> = arguments.lines().collect();
    for word in ["--print", "--output-format=json", "--permission-mode=plan", "--model=opus"] {
        assert!(lines.contains(&word), "{word} {lines:?}");
    }
    let place = lines.iter().position(|line| *line == "--json-schema").unwrap();
    let schema = serde_json::from_str(lines[place + 1]).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&strict_plan()));
    assert!(text_of(&own.join("prompt")).contains(GOAL));
    // Its settings, its hooks and everything outside of its folder stay as they are.
    assert_eq!(text_of(&own.join("settings.json")), "{}");
    assert!(!home.file("made").exists() && !home.path().join("made").exists());
    assert!(!own.join("hooks/start").exists());
    assert_eq!(text_of(&own.join("session")), "x\n");
}

// No mount can protect a folder that is not there, so the answer does not count, and no program finds the hook.
#[test]
fn claude_making_a_hook_for_later_is_refused() {
    let home = Home::new();
    let own = home.path().join(".claude");
    fs::create_dir(&own).unwrap();
    let script = "#!/bin/sh\ncd ~/.claude && mkdir hooks && echo x >hooks/start && cat answer\n";
    let result = json!({"type": "result", "subtype": "success", "is_error": false,
        "result": "", "structured_output": strict_plan()});
    fs::write(own.join("answer"), result.to_string()).unwrap();
    let words = ["plan", GOAL, "--planner", "claude"];
    let done = run(&home, &words, Some(("claude", script))).exits(2);
    let planner = &attempt(&done)["planner"];
    assert_eq!(planner["retryable"], false, "{done:#?}");
    assert!(planner["message"].as_str().unwrap().contains("may not write"), "{planner}");
    assert!(!own.join("hooks/start").exists());
}

// Otherwise it would look by its own tools.
#[test]
fn agent_without_looks_does_not_see_the_workspace() {
    let script =
        "#!/bin/sh\ncat heron.txt ../space/heron.txt >~/.claude/seen 2>&1\ncat ~/.claude/answer\n";
    let result = json!({"type": "result", "subtype": "success", "is_error": false,
        "result": "", "structured_output": strict_plan()});
    for (looks, sees) in [("workspace", true), ("none", false)] {
        let home = Home::new();
        home.write("heron.txt", "a grey bird\n");
        fs::create_dir(home.path().join(".claude")).unwrap();
        fs::write(home.path().join(".claude/answer"), result.to_string()).unwrap();
        let words = ["plan", GOAL, "--planner", "claude", "--looks", looks];
        let done = run(&home, &words, Some(("claude", script))).exits(0);
        assert!(done.document()["plan"].as_str().unwrap().contains("grey heron"));
        let seen = text_of(&home.path().join(".claude/seen"));
        assert_eq!(seen.contains("a grey bird"), sees, "{looks}: {seen}");
    }
}

#[test]
fn claude_refusing_or_without_login_gives_its_words() {
    for (result, words, code) in [
        (
            json!({"type": "result", "subtype": "success", "is_error": true,
                "result": "Not logged in · Please run /login", "stop_reason": "stop_sequence"}),
            "Not logged in · Please run /login",
            "planner_unavailable",
        ),
        (
            json!({"type": "result", "subtype": "success", "is_error": false,
                "result": "I cannot help.", "stop_reason": "refusal"}),
            "the model refuses: I cannot help.",
            "unsafe_plan",
        ),
    ] {
        let home = Home::new();
        let done = claude(&home, &result).exits(2);
        let planner = &attempt(&done)["planner"];
        assert_eq!(planner["failure_code"], code, "{done:#?}");
        assert!(planner["message"].as_str().unwrap().contains(words), "{planner}");
    }
}

#[test]
fn slow_agent_is_ended_at_the_timeout() {
    let home = Home::new();
    let words =
        ["plan", GOAL, "--planner", "codex", "--planner-timeout", "2", "--max-attempts", "1"];
    let done = run(&home, &words, Some(("codex", "#!/bin/sh\nexec sleep 600\n"))).exits(2);
    let planner = &attempt(&done)["planner"];
    assert_eq!(planner["failure_code"], "planner_provider_error", "{done:#?}");
    assert!(planner["message"].as_str().unwrap().contains("ended after 2 s"));
}

#[test]
fn missing_agent_is_named_and_its_permissions_are_shown() {
    let home = Home::new();
    let mut command = home.command();
    command.args(["plan", GOAL, "--planner", "gemini", "--workspace", "space"]);
    command
        .args(["--evidence", "evidence"])
        .env("PATH", "/usr/bin:/bin")
        .env_remove("GEMINI_CLI_HOME");
    let done = Done::of(&mut command).exits(2);
    assert!(done.stderr.contains("gemini is not on PATH. Install gemini"), "{}", done.stderr);
    let folder = home.path().join(".gemini");
    let shown = format!("reads, writes {} without its settings, network", folder.display());
    assert!(done.stderr.contains(&shown), "{}", done.stderr);
}
