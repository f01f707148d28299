//! `countersign mcp` (SPEC §13), with the client of the official SDK, which `packaging/test.sh` installs, and with lines that
//! no client sends.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use countersign::authorization::{Method, PlanAuthorization};
use countersign::engine::{Clock as _, SystemClock, WorkspaceChoice, review};
use countersign::evidence::{EvidenceLocation, UserFolders};
use countersign::plan::parse;
use countersign::risk::Policy;
use serde_json::{Value, json};

use crate::harness::agents::{ResponsesApi, gemini_answering, installed, with_agent};
use crate::harness::create_file;
use crate::harness::home::{Done, Home, PROGRAM};

/// A process that answers each line with a line: the server, or a client of it.
struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Peer {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { input: child.stdin.take(), output, child }
    }

    /// The server with the evidence of this home.
    fn server(home: &Home) -> Self {
        Self::start(home.child(["mcp"]))
    }

    /// The client of the SDK, which starts the server. Returns it with what it says about the server.
    #[expect(clippy::disallowed_methods, reason = "the client is no part of the program")]
    fn client(home: &Home, mode: &str) -> (Self, Value) {
        let python = installed("COUNTERSIGN_MCP_PYTHON", "mcp-sdk/bin/python");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/client.py");
        let mut command = Command::new(python);
        command.arg(script).args([mode, PROGRAM, "mcp", "--evidence"]).arg(home.evidence());
        command.env("HOME", home.path()).env("PYTHONDONTWRITEBYTECODE", "1");
        for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            command.env_remove(name);
        }
        let mut client = Self::start(command);
        let about = client.next();
        (client, about)
    }

    fn send(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.send(message.to_string().as_bytes());
        self.next()
    }

    /// The result of a call of the client.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask(&json!({ "tool": tool, "arguments": arguments }));
        assert_eq!(answer["is_error"], false, "{answer}");
        answer["result"].clone()
    }

    /// Why a call of the client fails.
    fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.ask(&json!({ "tool": tool, "arguments": arguments }));
        assert_eq!(answer["is_error"], true, "{answer}");
        answer["text"].as_str().unwrap().to_owned()
    }

    /// Closes the input, which ends the process.
    fn ends(mut self) {
        self.input = None;
        assert!(self.child.wait().unwrap().success());
    }
}

fn plan(home: &Home) -> (String, Value) {
    let text = json!({"plan_id": "p", "intent": "MUTATE",
        "steps": [create_file("a", "note.txt", "grey heron password=tr0ub4dor-and-3\n")]})
    .to_string();
    let arguments = json!({ "plan": text, "workspace": home.file(""), "name": "note.json" });
    (text, arguments)
}

fn file_of(home: &Home, handle: &Value) -> String {
    let inbox = home.path().join(".local/share/countersign/inbox");
    inbox.join(handle["handle"].as_str().unwrap()).join("plan").to_str().unwrap().to_owned()
}

#[test]
fn client_of_the_sdk_sees_what_becomes_of_its_plan() {
    for (mode, revision) in
        [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")]
    {
        let home = Home::new();
        let (mut client, about) = Peer::client(&home, mode);
        assert_eq!(about["revision"], revision);
        assert_eq!(about["tools"], json!(["propose_plan", "plan_status", "evidence_search"]));
        let (text, arguments) = plan(&home);
        let handle = client.call("propose_plan", &arguments);
        assert_eq!((&handle["state"], &handle["steps"]), (&json!("waiting"), &json!(1)));
        let listed = home.json(["inbox", "list"]).exits(0).document();
        assert_eq!(listed["entries"][0]["from"], "Grey Heron 7 (MCP)");
        assert_eq!(listed["entries"][0]["id"], handle["handle"]);
        // The exact bytes wait.
        assert_eq!(std::fs::read_to_string(file_of(&home, &handle)).unwrap(), text);
        let about_it = json!({ "handle": handle["handle"] });
        let status = client.call("plan_status", &about_it);
        assert_eq!((&status["state"], &status["run"]), (&json!("waiting"), &Value::Null));
        assert!(!home.file("note.txt").exists());

        let digest = handle["digest"].as_str().unwrap();
        let _ = home.run(["run", &file_of(&home, &handle), "--authorize", digest]).exits(0);
        let status = client.call("plan_status", &about_it);
        assert_eq!(status["state"], "completed", "{status:#}");
        assert_eq!(status["decision"]["authorized"], true);
        let step = &status["run"]["steps"][0];
        assert_eq!((&step["tool"], &step["outcome"]), (&json!("file_create"), &json!("succeeded")));

        let found = client.call("evidence_search", &json!({ "words": "heron", "limit": 5 }));
        assert_eq!(found["hits"][0]["execution_id"], step["execution_id"]);
        assert!(found["hits"][0]["excerpt"].as_str().unwrap().contains("heron"));
        assert!(!found.to_string().contains("tr0ub4dor") && found.to_string().contains("[secret:"));
        client.ends();
    }
}

#[test]
fn agents_find_the_server_and_propose_through_it() {
    let home = Home::new();
    // Gemini CLI connects to the server.
    gemini_answering(&home, &[], true);
    let gemini = |arguments: &[&str]| {
        let agents = installed("COUNTERSIGN_AGENTS", "agents/node_modules/.bin");
        let mut command = home.command_of(agents.join("gemini").to_str().unwrap());
        with_agent(&home, &mut command, None).current_dir(home.file("")).args(arguments);
        Done::of(&mut command).exits(0)
    };
    let _ = gemini(&["mcp", "add", "--scope", "user", "countersign", PROGRAM, "mcp"]);
    let listed = gemini(&["mcp", "list"]);
    assert!(
        listed.stdout.contains("Connected") || listed.stderr.contains("Connected"),
        "{listed:#?}"
    );

    // Codex calls the tool that its model asks for, and tells the model the handle.
    let (text, arguments) = plan(&home);
    let call = json!({"type": "function_call", "call_id": "c", "namespace": "mcp__countersign",
        "name": "propose_plan", "arguments": arguments.to_string()});
    let server = ResponsesApi::of_codex(&home, [Some(call), Some(json!("It waits for you."))]);
    let agents = installed("COUNTERSIGN_AGENTS", "agents/node_modules/.bin");
    let codex = |arguments: &[&str]| {
        let mut command = home.command_of(agents.join("codex").to_str().unwrap());
        with_agent(&home, &mut command, None).current_dir(home.file("")).args(arguments);
        Done::of(&mut command).exits(0)
    };
    let _ = codex(&["mcp", "add", "countersign", "--", PROGRAM, "mcp"]);
    let _ = codex(&["exec", "--skip-git-repo-check", "--ephemeral", "propose a note"]);
    let listed = home.json(["inbox", "list"]).exits(0).document();
    let entry = &listed["entries"][0];
    let from = entry["from"].as_str().unwrap_or_default();
    assert!(from.starts_with("Codex ") && from.ends_with(" (MCP)"), "{listed:#}");
    assert_eq!(std::fs::read_to_string(entry["path"].as_str().unwrap()).unwrap(), text);
    let told = server.asked()[1]["input"].to_string();
    assert!(told.contains(entry["id"].as_str().unwrap()), "{told}");
    assert!(!home.file("note.txt").exists());
}

#[test]
fn failed_refused_and_removed_plans_have_their_states() {
    let home = Home::new();
    let (mut client, _) = Peer::client(&home, "auto");
    let propose = |client: &mut Peer, command: &str| {
        let plan = json!({ "goal": "look", "steps": [{ "command": command }] }).to_string();
        client.call("propose_plan", &json!({ "plan": plan, "workspace": home.file("") }))
    };
    let status = |client: &mut Peer, handle: &Value| {
        client.call("plan_status", &json!({ "handle": handle["handle"] }))
    };
    let failing = propose(&mut client, "echo grey; echo no heron >&2; exit 3");
    let _ = home.run(["run", &file_of(&home, &failing), "--yes"]).exits(1);
    let failed = status(&mut client, &failing);
    assert_eq!((&failed["state"], &failed["run"]["status"]), (&json!("failed"), &json!("failed")));
    let step = &failed["run"]["steps"][0];
    assert_eq!((&step["exit_code"], &step["stdout"]), (&json!(3), &json!("grey\n")));
    assert_eq!(step["stderr"], "no heron\n");

    let refused = propose(&mut client, "echo two");
    refuse(&home, &file_of(&home, &refused), "not on a Saturday");
    let refused = status(&mut client, &refused);
    assert_eq!(refused["state"], "refused", "{refused:#}");
    assert_eq!(refused["decision"]["reason"], "not on a Saturday");

    let removed = propose(&mut client, "echo three");
    let _ = home.run(["inbox", "remove", removed["handle"].as_str().unwrap()]).exits(0);
    assert_eq!(status(&mut client, &removed)["state"], "removed");
    // The same plan, proposed again, has a state of its own.
    let again = propose(&mut client, "echo grey; echo no heron >&2; exit 3");
    assert_eq!(again["digest"], failing["digest"]);
    assert_eq!(status(&mut client, &again)["state"], "waiting");
    client.ends();
}

/// Records that a person refuses a plan, as the window does it.
fn refuse(home: &Home, file: &str, reason: &str) {
    let plan = parse(&std::fs::read(file).unwrap()).plan.unwrap();
    let location = EvidenceLocation {
        evidence: home.evidence(),
        user_folders: UserFolders {
            key: home.path().join(".config/countersign"),
            state: home.path().join(".local/state/countersign"),
        },
    };
    let workspace = WorkspaceChoice::chosen(home.file("").canonicalize().unwrap());
    let review = review(&plan, &workspace, &Policy::default(), Some(&location)).unwrap();
    let now_ms = SystemClock::default().now_ms();
    let pending = PlanAuthorization::pending(&plan, review.binding, Method::Window, now_ms);
    let mut store = location.store().unwrap();
    store.record_authorization(&pending.reject(now_ms, reason), &plan).unwrap();
}

#[test]
fn faulty_calls_are_refused_with_reasons() {
    let home = Home::new();
    let (mut client, _) = Peer::client(&home, "legacy");
    let workspace = home.file("");
    let wrong = json!({ "goal": "g", "steps": [{ "comand": "true" }] }).to_string();
    for (tool, arguments, expected) in [
        ("propose_plan", json!({ "plan": wrong, "workspace": workspace }), "comand"),
        ("propose_plan", json!({ "plan": "hello", "workspace": workspace }), "no valid plan"),
        ("propose_plan", json!({ "plan": wrong, "workspace": "space" }), "no absolute path"),
        ("propose_plan", json!({ "plan": wrong, "workspace": "/" }), "no project"),
        (
            "propose_plan",
            json!({ "plan": { "goal": "g" }, "workspace": workspace }),
            "expected a string",
        ),
        ("propose_plan", json!({ "plan": wrong }), "missing field `workspace`"),
        (
            "propose_plan",
            json!({ "plan": wrong, "workspace": workspace, "yes": true }),
            "unknown field `yes`",
        ),
        ("plan_status", json!({ "handle": "../../x" }), "knows no proposal"),
        ("plan_status", json!({}), "missing field `handle`"),
        ("evidence_search", json!({ "words": "a", "limit": 101 }), "1 to 100"),
        ("evidence_search", json!({ "words": 5 }), "expected a string"),
    ] {
        let why = client.refused(tool, &arguments);
        assert!(why.contains(expected), "{tool} {arguments}: {why}");
    }
    let none = client.call("evidence_search", &json!({ "words": "anything" }));
    assert_eq!(none["total"], 0);
    let unknown = client.ask(&json!({ "tool": "approve_plan", "arguments": {} }));
    assert_eq!(unknown["code"], -32602);
    let listed = home.json(["inbox", "list"]).exits(0).document();
    assert_eq!(listed["entries"], json!([]));
    client.ends();
}

#[test]
fn no_line_ends_the_server() {
    let home = Home::new();
    let mut server = Peer::server(&home);
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": "2025-03-26", "capabilities": {} } });
    assert_eq!(server.ask(&initialize)["result"]["serverInfo"]["name"], "countersign");
    let mut huge = vec![b'a'; countersign::mcp::MAX_MESSAGE + 1];
    for line in [&huge[..], b"{", b"[1", &[0xff, 0xfe], b"null", b"[]", b"[{}, 1]", b"\"\""] {
        server.send(line);
        let answer = server.next();
        let first = answer.get(0).unwrap_or(&answer);
        assert!(first["error"]["code"].is_i64(), "{answer}");
    }
    for silent in [&b""[..], b"   ", br#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#] {
        server.send(silent);
    }
    // A plan of the largest size is taken, however much of it must be escaped.
    let note = "\"\\".repeat(4_000);
    let steps: Vec<Value> = (0..900)
        .map(|number| create_file(&format!("s{number}"), &format!("{number}.txt"), &note))
        .collect();
    let text = json!({"plan_id": "p", "intent": "MUTATE", "steps": steps}).to_string();
    assert!(text.len() > 13 << 20, "{}", text.len());
    let arguments = json!({ "plan": text, "workspace": home.file("") });
    let call = json!({ "jsonrpc": "2.0", "id": "p", "method": "tools/call",
        "params": { "name": "propose_plan", "arguments": arguments } });
    let answer = server.ask(&call);
    assert_eq!(answer["result"]["structuredContent"]["steps"], 900, "{answer:.300}");
    huge.clear();
    let ping = json!({ "jsonrpc": "2.0", "id": 9, "method": "ping" });
    assert_eq!(server.ask(&ping), json!({ "jsonrpc": "2.0", "id": 9, "result": {} }));
    server.ends();
}

// Whoever reads the answers may be gone: then the server ends, too.
#[test]
fn server_ends_with_its_client() {
    let home = Home::new();
    let server = Peer::server(&home);
    let Peer { mut child, mut input, output } = server;
    drop(output);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    // The first answer finds the pipe closed; the next line may find the server gone.
    for _ in 0..2 {
        let _ = input.as_mut().unwrap().write_all(format!("{ping}\n").as_bytes());
    }
    child.wait().unwrap();
    drop(input);
}
