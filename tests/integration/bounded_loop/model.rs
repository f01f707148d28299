//! The planner `openai-compatible` (SPEC §10), as a process that reads a request and prints a plan. A test's HTTP
//! server on loopback takes the place of the model.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread::{self, JoinHandle};

use countersign::plan::parse;
use serde_json::{Value, json};

use super::cargo_fix::bounded_loop;
use crate::harness::home::Home;

const KEY: &str = "sk-test-3f9a7c51d2e84b06";

/// The request that the server got.
struct HttpRequest {
    path: String,
    authorization: Option<String>,
    body: Value,
}

/// A server that accepts one connection and sends the bytes that the test writes.
struct TestServer {
    url: String,
    thread: JoinHandle<HttpRequest>,
}

fn serve(answer: impl FnOnce(&mut TcpStream) + Send + 'static) -> TestServer {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let serving = move || {
        let (mut stream, _) = listener.accept().unwrap();
        let asked = read_request(&stream);
        answer(&mut stream);
        asked
    };
    let thread = thread::Builder::new().name("server".to_owned()).spawn(serving).unwrap();
    TestServer { url, thread }
}

fn read_request(stream: &TcpStream) -> HttpRequest {
    let mut reader = BufReader::new(stream);
    let (mut path, mut authorization, mut length) = (String::new(), None, 0);
    for number in 0.. {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if number == 0 {
            path = line.split(' ').nth(1).unwrap().to_owned();
        } else if let Some((name, value)) = line.split_once(": ") {
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap(),
                "authorization" => authorization = Some(value.to_owned()),
                _ => {}
            }
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    HttpRequest { path, authorization, body: serde_json::from_slice(&body).unwrap() }
}

/// An HTTP response with this status and body.
fn http_response(status: &str, kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn chat(content: &str) -> String {
    let body = json!({ "id": "1", "object": "chat.completion", "model": "m", "choices": [
        { "index": 0, "message": { "role": "assistant", "content": content }, "finish_reason": "stop" }
    ] });
    http_response("200 OK", "application/json", &body.to_string())
}

fn event(delta: &Value, reason: Option<&str>) -> String {
    format!(
        "data: {}\n\n",
        json!({ "choices": [
        { "index": 0, "delta": delta, "finish_reason": reason }] })
    )
}

const EVENTS: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// Waits until the client closes the connection.
fn wait_for_close(stream: &mut TcpStream) {
    let _ = stream.read_to_end(&mut Vec::new());
}

fn a_plan() -> String {
    json!({ "version": "2026-02-19", "goal": "g",
        "actions": [{ "type": "verify", "request": {}, "rationale": "r" }] })
    .to_string()
}

pub fn request() -> Value {
    json!({ "protocol": 1, "goal": "mend it", "attempt": 2, "max_attempts": 3,
        "last_attempt": { "diagnostics": [{ "message": "mismatched types" }] } })
}

/// The plan and stderr of the planner for a server at this address, with these settings.
fn run_planner(url: &str, settings: &str) -> (Value, String) {
    let home = Home::new();
    home.settings(format!("[model]\nname = \"small\"\n{settings}"));
    let mut command = home.command();
    command.args(["planner", "openai-compatible"]).env("COUNTERSIGN_MODEL_URL", url);
    command.env("COUNTERSIGN_MODEL_KEY", KEY).write_stdin(request().to_string());
    // The environment of the tests must not redirect the request.
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "OPENAI_BASE_URL"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(
        !stdout.contains(KEY) && !stderr.contains(KEY),
        "the key was printed: {stdout}{stderr}"
    );
    let plan = parse(stdout.as_bytes());
    assert!(plan.is_valid(), "{stdout}\n{:?}", plan.findings);
    (serde_json::from_str(&stdout).unwrap(), stderr)
}

/// Asserts that the planner prints a failure with this code and message.
#[track_caller]
fn assert_failure(url: &str, settings: &str, code: &str, retryable: bool, says: &str) {
    let (plan, _) = run_planner(url, settings);
    let failure = &plan["failure"];
    assert_eq!(
        (&failure["code"], &failure["retryable"]),
        (&json!(code), &json!(retryable)),
        "{plan}"
    );
    assert!(failure["message"].as_str().unwrap().contains(says), "{plan}");
}

#[test]
fn model_gets_request_and_plan_schema() {
    let served = serve(|stream| stream.write_all(chat(&a_plan()).as_bytes()).unwrap());
    let (plan, stderr) = run_planner(&served.url, "stream = false\n");
    assert_eq!(plan["actions"][0]["type"], "verify");
    assert!(stderr.contains("Asking small at http://127.0.0.1"), "{stderr}");
    let asked = served.thread.join().unwrap();
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.authorization, Some(format!("Bearer {KEY}")));
    assert_eq!(asked.body["model"], "small");
    assert_eq!(asked.body["stream"], false);
    let schema = &asked.body["tools"][0]["function"]["parameters"]["$defs"]["plan"];
    let shipped: Value = serde_json::from_slice(
        &fs::read(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/schema/action-plan.schema.json"),
        )
        .unwrap(),
    )
    .unwrap();
    assert_eq!(schema["properties"], shipped["properties"]);
    let user = asked.body["messages"][1]["content"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(user).unwrap(), request());
}

#[test]
fn server_without_functions_gets_none() {
    let served = serve(|stream| stream.write_all(chat(&a_plan()).as_bytes()).unwrap());
    run_planner(&served.url, "tools = false\n");
    let asked = served.thread.join().unwrap();
    assert_eq!(asked.body.get("tools"), None);
    assert_eq!(asked.body["stream"], true);
}

#[test]
fn an_answer_may_come_in_pieces() {
    let served = serve(|stream| {
        stream.write_all(EVENTS.as_bytes()).unwrap();
        let plan = a_plan();
        for piece in plan.as_bytes().chunks(7) {
            let text = std::str::from_utf8(piece).unwrap();
            stream.write_all(event(&json!({ "content": text }), None).as_bytes()).unwrap();
            stream.flush().unwrap();
        }
        stream.write_all(event(&json!({}), Some("stop")).as_bytes()).unwrap();
        stream.write_all(b"data: [DONE]\n\n").unwrap();
    });
    let (plan, _) = run_planner(&served.url, "");
    assert_eq!(plan["goal"], "g");
    served.thread.join().unwrap();
}

#[test]
fn plan_may_come_as_streamed_function_call() {
    let served = serve(|stream| {
        stream.write_all(EVENTS.as_bytes()).unwrap();
        let plan = a_plan();
        let (one, two) = plan.split_at(20);
        for (name, arguments) in [(Some("submit_plan"), one), (None, two)] {
            let delta = json!({ "tool_calls": [
                { "index": 0, "function": { "name": name, "arguments": arguments } }] });
            stream.write_all(event(&delta, None).as_bytes()).unwrap();
        }
        stream.write_all(event(&json!({}), Some("tool_calls")).as_bytes()).unwrap();
        stream.write_all(b"data: [DONE]\n\n").unwrap();
    });
    let (plan, _) = run_planner(&served.url, "");
    assert_eq!(plan["goal"], "g");
    served.thread.join().unwrap();
}

#[test]
fn server_errors_are_quoted_without_the_key() {
    for (status, retryable, says) in [
        ("401 Unauthorized", false, "does not accept the key"),
        ("404 Not Found", false, "does not know the address or the model"),
        ("400 Bad Request", false, "refuses the request"),
        ("429 Too Many Requests", true, "is overloaded"),
        ("500 Internal Server Error", true, "failed"),
        ("503 Service Unavailable", true, "failed"),
        ("307 Temporary Redirect", false, "redirects to another address"),
    ] {
        let body =
            json!({ "error": { "message": format!("no: {KEY} is what you sent") } }).to_string();
        let answer =
            http_response(status, "application/json\r\nlocation: http://127.0.0.1:1/", &body);
        let served = serve(move |stream| stream.write_all(answer.as_bytes()).unwrap());
        assert_failure(&served.url, "", "planner_unavailable", retryable, says);
        served.thread.join().unwrap();
    }
    let body = json!({ "error": { "message": "the model is too large" } }).to_string();
    let served = serve(move |stream| {
        stream.write_all(http_response("500 Oh", "application/json", &body).as_bytes()).unwrap();
    });
    assert_failure(&served.url, "", "planner_unavailable", true, "the model is too large");
}

#[test]
fn unusable_answers_are_planner_failures() {
    for (answer, says) in [
        (chat("Here is your plan: do it."), "the answer begins: Here is your plan"),
        (chat(""), "the answer is empty"),
        (http_response("200 OK", "text/html", "<html>welcome</html>"), "no answer of a chat"),
        (http_response("200 OK", "application/json", ""), "empty"),
    ] {
        let served = serve(move |stream| stream.write_all(answer.as_bytes()).unwrap());
        assert_failure(&served.url, "", "validation_failed", true, says);
        served.thread.join().unwrap();
    }
    let error = json!({ "error": { "message": "cuda out of memory" } });
    let served = serve(move |stream| {
        stream.write_all(format!("{EVENTS}data: {error}\n\n").as_bytes()).unwrap();
    });
    assert_failure(&served.url, "", "planner_unavailable", true, "cuda out of memory");
}

#[test]
fn truncated_answer_is_no_plan() {
    let of_whole = chat(&a_plan());
    let half = of_whole[..of_whole.len() - 30].to_owned();
    let one = event(&json!({ "content": "{\"version\"" }), None);
    for answer in [
        half,
        format!("{EVENTS}{one}"),
        format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
             {:x}\r\n{one}\r\n",
            one.len()
        ),
    ] {
        let served = serve(move |stream| stream.write_all(answer.as_bytes()).unwrap());
        assert_failure(&served.url, "", "validation_failed", true, "cut off");
        served.thread.join().unwrap();
    }
}

#[test]
fn a_slow_server_is_given_up_on() {
    let silent = serve(wait_for_close);
    assert_failure(&silent.url, "timeout_seconds = 1\n", "planner_unavailable", true, "within 1 s");
    silent.thread.join().unwrap();
    let stuck = serve(|stream| {
        stream.write_all(EVENTS.as_bytes()).unwrap();
        stream.write_all(event(&json!({ "content": "{" }), None).as_bytes()).unwrap();
        wait_for_close(stream);
    });
    assert_failure(&stuck.url, "timeout_seconds = 1\n", "planner_unavailable", true, "within 1 s");
    stuck.thread.join().unwrap();
}

#[test]
fn absent_server_is_reported_with_advice() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    assert_failure(&url, "", "planner_unavailable", true, "Start the server");
    assert_failure("not an address", "", "planner_unavailable", false, "is no address");
}

#[test]
fn incomplete_planner_settings_are_usage_errors() {
    let home = Home::new();
    let ask = ["--workspace", "space", "--planner", "openai-compatible"];
    for arguments in [
        &["planner", "openai-compatible"][..],
        &["planner", "replay"],
        // They do not begin an attempt only to find that out.
        &[&["loop", "--goal", "g"][..], &ask].concat(),
        &[&["plan", "g"][..], &ask].concat(),
    ] {
        let mut command = home.command();
        for name in
            ["COUNTERSIGN_MODEL_URL", "OPENAI_BASE_URL", "COUNTERSIGN_MODEL", "OPENAI_MODEL"]
        {
            command.env_remove(name);
        }
        let output = command.args(arguments).write_stdin(request().to_string()).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(5), 0), "{arguments:?}");
        let why = String::from_utf8(output.stderr).unwrap();
        assert!(
            why.contains("openai-compatible needs the address") || why.contains("replay needs")
        );
    }
    assert!(!home.evidence().join("execution_log.db").exists(), "nothing was begun");
    let output = home.command().args(["planner", "cargo-fix"]).write_stdin("[]").output().unwrap();
    assert_eq!(output.status.code(), Some(5));
}

/// The key of the model is not in the evidence.
#[test]
fn loop_with_model_applies_plan_without_key() {
    let plan = json!({ "version": "2026-02-19", "goal": "g", "actions": [
        { "type": "mutate_batch", "rationale": "It is missing.", "request": { "edits": [
            { "op": "create", "path": "notes/heron.txt", "contents": "grey\n" }] } }] });
    let served = serve(move |stream| stream.write_all(chat(&plan.to_string()).as_bytes()).unwrap());
    let home = Home::new();
    let folder = home.path().join("space");
    let mut command = home.command();
    command.env("COUNTERSIGN_MODEL_URL", &served.url).env("COUNTERSIGN_MODEL", "small");
    command.env("COUNTERSIGN_MODEL_KEY", KEY);
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env_remove(name);
    }
    let ended = bounded_loop(&mut command, &folder, "openai-compatible", "none");
    assert_eq!(ended["stop_reason"]["code"], "completed", "{ended:#}");
    assert_eq!(fs::read_to_string(folder.join("notes/heron.txt")).unwrap(), "grey\n");
    let asked = served.thread.join().unwrap();
    assert_eq!(asked.authorization, Some(format!("Bearer {KEY}")));
    let user = asked.body["messages"][1]["content"].as_str().unwrap();
    assert!(user.contains("No warning is left") && !user.contains(KEY));
    let mut files = 0;
    for entry in fs::read_dir(home.evidence()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            files += 1;
            let bytes = fs::read(&path).unwrap();
            assert!(!bytes.windows(KEY.len()).any(|it| it == KEY.as_bytes()), "{}", path.display());
        }
    }
    assert!(files > 0);
}
