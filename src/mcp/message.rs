//! JSON-RPC 2.0: what a message is, and the forms of answers.

use serde_json::{Value, json};

/// The bytes are no JSON.
pub(super) const PARSE_ERROR: i64 = -32700;
/// The message is no request of JSON-RPC, or does not belong here.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// There is no such method.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters are wrong.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// The revision of the protocol is not one of ours (since revision 2026-07-28).
pub(super) const UNSUPPORTED_REVISION: i64 = -32022;

/// An error of the protocol.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RpcError {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Option<Value>,
}

impl RpcError {
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The answer to the request with this id; `null` if it has none that can be read.
    pub(super) fn answer(&self, id: &Value) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let (Some(fields), Some(data)) = (error.as_object_mut(), &self.data) {
            fields.insert("data".to_owned(), data.clone());
        }
        json!({ "jsonrpc": "2.0", "id": id, "error": error })
    }
}

/// The answer with a result.
pub(super) fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// One message of a client.
#[derive(Debug)]
pub(super) enum Message<'a> {
    /// It wants an answer.
    Request { id: &'a Value, method: &'a str, params: &'a Value },
    /// It wants none: a notification, or an answer to a request that was never made.
    Silent,
}

impl<'a> Message<'a> {
    /// Reads a message.
    ///
    /// # Errors
    /// It is none, with the answer to it.
    pub(super) fn read(value: &'a Value) -> Result<Self, Value> {
        let no_id = Value::Null;
        let id = value.get("id");
        // The id of a faulty message is given back if it is one.
        let known = id.filter(|id| is_id(id)).unwrap_or(&no_id);
        let refuse = |why: &str| Err(RpcError::new(INVALID_REQUEST, why).answer(known));
        let Some(fields) = value.as_object() else { return refuse("a message is an object") };
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return refuse("\"jsonrpc\" is not \"2.0\"");
        }
        let method = match fields.get("method") {
            Some(Value::String(method)) => method,
            Some(_) => return refuse("\"method\" is not a string"),
            None if fields.contains_key("result") || fields.contains_key("error") => {
                return Ok(Self::Silent);
            }
            None => return refuse("\"method\" is missing"),
        };
        let params = fields.get("params").unwrap_or(&Value::Null);
        match id {
            None => Ok(Self::Silent),
            Some(id) if !is_id(id) => refuse("\"id\" is neither a string nor an integer"),
            Some(_) if !(params.is_object() || params.is_null()) => {
                let error = RpcError::new(INVALID_PARAMS, "\"params\" is not an object");
                Err(error.answer(known))
            }
            Some(id) => Ok(Self::Request { id, method, params }),
        }
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}
