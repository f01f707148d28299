use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Tools that give back what they were called with.
struct Echo;

impl Toolset for Echo {
    fn call(&mut self, tool: Tool, arguments: &Value, client: &str) -> Result<Value, String> {
        match arguments.get("fail") {
            Some(why) => Err(why.to_string()),
            None => Ok(json!({ "tool": tool.name(), "arguments": arguments, "client": client })),
        }
    }
}

fn server() -> Server<Echo> {
    Server::new(Echo)
}

fn ask(server: &mut Server<Echo>, message: &Value) -> Value {
    serde_json::from_str(&server.answer(message.to_string().as_bytes()).unwrap()).unwrap()
}

fn request(id: u32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn initialize(server: &mut Server<Echo>, revision: &str) -> Value {
    let client = json!({ "name": "heron", "version": "1.2" });
    let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
    ask(server, &request(1, "initialize", params))
}

fn with_meta(mut params: Value, revision: &str) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientInfo": { "name": "heron", "title": "Grey Heron", "version": "2" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

#[test]
fn client_and_server_agree_on_a_revision() {
    for revision in HANDSHAKE_REVISIONS {
        assert_eq!(initialize(&mut server(), revision)["result"]["protocolVersion"], revision);
    }
    for unknown in ["2023-01-01", "2026-07-28", ""] {
        let answer = initialize(&mut server(), unknown);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
    }
    let answer = ask(&mut server(), &request(1, "initialize", json!({})));
    assert_eq!(answer["error"]["code"], -32602);
}

#[test]
fn tools_are_listed_and_called_after_initialize() {
    let mut server = server();
    let early = ask(&mut server, &request(1, "tools/list", Value::Null));
    assert_eq!(early["error"]["code"], -32600, "{early}");
    assert_eq!(ask(&mut server, &request(2, "ping", Value::Null))["result"], json!({}));
    initialize(&mut server, "2025-06-18");
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(server.answer(notification.to_string().as_bytes()), None);
    let listed = ask(&mut server, &request(3, "tools/list", json!({})));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["propose_plan", "plan_status", "evidence_search"]);
    for tool in tools {
        assert!(jsonschema::validator_for(&tool["inputSchema"]).is_ok(), "{tool}");
    }
    let call = json!({ "name": "plan_status", "arguments": { "handle": "h" } });
    let answer = ask(&mut server, &request(4, "tools/call", call));
    assert_eq!(answer["id"], 4);
    let content = &answer["result"]["structuredContent"];
    assert_eq!(content["client"], "heron 1.2");
    assert_eq!(content["arguments"]["handle"], "h");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), content);
    let failing = json!({ "name": "plan_status", "arguments": { "fail": 1 } });
    let answer = ask(&mut server, &request(5, "tools/call", failing));
    assert_eq!(answer["result"]["isError"], true);
}

#[test]
fn stateless_requests_need_no_initialize() {
    let mut server = server();
    let discover = request(0, "server/discover", with_meta(json!({}), STATELESS_REVISION));
    let answer = ask(&mut server, &discover);
    let result = &answer["result"];
    assert_eq!(result["supportedVersions"][0], STATELESS_REVISION);
    assert_eq!(
        (&result["resultType"], &result["cacheScope"]),
        (&json!("complete"), &json!("public"))
    );
    assert!(result["ttlMs"].is_u64() && result["capabilities"]["tools"].is_object());
    let call = with_meta(json!({ "name": "evidence_search" }), STATELESS_REVISION);
    let answer = ask(&mut server, &request(1, "tools/call", call));
    let result = &answer["result"];
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "countersign");
    assert_eq!(result["structuredContent"]["client"], "Grey Heron 2");
    let listed =
        ask(&mut server, &request(2, "tools/list", with_meta(json!({}), STATELESS_REVISION)));
    assert!(listed["result"]["ttlMs"].is_u64() && listed["result"]["tools"].is_array());
    // This revision has no ping.
    let ping = ask(&mut server, &request(3, "ping", with_meta(json!({}), STATELESS_REVISION)));
    assert_eq!(ping["error"]["code"], -32601);
    let other = ask(&mut server, &request(4, "tools/list", with_meta(json!({}), "2030-01-01")));
    assert_eq!(other["error"]["code"], -32022);
    assert_eq!(other["error"]["data"]["requested"], "2030-01-01");
    assert_eq!(other["error"]["data"]["supported"].as_array().unwrap().len(), 5);
}

#[test]
fn faulty_messages_get_an_error_and_the_next_is_answered() {
    let mut server = server();
    initialize(&mut server, "2025-11-25");
    let deep = "[".repeat(100_000);
    for (line, code, id) in [
        ("{", -32700, Value::Null),
        ("\u{feff}{}", -32700, Value::Null),
        (deep.as_str(), -32700, Value::Null),
        ("1", -32600, Value::Null),
        ("[]", -32600, Value::Null),
        (r#"{"id":1,"method":"ping"}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":2}"#, -32600, json!(2)),
        (r#"{"jsonrpc":"2.0","id":2,"method":7}"#, -32600, json!(2)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":[1]}"#, -32602, json!("a")),
        (r#"{"jsonrpc":"2.0","id":3,"method":"resources/list"}"#, -32601, json!(3)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"tools/call"}"#, -32602, json!(4)),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"approve"}}"#,
            -32602,
            json!(4),
        ),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"plan_status","arguments":[]}}"#,
            -32602,
            json!(4),
        ),
    ] {
        let answer = server.answer(line.as_bytes()).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let shown: String = line.chars().take(80).collect();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{shown}");
    }
    assert!(server.answer(b"{\"a\": \xff}").unwrap().contains("-32700"));
    for silent in [
        "",
        "  \r",
        r#"{"jsonrpc":"2.0","method":"no/such/notification","params":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#,
    ] {
        assert_eq!(server.answer(silent.as_bytes()), None, "{silent}");
    }
    assert!(Server::<Echo>::answer_to_long_line().contains("34603008 bytes"));
    assert_eq!(ask(&mut server, &request(9, "ping", json!({})))["result"], json!({}));
}

#[test]
fn batches_belong_to_the_old_revisions() {
    let ping = request(1, "ping", json!({}));
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let batch = json!([ping, note, 5, request(2, "ping", json!({}))]);
    let mut old = server();
    initialize(&mut old, "2025-03-26");
    let answers = ask(&mut old, &batch);
    assert_eq!(answers.as_array().unwrap().len(), 3, "{answers}");
    assert_eq!((&answers[0]["id"], &answers[1]["error"]["code"]), (&json!(1), &json!(-32600)));
    assert_eq!(old.answer(json!([note]).to_string().as_bytes()), None);
    let long: Value = vec![ping; MAX_BATCH + 1].into();
    assert_eq!(ask(&mut old, &long)["error"]["code"], -32600);
    let mut new = server();
    initialize(&mut new, "2025-06-18");
    assert_eq!(ask(&mut new, &batch)["error"]["code"], -32600);
}

proptest! {
    // Whatever arrives, the server answers with JSON or not at all.
    #[test]
    fn any_bytes_get_json_or_nothing(line in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Some(answer) = server().answer(&line) {
            let answer: Value = serde_json::from_str(&answer).unwrap();
            prop_assert!(answer["error"]["code"].is_i64());
        }
    }

    #[test]
    fn any_fields_get_json_or_nothing(id in "null|1|\"a\"|1.5|\\[\\]", method in "\"ping\"|1|null|\"tools/call\"",
        params in "null|\\{\\}|\\[\\]|\\{\"name\":1\\}|\\{\"_meta\":7\\}|\\{\"_meta\":\\{\\}\\}") {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method},\"params\":{params}}}");
        let answer = server().answer(line.as_bytes()).unwrap();
        prop_assert!(serde_json::from_str::<Value>(&answer).unwrap().is_object());
    }
}
