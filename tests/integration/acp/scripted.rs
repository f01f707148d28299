//! An agent that does what a script says, also what no agent should do.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::session::{Session, asks, asks_for, scripted, selected, sends};
use crate::harness::home::Home;

const APPROVE: [&str; 2] = ["--confirm", "approve"];

/// The path of a file of the workspace as an agent names it.
fn file(home: &Home, name: &str) -> PathBuf {
    home.file("").canonicalize().unwrap().join(name)
}

fn turn(home: &Home, actions: &[Value], flags: &[&str]) -> Session {
    scripted(home, &json!({ "turn": actions }), flags)
}

fn why(answer: &Value) -> &str {
    answer["message"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn only_the_approved_text_is_written_and_once() {
    let home = Home::new();
    let path = file(&home, "a.txt");
    let actions =
        [asks(&path, None, "new"), sends(&path, "new"), sends(&path, "new"), sends(&path, "more")];
    let session = turn(&home, &actions, &APPROVE).exits(3);
    let answers = session.answers();
    assert_eq!(answers[..2], [selected("yes"), Value::Null]);
    assert!(why(&answers[2]).contains("used already"), "{answers:?}");
    assert_eq!(answers[3], Value::Null, "another text is asked about");
    assert_eq!(session.outcomes(), ["written", "refused", "written"]);
    assert_eq!(fs::read_to_string(path).unwrap(), "more");
    assert_eq!(home.texts("SELECT id FROM runs", []).len(), 2);
}

#[test]
fn another_text_than_the_approved_one_is_refused() {
    let home = Home::new();
    let path = file(&home, "a.txt");
    let actions = [asks(&path, None, "new"), sends(&path, "other"), sends(&path, "new")];
    let session = turn(&home, &actions, &APPROVE).exits(3);
    let answers = session.answers();
    assert!(why(&answers[1]).contains("not the text"), "{answers:?}");
    assert!(why(&answers[2]).contains("rejected"), "the approval is void: {answers:?}");
    assert_eq!(session.outcomes(), ["approved", "refused", "refused"]);
    assert!(!path.exists() && home.texts("SELECT id FROM runs", []).is_empty());
}

#[test]
fn what_is_approved_and_never_sent_is_said() {
    let home = Home::new();
    let path = file(&home, "a.txt");
    // What was to be done is not done.
    let session = turn(&home, &[asks(&path, None, "new")], &APPROVE).exits(1);
    assert_eq!(session.outcomes(), ["approved"]);
    assert!(!path.exists());
}

#[test]
fn a_write_without_a_request_is_a_question() {
    let home = Home::new();
    let path = file(&home, "a.txt");
    let session = turn(&home, &[sends(&path, "new")], &APPROVE).exits(0);
    assert_eq!((session.outcomes(), session.answers()), (vec!["written"], vec![Value::Null]));
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    let session =
        turn(&home, &[sends(&path, "newer"), sends(&path, "newer")], &["--confirm", "skip"]);
    let session = session.exits(3);
    assert!(session.answers().iter().all(|answer| why(answer).contains("was rejected")));
    assert_eq!(session.outcomes(), ["rejected", "refused"], "it is asked once");
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
}

/// Without walls the agent can change the file between the approval and the write.
#[test]
fn a_file_that_changed_since_the_approval_is_not_written() {
    let home = Home::new();
    home.settings("[policy]\nwalls = 'off'\n");
    let path = home.write("a.txt", "old").canonicalize().unwrap();
    let actions = [
        asks(&path, Some("old"), "new"),
        json!({"write": [path, "meanwhile"]}),
        sends(&path, "new"),
    ];
    let session = turn(&home, &actions, &APPROVE).exits(1);
    let answers = session.answers();
    assert_eq!(answers[1], "the agent has written it itself");
    assert!(why(&answers[2]).contains("a.txt has changed since"), "{answers:?}");
    assert_eq!(session.outcomes(), ["failed"]);
    assert!(session.reason(0).contains("has changed since the authorization"), "{session:#?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "meanwhile");
}

/// The agent and its commands read the workspace, and cannot write it.
#[test]
fn an_agent_that_does_not_ask_changes_nothing() {
    let home = Home::new();
    let path = home.write("a.txt", "old").canonicalize().unwrap();
    let session = turn(&home, &[json!({"write": [path, "new"]})], &APPROVE).exits(0);
    let answers = session.answers();
    let said = answers[0].as_str().unwrap();
    assert!(said.starts_with("the agent cannot write it"), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert!(session.document["limits"].as_str().unwrap().contains("walls: f"), "{session:#?}");
}

#[test]
fn a_change_that_does_not_fit_cannot_be_approved() {
    let home = Home::new();
    let path = home.write("a.txt", "old").canonicalize().unwrap();
    let twice = home.write("b.txt", "x x").canonicalize().unwrap();
    let outside = home.path().join("outside.txt");
    let several = json!([
        {"type": "diff", "path": path, "oldText": "old", "newText": "new"},
        {"type": "diff", "path": twice, "oldText": "x x", "newText": "new"},
    ]);
    let several = json!({"toolCallId": "c", "title": "Both", "kind": "edit", "content": several});
    let actions = [
        asks(&path, Some("other"), "new"),
        asks(&path, None, "new"),
        asks(&twice, Some("x"), "new"),
        asks(&file(&home, "c.txt"), Some("old"), "new"),
        asks(&outside, None, "new"),
        asks(&PathBuf::from("a.txt"), Some("old"), "new"),
        asks(&home.evidence().join("x"), None, "new"),
        asks_for(several),
        // What could not be approved is not written either.
        sends(&path, "new"),
        sends(&outside, "new"),
    ];
    let session = turn(&home, &actions, &APPROVE).exits(3);
    let answers = session.answers();
    assert!(answers[..8].iter().all(|answer| *answer == selected("no")), "{answers:#?}");
    assert!(answers[8..].iter().all(|answer| !why(answer).is_empty()));
    assert!(session.outcomes()[..8].iter().all(|it| *it == "not_approvable"), "{session:#?}");
    for (index, said) in ["another text", "shows it as new", "more than once", "does not exist"]
        .into_iter()
        .enumerate()
    {
        assert!(session.reason(index).contains(said), "{}", session.reason(index));
    }
    assert!(session.reason(5).contains("not absolute") && session.reason(7).contains("several"));
    assert!(!outside.exists());
    assert_eq!(fs::read_to_string(path).unwrap(), "old");
    assert!(home.texts("SELECT id FROM authorizations", []).is_empty());
}

/// Whoever approves the change that is shown would approve something else with it.
#[test]
fn a_change_with_something_else_cannot_be_approved() {
    let home = Home::new();
    let path = file(&home, "a.txt");
    let diff = json!([{"type": "diff", "path": path, "oldText": null, "newText": "new"}]);
    let call = |id: &str, kind: &str, input: Value, content: Value| {
        json!({"toolCallId": id, "title": "T", "kind": kind, "rawInput": input,
            "content": content})
    };
    let mut told = call("d", "edit", Value::Null, diff.clone());
    told["sessionUpdate"] = json!("tool_call");
    let actions = [
        asks_for(call("a", "execute", json!({"command": "echo x"}), diff.clone())),
        asks_for(call("b", "edit", json!({"command": "echo x"}), diff.clone())),
        asks_for(call("c", "delete", Value::Null, diff)),
        json!({ "update": told }),
        asks_for(call("d", "other", json!({"x": 1}), json!([]))),
    ];
    let session = turn(&home, &actions, &APPROVE).exits(3);
    assert_eq!(session.answers(), vec![selected("no"); 4]);
    assert!(session.reason(0).contains("and a command"), "{}", session.reason(0));
    assert!(session.reason(2).contains("\"delete\""), "{}", session.reason(2));
    assert!(home.texts("SELECT id FROM authorizations", []).is_empty());
}

#[test]
fn a_part_of_a_file_becomes_the_whole_file() {
    let home = Home::new();
    let path = home.write("a.txt", "one\ntwo\n").canonicalize().unwrap();
    let actions = [asks(&path, Some("two"), "three"), sends(&path, "one\nthree\n")];
    let session = turn(&home, &actions, &APPROVE).exits(0);
    assert_eq!(session.outcomes(), ["written"]);
    assert_eq!(fs::read_to_string(path).unwrap(), "one\nthree\n");
}

#[test]
fn a_shown_command_is_permitted_and_run_by_the_agent() {
    let home = Home::new();
    let call = |input: Value| {
        asks_for(
            json!({"toolCallId": "c", "title": "Run it", "kind": "execute", "rawInput": input}),
        )
    };
    let actions = [
        call(json!({"command": "echo heron", "description": "Say it"})),
        call(json!({"command": ["echo", "two words"]})),
        call(json!({"command": "echo x", "env": {"PATH": "/x"}})),
        call(json!({})),
        call(json!({"command": "rm -rf /"})),
        asks_for(
            json!({"toolCallId": "c", "title": "", "kind": "fetch", "rawInput": {"url": "x"}}),
        ),
    ];
    let session = turn(&home, &actions, &APPROVE).exits(3);
    let [yes, no] = [selected("yes"), selected("no")];
    assert_eq!(session.answers(), [&yes, &yes, &no, &no, &no, &no].map(Clone::clone));
    let outcomes = session.outcomes();
    assert_eq!(outcomes[..2], ["permitted", "permitted"]);
    assert!(outcomes[2..].iter().all(|it| *it == "not_approvable"), "{session:#?}");
    let methods = home.texts("SELECT method FROM authorizations", []);
    assert_eq!(methods, ["agent_call", "agent_call"]);
    assert!(home.texts("SELECT id FROM runs", []).is_empty(), "it claims no run");
    let notes = home.texts("SELECT note FROM decisions", []);
    let says = |note: &String| note.starts_with("permitted, run by the agent: asked by");
    assert!(notes.iter().all(says) && notes[0].contains("echo heron"), "{notes:#?}");
}

#[test]
fn only_an_option_for_once_approves() {
    let home = Home::new();
    let path = file(&home, "a.txt");
    let mut asked = asks(&path, None, "new");
    asked["request"]["params"]["options"] = json!([
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "never", "name": "Never", "kind": "reject_always"},
    ]);
    let session = turn(&home, &[asked, sends(&path, "new")], &APPROVE).exits(3);
    assert_eq!(session.answers()[0], json!({"outcome": {"outcome": "cancelled"}}));
    assert!(!why(&session.answers()[1]).is_empty());
    assert!(session.reason(0).contains("allow this once"));
    assert!(!path.exists());
}

#[test]
fn hidden_characters_of_the_agent_are_shown() {
    let home = Home::new();
    let text = json!({"type": "text", "text": "\u{1b}[2Jall \u{202e}done"});
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": text});
    let script = json!({"turn": [
        {"update": update},
        {"update": {"sessionUpdate": "plan", "entries": [{"content": "one\u{7}", "status": "pending"}]}},
        {"update": {"sessionUpdate": "of_a_later_version", "x": [1]}},
        {"stderr": "warn\u{1b}[31m"},
    ]});
    fs::write(home.path().join("script.json"), script.to_string()).unwrap();
    let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/acp/agent.py");
    let (script, space) = (home.path().join("script.json"), home.file(""));
    let done = home.run([
        "acp",
        "--prompt",
        "mend it",
        "--evidence-is-last",
        "--workspace",
        space.to_str().unwrap(),
        "python3",
        agent,
        script.to_str().unwrap(),
    ]);
    assert_eq!(done.code, 5, "an unknown option of ours before the command: {done:#?}");
    let mut command = home.command();
    command.args(["acp", "--prompt", "mend it", "--workspace"]).arg(&space);
    command.arg("--evidence").arg(home.evidence()).arg("python3").arg(agent).arg(script);
    let done = crate::harness::home::Done::of(&mut command).exits(0);
    for text in ["| ⟨ESC⟩[2Jall ⟨U+202E⟩done", "one⟨U+0007⟩ (pending)", "warn⟨ESC⟩[31m"]
    {
        assert!(done.stderr.contains(text), "{text}: {done:#?}");
    }
    assert!(done.stdout.contains("The agent has ended its turn."), "{done:#?}");
}

#[test]
fn agents_of_no_use_are_faults() {
    let of = |script: Value| {
        let session = scripted(&Home::new(), &script, &APPROVE).exits(1);
        session.failure().to_owned()
    };
    let version = of(json!({"initialize": {"protocolVersion": 2}}));
    assert!(version.contains("speaks version 2"), "{version}");
    let error = json!({"error": {"code": -32000, "message": "Authentication required"}});
    let login = of(json!({ "new": error }));
    assert!(login.contains("nobody is logged in"), "{login}");
    let error = json!({"error": {"code": -32603, "message": "no model"}});
    assert!(of(json!({ "new": error })).contains("no model"));
    assert!(of(json!({"new": {}})).contains("no sessionId"));
    let exits = of(json!({"before": [{"stderr": "no key\n"}, {"exit": 7}]}));
    assert!(exits.contains("exit code 7 before its session began:\nno key"), "{exits}");
    assert!(of(json!({"turn": [{"exit": 0}]})).contains("before the end of its turn"));
    let noise = of(json!({"before": [{"repeat": ["hello\n", 1_000]}]}));
    assert!(noise.contains("no messages"), "{noise}");
    let large = of(json!({"before": [{"repeat": ["x", 49 << 20]}, {"sleep": true}]}));
    assert!(large.contains("too large"), "{large}");
}

#[test]
fn malformed_requests_are_refused_and_the_turn_goes_on() {
    let home = Home::new();
    let path = file(&home, "a.txt");
    let request =
        |method: &str, params: Value| json!({"request": {"method": method, "params": params}});
    let actions = [
        json!({"raw": "this is no JSON"}),
        json!({"raw": "{\"jsonrpc\": \"2.0\", \"method\": \"session/update\", \"params\": 3}"}),
        request("fs/write_text_file", json!({"path": path})),
        request("fs/write_text_file", json!({"path": path, "content": "x", "sessionId": "other"})),
        request("session/request_permission", json!({"toolCall": {}, "options": []})),
        request("fs/read_text_file", json!({"path": path})),
        request("terminal/create", json!({"command": "touch", "args": ["made"]})),
        sends(&path, "fine"),
    ];
    let session = turn(&home, &actions, &APPROVE).exits(3);
    let answers = session.answers();
    let codes: Vec<_> = answers[..5].iter().map(|answer| answer["code"].as_i64()).collect();
    assert_eq!(codes, [-32602, -32602, -32602, -32601, -32601].map(Some));
    assert_eq!(answers[5], Value::Null);
    assert_eq!(fs::read_to_string(path).unwrap(), "fine");
}

/// Whatever has the word of a message is answered, so that the agent does not wait for it, and the turn has no success.
#[test]
fn messages_that_cannot_be_read_are_answered_and_told() {
    let home = Home::new();
    for (code, message) in [
        (-32700, r#"{"jsonrpc": "2.0", "id": 5, "method": "x", "params": {"path": "\ud800"}}"#),
        (-32600, r#"[{"jsonrpc": "2.0", "id": 5, "method": "x"}]"#),
    ] {
        let session = turn(&home, &[json!({ "exchange": message })], &APPROVE).exits(3);
        assert_eq!(session.answers()[0]["code"], code);
        assert_eq!(session.outcomes(), ["not_approvable"]);
    }
    let log = json!({"raw": r#"{"level": "info", "message": "ready"}"#});
    turn(&home, &[log], &APPROVE).exits(0);
}

/// Walls take away what a program makes of protected files. These are made by Countersign, while the walls of the agent stand.
#[test]
fn approved_files_that_walls_protect_stay() {
    let home = Home::new();
    fs::create_dir_all(home.file(".git")).unwrap();
    let paths = ["countersign.toml", ".git/description"].map(|name| file(&home, name));
    let text = "[verification]\n";
    let actions: Vec<_> =
        paths.iter().flat_map(|path| [asks(path, None, text), sends(path, text)]).collect();
    let session = turn(&home, &actions, &APPROVE).exits(0);
    assert_eq!(session.outcomes(), ["written", "written"]);
    for path in paths {
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{}", path.display());
    }
}

/// It may live on without its output, or hang: nothing of that is waited for without end.
#[test]
fn an_agent_that_sends_nothing_is_ended() {
    let home = Home::new();
    for action in ["close the output", "sleep"] {
        let actions = [json!({ action: true })];
        let session = turn(&home, &actions, &["--confirm", "approve", "--silence", "1"]).exits(1);
        assert_eq!(session.failure(), "the agent has sent nothing for 1 seconds");
    }
}

/// What an agent has asked before it ended is not approved any more, and its children end with it.
#[test]
fn wrong_options_and_programs_are_usage_errors() {
    let home = Home::new();
    let run = |arguments: &[&str]| {
        let space = home.file("");
        let mut command = home.command();
        command.args(["acp", "--json", "--evidence"]).arg(home.evidence());
        command.args(["--workspace"]).arg(space).args(arguments);
        crate::harness::home::Done::of(&mut command)
    };
    let missing = run(&["--prompt", "x", "no-such-agent", "--acp"]).exits(5);
    assert!(missing.document()["error"]["message"].as_str().unwrap().contains("no-such-agent"));
    assert_eq!(run(&["--prompt", " ", "true"]).code, 5);
    assert_eq!(run(&["--prompt", "x"]).code, 5);
    assert_eq!(run(&["true"]).code, 5);
    let file = home.path().join("prompt.txt");
    fs::write(&file, b"\xff").unwrap();
    assert_eq!(run(&["--prompt-file", file.to_str().unwrap(), "true"]).code, 5);
}
