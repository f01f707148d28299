use serde_json::{Value, json};

use super::*;

const SESSION: &str = "s-1";

fn client() -> Client {
    let mut client = Client::new("/w".to_owned(), "mend it".to_owned());
    let begun = sent(&client.begin());
    assert_eq!((&begun["id"], &begun["params"]["protocolVersion"]), (&json!(0), &json!(1)));
    client
}

fn receive(client: &mut Client, message: &Value) -> Result<Vec<Event>, Fault> {
    client.receive(message.to_string().as_bytes())
}

fn sent(line: &[u8]) -> Value {
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
    serde_json::from_slice(line).unwrap()
}

fn answer(id: u64, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// A client whose agent works.
fn working() -> Client {
    let mut client = client();
    let answered =
        json!({"protocolVersion": 1, "agentInfo": {"name": "a", "title": "Agent", "version": "2"}});
    let events = receive(&mut client, &answer(0, &answered)).unwrap();
    let [Event::Connected(info), Event::Send(line)] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!((info.name.as_str(), info.version.as_str()), ("Agent", "2"));
    assert_eq!(sent(line)["params"], json!({"cwd": "/w", "mcpServers": []}));
    let events = receive(&mut client, &answer(1, &json!({"sessionId": SESSION}))).unwrap();
    let [Event::Begun(session), Event::Send(line)] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!((session.as_str(), &sent(line)["params"]["sessionId"]), (SESSION, &json!(SESSION)));
    assert_eq!(sent(line)["params"]["prompt"], json!([{"type": "text", "text": "mend it"}]));
    client
}

fn request(id: Value, method: &str, mut params: Value) -> Value {
    params["sessionId"] = SESSION.into();
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn update(update: Value) -> Value {
    let params = json!({"sessionId": SESSION, "update": update});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": params})
}

fn options(options: &[(&str, &str)]) -> Value {
    let options =
        options.iter().map(|(id, kind)| json!({"optionId": id, "kind": kind, "name": ""}));
    options.collect()
}

fn permission(client: &mut Client, call: Value, offered: Value) -> Permission {
    let params = json!({"toolCall": call, "options": offered});
    let asked = request(json!(0), "session/request_permission", params);
    let mut events = receive(client, &asked).unwrap();
    let Some(Event::Permission(permission)) = events.pop() else { panic!("{events:?}") };
    permission
}

#[test]
fn only_the_option_for_once_is_selected() {
    const ALL: [(&str, &str); 4] =
        [("A", "allow_always"), ("a", "allow_once"), ("r", "reject_once"), ("R", "reject_always")];
    let selected = |id: &str| json!({"outcome": {"outcome": "selected", "optionId": id}});
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    let call = || json!({"toolCallId": "c"});
    let answers = |offered: &[(&str, &str)]| {
        let permission = permission(&mut working(), call(), options(offered));
        [Choice::Allow, Choice::Reject, Choice::Cancelled]
            .map(|choice| sent(&permission.answer(choice))["result"].clone())
    };
    assert_eq!(answers(&ALL), [selected("a"), selected("r"), cancelled.clone()]);
    let always = [ALL[0], ALL[3]];
    assert_eq!(answers(&always), [cancelled.clone(), cancelled.clone(), cancelled.clone()]);
    for ambiguous in [
        &[("a", "allow_once"), ("b", "allow_once"), ("r", "reject_once")][..],
        &[("a", "allow_once"), ("a", "allow_always"), ("r", "reject_once")],
    ] {
        assert_eq!(answers(ambiguous), [cancelled.clone(), selected("r"), cancelled.clone()]);
        let permission = permission(&mut working(), call(), options(ambiguous));
        assert!(permission.not_allowable().is_some());
    }
}

#[test]
fn ids_of_both_sides_do_not_mix() {
    let mut client = working();
    // Our requests had the ids 0 to 2; the agent's begin with 0, too.
    for id in [json!(0), json!(2), json!("2"), json!(-1)] {
        let write =
            request(id.clone(), "fs/write_text_file", json!({"path": "/w/a", "content": ""}));
        let events = receive(&mut client, &write).unwrap();
        let [Event::Write(write)] = events.as_slice() else { panic!("{events:?}") };
        let answer = sent(&write.answer(Ok(())));
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": id, "result": null}));
    }
    assert_eq!(receive(&mut client, &answer(1, &json!({"sessionId": "other"}))).unwrap(), []);
    let ended = receive(&mut client, &answer(2, &json!({"stopReason": "end_turn"}))).unwrap();
    assert_eq!(ended, [Event::Ended(StopReason::EndTurn)]);
    assert_eq!(receive(&mut client, &answer(2, &json!({"stopReason": "refusal"}))).unwrap(), []);
}

#[test]
fn updates_are_read_and_unknown_ones_ignored() {
    let mut client = working();
    let mut of = |value: Value| {
        let mut events = receive(&mut client, &update(value)).unwrap();
        assert!(events.len() < 2);
        events.pop().map(|event| match event {
            Event::Update(update) => update,
            other => panic!("{other:?}"),
        })
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let words = of(json!({"sessionUpdate": "agent_message_chunk", "content": text("a\u{7}")}));
    assert_eq!(words, Some(Update::Words("a\u{7}".to_owned())));
    let thought = of(json!({"sessionUpdate": "agent_thought_chunk", "content": text("b")}));
    assert_eq!(thought, Some(Update::Thought("b".to_owned())));
    let image = of(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "image"}}));
    assert_eq!(image, Some(Update::Words("[image]".to_owned())));
    let entries: Vec<_> =
        (0..300).map(|n| json!({"content": format!("{n}"), "status": "pending"})).collect();
    let Some(Update::Plan(plan)) = of(json!({"sessionUpdate": "plan", "entries": entries})) else {
        panic!()
    };
    assert_eq!((plan.len(), plan[200].content.as_str()), (201, "… and 100 more"));
    let state = |status: &str| CallState {
        id: "c".to_owned(),
        title: "T".to_owned(),
        status: status.to_owned(),
    };
    let begun = of(json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T",
        "status": "pending"}));
    assert_eq!(begun, Some(Update::Call(state("pending"))));
    let ended =
        of(json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}));
    assert_eq!(ended, Some(Update::Call(state("completed"))));
    for ignored in [
        json!({"sessionUpdate": "available_commands_update", "availableCommands": []}),
        json!({"sessionUpdate": "of_a_later_version"}),
        json!({"sessionUpdate": 3}),
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 1}}),
        json!([]),
    ] {
        assert_eq!(of(ignored.clone()), None, "{ignored}");
    }
    let mut other = update(json!({"sessionUpdate": "agent_message_chunk", "content": text("x")}));
    other["params"]["sessionId"] = "other".into();
    assert_eq!(receive(&mut client, &other).unwrap(), []);
}

#[test]
fn a_request_may_leave_out_what_its_call_said_before() {
    let mut client = working();
    let diff = json!({"type": "diff", "path": "/w/a", "oldText": null, "newText": "b"});
    let told = update(json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T",
        "kind": "edit", "content": [{"type": "content", "content": {}}, diff]}));
    receive(&mut client, &told).unwrap();
    let found = permission(&mut client, json!({"toolCallId": "c"}), json!([])).call;
    let diff = FileDiff { path: "/w/a".to_owned(), old: None, new: "b".to_owned() };
    assert_eq!((found.kind.as_str(), found.diffs()), ("edit", &[diff][..]));
    let emptied =
        permission(&mut client, json!({"toolCallId": "c", "content": []}), json!([])).call;
    assert_eq!(emptied.diffs(), [], "what it shows now is what counts");
    let blind = permission(&mut client, json!({"toolCallId": "d", "rawInput": {}}), json!([]));
    assert_eq!((blind.call.raw_input.clone(), blind.call.diffs().len()), (None, 0));
}

#[test]
fn requests_without_a_usable_form_are_refused() {
    let mut client = working();
    let path = json!({"path": "/w/a", "content": "x"});
    let other = {
        let mut request = request(json!(5), "fs/write_text_file", path.clone());
        request["params"]["sessionId"] = "other".into();
        request
    };
    let wrong =
        json!({"toolCallId": "c", "content": [{"type": "diff", "path": "/w/a", "newText": 3}]});
    let asks = |call: &Value, options: Value| {
        let params = json!({"toolCall": call, "options": options});
        request(json!(5), "session/request_permission", params)
    };
    let call = json!({"toolCallId": "c"});
    let write = request(json!(5), "fs/write_text_file", path).to_string();
    let twice = write.replacen("\"content\"", "\"content\":\"y\",\"content\"", 1);
    for line in [
        other.to_string(),
        request(json!(5), "fs/write_text_file", json!({"path": "/w/a"})).to_string(),
        request(json!(5), "fs/write_text_file", json!({"path": 1, "content": ""})).to_string(),
        asks(&wrong, json!([])).to_string(),
        asks(&json!({}), json!([])).to_string(),
        asks(&call, json!({})).to_string(),
        asks(&call, json!([{"optionId": "a"}])).to_string(),
        twice,
    ] {
        let events = client.receive(line.as_bytes()).unwrap();
        let [Event::Malformed(_), Event::Send(refusal)] = events.as_slice() else {
            panic!("{line}: {events:?}")
        };
        let refusal = sent(refusal);
        assert_eq!(refusal["id"], 5);
        assert!(refusal["error"]["message"].is_string() && refusal.get("result").is_none());
    }
    for method in ["fs/read_text_file", "terminal/create", "x"] {
        let events = receive(&mut client, &request(json!("q"), method, json!({}))).unwrap();
        let [Event::Send(refusal)] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!(sent(refusal)["error"]["code"], -32601, "{method}");
    }
}

#[test]
fn an_agent_of_no_use_is_a_fault() {
    let fault = |result: Value| receive(&mut client(), &answer(0, &result)).unwrap_err();
    for version in [json!(2), json!("1"), json!(-1)] {
        let version = fault(json!({ "protocolVersion": version }));
        assert!(matches!(version, Fault::Version(_)), "{version:?}");
    }
    assert!(matches!(fault(json!({})), Fault::Answer { method: "initialize", .. }));
    let refused = |code: i64| {
        let mut client = client();
        let initialized =
            json!({"protocolVersion": 1, "authMethods": [{"id": "k", "name": "API key"}]});
        receive(&mut client, &answer(0, &initialized)).unwrap();
        let error = json!({"code": code, "message": "no", "data": {"details": "why"}});
        let line = json!({"jsonrpc": "2.0", "id": 1, "error": error});
        receive(&mut client, &line).unwrap_err()
    };
    let logins = vec!["API key".to_owned()];
    assert_eq!(refused(-32000), Fault::Login { message: "no: why".to_owned(), logins });
    let message = "no: why".to_owned();
    assert_eq!(refused(-32603), Fault::Refused { method: "session/new", message });
    let mut silent = client();
    let events = silent.receive(b"Starting\xff...").unwrap();
    assert_eq!(events, [Event::Noise("Starting\u{fffd}...".to_owned())]);
    for line in ["[1]", "{}", r#"{"level":"info"}"#, r#"{"jsonrpc":"2.0","id":null,"error":{}}"#] {
        let events = silent.receive(line.as_bytes()).unwrap();
        assert!(matches!(events[..], [Event::Noise(_)]), "{line}");
    }
    let broken = [
        (-32700, &br#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"path":"\ud800"}}"#[..]),
        (-32700, b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\",\"id\":1}"),
        (-32700, br#"{"jsonrpc":"2.0","id":1,"method":"x""#),
        (-32600, br#"[{"jsonrpc":"2.0","id":1,"method":"x"}]"#),
        (-32600, br#"{"jsonrpc":"2.0"}"#),
        (-32600, br#"{"jsonrpc":"2.0","id":null,"method":"x"}"#),
        (-32600, br#"{"jsonrpc":"2.0","id":[1],"method":"x"}"#),
        (-32600, br#"{"jsonrpc":"1.0","id":1,"method":"x"}"#),
    ];
    for (code, line) in broken {
        let events = silent.receive(line).unwrap();
        let [Event::Malformed(_), Event::Send(refusal)] = events.as_slice() else {
            panic!("{}: {events:?}", String::from_utf8_lossy(line))
        };
        let refusal = sent(refusal);
        assert_eq!((&refusal["error"]["code"], &refusal["id"]), (&json!(code), &Value::Null));
    }
    let deep = "[".repeat(100_000);
    assert!(matches!(silent.receive(deep.as_bytes()).unwrap()[..], [Event::Noise(_)]));
    let ended = (0..1_000).find_map(|_| silent.receive(b"x").err());
    assert_eq!(ended, Some(Fault::Noise));
}
