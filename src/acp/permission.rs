//! What an agent asks for, and the answers.

use serde_json::{Value, json};

use super::message::{INVALID_PARAMS, REFUSED, error, result};
use super::update::ToolCall;

/// The maximum number of options of a request.
const MAX_OPTIONS: usize = 100;

/// A change of a file that an agent shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// The file.
    pub path: String,
    /// The text before; `None` for a new file.
    pub old: Option<String>,
    /// The text afterwards.
    pub new: String,
}

impl FileDiff {
    pub(super) fn read(value: &Value) -> Option<Self> {
        let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
        let old = match value.get("oldText") {
            None | Some(Value::Null) => None,
            Some(old) => Some(old.as_str()?.to_owned()),
        };
        Some(Self { path: text("path")?, old, new: text("newText")? })
    }
}

/// A request of an agent for permission to make a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Permission {
    pub(super) id: Value,
    /// The call.
    pub call: ToolCall,
    allow: Result<String, &'static str>,
    reject: Option<String>,
}

/// The answer to a [`Permission`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// This one call may be made.
    Allow,
    /// It must not be made.
    Reject,
    /// The turn was cancelled.
    Cancelled,
}

impl Permission {
    /// Reads the parameters of a request.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(super) fn read(id: Value, params: &Value, call: ToolCall) -> Result<Self, &'static str> {
        let options = params.get("options").and_then(Value::as_array).ok_or("no options")?;
        if options.len() > MAX_OPTIONS {
            return Err("too many options");
        }
        let mut read = Vec::new();
        for option in options {
            let text = |name: &str| option.get(name).and_then(Value::as_str);
            let fields = text("optionId").zip(text("kind"));
            read.push(fields.ok_or("an option without optionId or kind")?);
        }
        let ids = |wanted: &str| -> Vec<&str> {
            read.iter().filter(|(_, kind)| *kind == wanted).map(|(id, _)| *id).collect()
        };
        // An id that two options have would leave to the agent which of them was meant.
        let is_unique = |id: &str| read.iter().filter(|(other, _)| *other == id).count() == 1;
        let allow = match ids("allow_once").as_slice() {
            [] => Err("the agent offers no option to allow this once"),
            [id] if is_unique(id) => Ok((*id).to_owned()),
            _ => Err(
                "the agent offers several options to allow this once, and says nothing that tells them apart",
            ),
        };
        let reject = ids("reject_once").into_iter().find(|id| is_unique(id)).map(str::to_owned);
        Ok(Self { id, call, allow, reject })
    }

    /// Why the agent cannot be allowed to make this one call; `None` if it can.
    pub fn not_allowable(&self) -> Option<&'static str> {
        self.allow.as_ref().err().copied()
    }

    /// The answer as a line. What cannot be said is a cancellation, which allows nothing.
    pub fn answer(&self, choice: Choice) -> Vec<u8> {
        let option = match choice {
            Choice::Allow => self.allow.as_ref().ok(),
            Choice::Reject => self.reject.as_ref(),
            Choice::Cancelled => None,
        };
        let outcome = match option {
            Some(option) => json!({ "outcome": "selected", "optionId": option }),
            None => json!({ "outcome": "cancelled" }),
        };
        result(&self.id, json!({ "outcome": outcome }))
    }
}

/// A file that an agent wants to have written.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteFile {
    pub(super) id: Value,
    /// The file.
    pub path: String,
    /// The whole text.
    pub content: String,
}

impl WriteFile {
    /// Reads the parameters of a request; `None` if they are wrong.
    pub(super) fn read(id: &Value, params: &Value) -> Option<Self> {
        let text = |name: &str| params.get(name)?.as_str().map(str::to_owned);
        Some(Self { id: id.clone(), path: text("path")?, content: text("content")? })
    }

    /// The answer as a line, with the reason if the file was not written.
    pub fn answer(&self, done: Result<(), &str>) -> Vec<u8> {
        match done {
            Ok(()) => result(&self.id, Value::Null),
            Err(why) => error(&self.id, REFUSED, why),
        }
    }
}

/// The refusal of a request whose parameters are wrong.
pub(super) fn invalid(id: &Value, why: &str) -> Vec<u8> {
    error(id, INVALID_PARAMS, why)
}
