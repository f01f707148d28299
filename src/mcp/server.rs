//! Answers messages: the beginning of a connection in both ways of the protocol, the list of tools, and their calls.

use serde_json::{Value, json};

use super::message::{
    INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Message, PARSE_ERROR, RpcError,
    UNSUPPORTED_REVISION, result,
};
use super::{HANDSHAKE_REVISIONS, MAX_BATCH, MAX_MESSAGE, STATELESS_REVISION, Tool, Toolset};

/// The revisions in which a message may be a batch.
const WITH_BATCHES: [&str; 2] = ["2024-11-05", "2025-03-26"];
/// The fields of `_meta` since revision 2026-07-28.
const META_REVISION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";
/// How long a client may keep the list of tools, in milliseconds: it changes only with the program.
const KEEP_MS: u64 = 3_600_000;
/// The maximum length of the name of a client, in characters.
const MAX_CLIENT: usize = 200;

/// What a model is told about the server.
const INSTRUCTIONS: &str = "\
Countersign runs plans that a person has authorized. propose_plan puts a plan into the person's inbox and returns a \
handle at once; nothing runs before the person has read and authorized it, which may take long. plan_status tells what \
became of it. evidence_search finds what ran before. Nothing can be approved through this server.";

/// The server of one connection.
#[derive(Debug)]
pub struct Server<T> {
    tools: T,
    /// The revision on which `initialize` has agreed, and the client.
    agreed: Option<(&'static str, String)>,
}

/// The way in which a request goes, and its client.
enum Way {
    /// With `initialize`.
    Handshake(String),
    /// Without it: every result names the server.
    Stateless(String),
}

impl<T: Toolset> Server<T> {
    /// A server with these tools.
    pub fn new(tools: T) -> Self {
        Self { tools, agreed: None }
    }

    /// The answer to one line of input, without a line break; `None` if it wants none.
    pub fn answer(&mut self, line: &[u8]) -> Option<String> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        let value: Value = match serde_json::from_slice(line) {
            Ok(value) => value,
            Err(error) => {
                let error = RpcError::new(PARSE_ERROR, format!("the message is no JSON: {error}"));
                return Some(error.answer(&Value::Null).to_string());
            }
        };
        match value {
            Value::Array(batch) => self.batch(&batch),
            message => self.message(&message),
        }
        .map(|answer| answer.to_string())
    }

    /// The answer to a line that is longer than [`MAX_MESSAGE`].
    pub fn answer_to_long_line() -> String {
        let message = format!("the message has more than {MAX_MESSAGE} bytes");
        RpcError::new(INVALID_REQUEST, message).answer(&Value::Null).to_string()
    }

    /// The answer to a line in which two fields have the same name, of which the client may mean either.
    pub fn answer_to_twin_fields() -> String {
        let why = "two fields have the same name".to_owned();
        RpcError::new(INVALID_REQUEST, why).answer(&Value::Null).to_string()
    }

    fn batch(&mut self, batch: &[Value]) -> Option<Value> {
        let refuse = |why: String| Some(RpcError::new(INVALID_REQUEST, why).answer(&Value::Null));
        let revision = self.agreed.as_ref().map(|(revision, _)| *revision);
        if !revision.is_some_and(|revision| WITH_BATCHES.contains(&revision)) {
            return refuse("only revisions 2024-11-05 and 2025-03-26 have batches".to_owned());
        }
        if batch.is_empty() {
            return refuse("the batch is empty".to_owned());
        }
        if batch.len() > MAX_BATCH {
            return refuse(format!("the batch has more than {MAX_BATCH} messages"));
        }
        let answers: Vec<Value> = batch.iter().filter_map(|it| self.message(it)).collect();
        (!answers.is_empty()).then_some(answers.into())
    }

    fn message(&mut self, value: &Value) -> Option<Value> {
        let (id, method, params) = match Message::read(value) {
            Ok(Message::Request { id, method, params }) => (id, method, params),
            Ok(Message::Silent) => return None,
            Err(answer) => return Some(answer),
        };
        Some(match self.request(method, params) {
            Ok(value) => result(id, &value),
            Err(error) => error.answer(id),
        })
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, RpcError> {
        if method == "initialize" {
            return self.initialize(params);
        }
        let way = self.way(method, params)?;
        let value = match (method, &way) {
            ("ping", Way::Handshake(_)) => json!({}),
            ("server/discover", Way::Stateless(_)) => json!({
                "supportedVersions": revisions(),
                "capabilities": capabilities(),
                "instructions": INSTRUCTIONS,
            }),
            ("tools/list", _) => {
                json!({ "tools": Tool::ALL.map(Tool::description) })
            }
            ("tools/call", Way::Handshake(client) | Way::Stateless(client)) => {
                let client = client.clone();
                self.call(params, &client)?
            }
            _ => {
                let message = format!("there is no method {method:?}");
                return Err(RpcError::new(METHOD_NOT_FOUND, message));
            }
        };
        Ok(match way {
            Way::Handshake(_) => value,
            Way::Stateless(_) => stateless(method, value),
        })
    }

    /// How a request goes, by its `_meta` or by what `initialize` has agreed on.
    fn way(&self, method: &str, params: &Value) -> Result<Way, RpcError> {
        let meta = params.get("_meta").unwrap_or(&Value::Null);
        match (meta.get(META_REVISION), &self.agreed) {
            (Some(Value::String(revision)), _) if revision == STATELESS_REVISION => {
                Ok(Way::Stateless(client_name(meta.get(META_CLIENT))))
            }
            (Some(Value::String(revision)), _) => {
                let message = format!("revision {revision:?} is not supported");
                let data = json!({ "supported": revisions(), "requested": revision });
                Err(RpcError { data: Some(data), ..RpcError::new(UNSUPPORTED_REVISION, message) })
            }
            (Some(_), _) => {
                Err(RpcError::new(INVALID_PARAMS, format!("_meta: {META_REVISION} is no string")))
            }
            (None, Some((_, client))) => Ok(Way::Handshake(client.clone())),
            // Clients ask it before they begin, to see whether the server is there.
            (None, None) if method == "ping" => Ok(Way::Handshake(String::new())),
            (None, None) => {
                let message = format!(
                    "send initialize first, or name the revision in params._meta ({META_REVISION})"
                );
                Err(RpcError::new(INVALID_REQUEST, message))
            }
        }
    }

    fn initialize(&mut self, params: &Value) -> Result<Value, RpcError> {
        let wanted = params.get("protocolVersion").and_then(Value::as_str);
        let wanted = wanted.ok_or_else(|| {
            RpcError::new(INVALID_PARAMS, "initialize: \"protocolVersion\" is no string")
        })?;
        // The latest one if the client wants one that we do not have; it decides whether it goes on.
        let [.., latest] = HANDSHAKE_REVISIONS;
        let agreed = HANDSHAKE_REVISIONS.into_iter().find(|it| *it == wanted).unwrap_or(latest);
        self.agreed = Some((agreed, client_name(params.get("clientInfo"))));
        Ok(json!({
            "protocolVersion": agreed,
            "capabilities": capabilities(),
            "serverInfo": server_info(),
            "instructions": INSTRUCTIONS,
        }))
    }

    fn call(&mut self, params: &Value, client: &str) -> Result<Value, RpcError> {
        let refuse = |message: String| Err(RpcError::new(INVALID_PARAMS, message));
        let Some(name) = params.get("name").and_then(Value::as_str) else {
            return refuse("tools/call: \"name\" is no string".to_owned());
        };
        let Some(tool) = Tool::ALL.into_iter().find(|tool| tool.name() == name) else {
            return refuse(format!("there is no tool {name:?}"));
        };
        let empty = json!({});
        let arguments = params.get("arguments").filter(|it| !it.is_null()).unwrap_or(&empty);
        if !arguments.is_object() {
            return refuse("tools/call: \"arguments\" is no object".to_owned());
        }
        // A failure is a result, so that the model sees it.
        Ok(match self.tools.call(tool, arguments, client) {
            Ok(value) => json!({
                "content": [{ "type": "text", "text": value.to_string() }],
                "structuredContent": value,
                "isError": false,
            }),
            Err(why) => json!({ "content": [{ "type": "text", "text": why }], "isError": true }),
        })
    }
}

/// A result in the form of revision 2026-07-28.
fn stateless(method: &str, mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        fields.insert("resultType".to_owned(), json!("complete"));
        fields.insert("_meta".to_owned(), json!({ META_SERVER: server_info() }));
        if method != "tools/call" {
            fields.insert("ttlMs".to_owned(), json!(KEEP_MS));
            fields.insert("cacheScope".to_owned(), json!("public"));
        }
    }
    value
}

fn revisions() -> Vec<&'static str> {
    HANDSHAKE_REVISIONS.into_iter().chain([STATELESS_REVISION]).rev().collect()
}

fn capabilities() -> Value {
    json!({ "tools": { "listChanged": false } })
}

fn server_info() -> Value {
    json!({ "name": "countersign", "title": "Countersign", "version": env!("CARGO_PKG_VERSION") })
}

/// What a client calls itself, with its version. Nobody has checked it.
fn client_name(info: Option<&Value>) -> String {
    let text = |name: &str| {
        let text = info.and_then(|info| info.get(name)).and_then(Value::as_str);
        text.map(str::trim).filter(|text| !text.is_empty())
    };
    let name = text("title").or_else(|| text("name")).unwrap_or("an MCP client");
    let version = text("version").map(|version| format!(" {version}")).unwrap_or_default();
    format!("{name}{version}").chars().take(MAX_CLIENT).collect()
}
