use std::cell::RefCell;

use serde_json::json;

use super::*;

fn output(failure: Option<&str>, stdout: &str, stderr: &str) -> AgentOutput {
    AgentOutput {
        failure: failure.map(str::to_owned),
        stdout: stdout.as_bytes().to_vec(),
        stderr: stderr.as_bytes().to_vec(),
    }
}

fn text_of(agent: Agent, stdout: &str) -> Result<String, Failure> {
    read(agent, &output(None, stdout, "")).map(|bytes| String::from_utf8(bytes).unwrap())
}

fn of_text(text: &str) -> Result<String, Failure> {
    text_of(Agent::Gemini, &json!({ "response": text }).to_string())
}

// As Codex 0.171.0 prints them.
fn codex(text: &str) -> String {
    let message = json!({"type": "item.completed",
        "item": {"id": "item_1", "type": "agent_message", "text": text}});
    format!(
        "{}\n{}\n{message}\n{}\n",
        json!({"type": "thread.started", "thread_id": "01a2"}),
        json!({"type": "turn.started"}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 1}})
    )
}

#[test]
fn each_agent_has_its_form_of_an_answer() {
    let answer = r#"{"answers_goal":null,"looks":null,"plan":{"goal":"g","metadata":null}}"#;
    let expected = "{\"plan\":{\"goal\":\"g\"}}\n";
    let claude = |fields: Value| {
        let mut result = json!({"type": "result", "subtype": "success", "is_error": false});
        result.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        result.to_string()
    };
    let structured: Value = serde_json::from_str(answer).unwrap();
    for (agent, stdout) in [
        (Agent::Codex, codex(answer)),
        // The last message counts.
        (Agent::Codex, format!("{}{}", codex("I look around."), codex(answer))),
        (Agent::Claude, claude(json!({"result": "Done.", "structured_output": structured}))),
        (Agent::Claude, claude(json!({"result": answer}))),
        (Agent::Gemini, json!({"session_id": "s", "response": answer, "stats": {}}).to_string()),
        (Agent::Gemini, json!({ "response": format!("```json\n{answer}\n```") }).to_string()),
    ] {
        assert_eq!(text_of(agent, &stdout).unwrap(), expected, "{agent:?} {stdout}");
    }
}

#[test]
fn only_nulls_are_dropped_from_an_answer() {
    let look = r#"{"looks":[{"read":"a","lines":null,"glob":null}],"plan":null}"#;
    assert_eq!(of_text(look).unwrap(), "{\"looks\":[{\"read\":\"a\"}]}\n");
    assert_eq!(of_text(r#"{"looks":[],"plan":{}}"#).unwrap(), "{\"plan\":{}}\n");
    assert_eq!(of_text(r#"{"looks":[]}"#).unwrap(), "{\"looks\":[]}\n");
    let list = r#"{"plan":{"a":[null,"",0,false,{}]}}"#;
    assert_eq!(of_text(list).unwrap(), format!("{list}\n"));
    for (bad, why) in [
        ("Here is the plan: {}", "no JSON"),
        ("", "the answer is empty"),
        ("[1]", "no JSON object"),
        (r#"{"plan":{"a":null,"a":1}}"#, "a field twice"),
    ] {
        let failure = of_text(bad).unwrap_err();
        assert!(failure.message.contains(why) && failure.retryable, "{bad}: {failure:?}");
    }
}

#[test]
fn failures_have_the_words_of_the_agent() {
    let unauthorized = json!({"type": "turn.failed", "error":
        {"message": "unexpected status 401 Unauthorized: Incorrect API key provided"}});
    let refused = json!({"error": {"message": "Invalid schema", "code": "invalid_json_schema"}});
    let refused = json!({"type": "error", "message": refused.to_string()});
    let not_logged_in = json!({"type": "result", "subtype": "success", "is_error": true,
        "result": "Not logged in · Please run /login"});
    let no_output = json!({"type": "result", "subtype": "error_max_structured_output_retries",
        "is_error": true, "errors": ["the output has no plan"]});
    let no_auth = json!({"session_id": "s", "error":
        {"type": "Error", "message": "Please set an Auth method in settings.json", "code": 41}});
    let warned = format!("Warning: 256 colours {{}}\n{no_auth:#}\n");
    let untrusted = format!("{}\n\u{1b}[31mNot running in trust\u{1b}[0m\n", "x".repeat(600));
    let ended = Some("it ended with exit code 1");
    for (agent, output, words, retryable) in [
        (Agent::Codex, output(ended, &unauthorized.to_string(), ""), "Incorrect API key", false),
        (Agent::Codex, output(ended, &refused.to_string(), ""), "1: Invalid schema", true),
        (Agent::Codex, output(ended, "", "error: unexpected argument '--x'"), "'--x'", false),
        (Agent::Codex, output(None, "", ""), "codex gave no answer", true),
        (Agent::Claude, output(ended, &not_logged_in.to_string(), ""), "run /login", false),
        (Agent::Claude, output(None, &no_output.to_string(), ""), "has no plan", true),
        (Agent::Claude, output(ended, "", "out of memory"), "1: out of memory", true),
        (Agent::Gemini, output(ended, "", &warned), "set an Auth method", false),
        (Agent::Gemini, output(ended, "", &untrusted), "code 1: Not running in trust", true),
        (Agent::Gemini, output(Some("gemini was ended by signal 9"), "", ""), "signal 9", true),
    ] {
        let failure = read(agent, &output).unwrap_err();
        assert!(failure.message.contains(words), "{agent:?}: {}", failure.message);
        assert_eq!(failure.retryable, retryable, "{}", failure.message);
    }
    let refusal = json!({"type": "result", "subtype": "success", "is_error": false,
        "stop_reason": "refusal", "result": "I cannot help with that."});
    let refusal = text_of(Agent::Claude, &refusal.to_string()).unwrap_err();
    assert_eq!((refusal.code, refusal.retryable), ("unsafe_plan", false));
    assert!(refusal.message.ends_with("I cannot help with that."));
    // An answer of a program that failed does not count.
    assert!(read(Agent::Codex, &output(ended, &codex("{}"), "")).is_err());
}

#[test]
fn events_of_codex_are_shown_when_complete() {
    let said = RefCell::new(String::new());
    let say = |text: &str| said.borrow_mut().push_str(text);
    let mut events = Events::default();
    let runs = json!({"type": "item.started", "item":
        {"type": "command_execution", "command": "ls -l"}})
    .to_string();
    let (head, tail) = runs.split_at(20);
    events.add(head, &say);
    assert_eq!(*said.borrow(), "");
    events.add(&format!("{tail}\n{}", codex("{}")), &say);
    events.add("no JSON\n{\"type\":\"error\",\"message\":\"Reconnecting\"}\n", &say);
    assert_eq!(*said.borrow(), "Codex runs ls -l\nReconnecting\n");
}
