//! JSON-RPC 2.0: what a message of the agent is, and the forms of ours.

use serde_json::{Map, Value, json};

/// The maximum size of a message, in bytes. A diff has the old and the new text of a file, each of which may be as large
/// as a plan.
pub const MAX_MESSAGE: usize = 48 << 20;

/// The line is no JSON.
const PARSE_ERROR: i64 = -32700;
/// The message is no request that belongs here.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// There is no such method.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters are wrong.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// What was asked is not done.
pub(super) const REFUSED: i64 = -32001;
/// An error of an agent: it is not logged in.
pub(super) const AUTH_REQUIRED: i64 = -32000;

/// The names of fields by which a line is meant as a message.
const MARKS: [&[u8]; 2] = [b"\"jsonrpc\"", b"\"method\""];

/// A message of the agent.
#[derive(Debug)]
pub(super) enum Message {
    /// It wants an answer with this id, which is an integer or a text.
    Request { id: Value, method: String, params: Value },
    /// It wants none.
    Notification { method: String, params: Value },
    /// It answers our request.
    Answer { id: u64, result: Result<Value, RpcError> },
}

/// The error with which an agent answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RpcError {
    pub(super) code: i64,
    pub(super) message: String,
}

/// Why a line is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// Something else that an agent prints.
    Noise,
    /// A message that cannot be read. It must be answered, because the agent may wait for that.
    Broken { code: i64, why: &'static str },
}

impl Message {
    /// Reads the line of an agent.
    ///
    /// # Errors
    /// Why it is no message. An answer without a usable id answers nothing, and is noise.
    pub(super) fn read(line: &[u8]) -> Result<Self, Unreadable> {
        // Whatever else the line says, these words are in messages, and hardly in anything else.
        let is_meant_as_one =
            MARKS.iter().any(|mark| line.windows(mark.len()).any(|it| it == *mark));
        let broken = |code, why| match is_meant_as_one {
            true => Unreadable::Broken { code, why },
            false => Unreadable::Noise,
        };
        let value = serde_json::from_slice::<Value>(line);
        let mut value = value.map_err(|_| broken(PARSE_ERROR, "it is no JSON in UTF-8"))?;
        let is_answer = value.get("method").is_none()
            && (value.get("result").is_some() || value.get("error").is_some());
        // An error that answers an answer could be answered without end.
        let otherwise = match is_answer {
            true => Unreadable::Noise,
            false => broken(INVALID_REQUEST, "it has not the form of a message"),
        };
        value.as_object_mut().and_then(Self::of).ok_or(otherwise)
    }

    fn of(fields: &mut Map<String, Value>) -> Option<Self> {
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return None;
        }
        let params = fields.remove("params").unwrap_or(Value::Null);
        let id = fields.remove("id");
        match (fields.remove("method"), id) {
            (Some(Value::String(method)), None) => Some(Self::Notification { method, params }),
            (Some(Value::String(method)), Some(id)) => {
                let is_id = id.is_string() || id.is_i64() || id.is_u64();
                is_id.then_some(Self::Request { id, method, params })
            }
            (Some(_), _) | (None, None) => None,
            (None, Some(id)) => {
                let id = id.as_u64()?;
                let result = match (fields.remove("result"), fields.remove("error")) {
                    (Some(result), None) => Ok(result),
                    (None, Some(error)) => Err(RpcError::read(&error)),
                    _ => return None,
                };
                Some(Self::Answer { id, result })
            }
        }
    }
}

impl RpcError {
    fn read(error: &Value) -> Self {
        let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
        let text = |name| error.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
        let details = error.pointer("/data/details").and_then(Value::as_str);
        let message = text("message").unwrap_or("it gives no reason");
        let message = match details.filter(|details| *details != message) {
            Some(details) => format!("{message}: {details}"),
            None => message.to_owned(),
        };
        Self { code, message }
    }
}

/// A message as a line.
fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// A request of ours.
pub(super) fn request(id: u64, method: &str, params: Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

/// A notification of ours.
pub(super) fn notification(method: &str, params: Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

/// Our answer to the request with this id.
pub(super) fn result(id: &Value, result: Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// Our refusal of the request with this id.
pub(super) fn error(id: &Value, code: i64, message: &str) -> Vec<u8> {
    let error = json!({ "code": code, "message": message });
    line(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}
