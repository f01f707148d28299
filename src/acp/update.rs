//! What an agent tells about its work. Nothing of it is acted on, except that a later request for permission may leave out
//! what its tool call has said before.

use serde_json::Value;

use super::FileDiff;

/// The maximum number of entries of an agent's plan.
const MAX_ENTRIES: usize = 200;
/// The maximum length of a title or an entry, in bytes.
const MAX_TEXT: usize = 4 << 10;
/// The maximum number of diffs of a tool call.
const MAX_DIFFS: usize = 1_000;

/// Something that an agent tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// The next part of its words.
    Words(String),
    /// The next part of its thoughts.
    Thought(String),
    /// A tool call, as it is now.
    Call(CallState),
    /// Its plan, which replaces the one before.
    Plan(Vec<PlanEntry>),
}

/// A tool call as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallState {
    /// The agent's id of it.
    pub id: String,
    /// What the agent calls it.
    pub title: String,
    /// `pending`, `in_progress`, `completed`, `failed`, or another word of the agent.
    pub status: String,
}

/// An entry of an agent's plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// `pending`, `in_progress`, `completed`, or another word of the agent.
    pub status: String,
}

/// A tool call of an agent, as far as a step can be made of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolCall {
    /// The agent's id of it.
    pub id: String,
    /// What the agent calls it.
    pub title: String,
    /// `read`, `edit`, `delete`, `execute`, and so on; may be empty.
    pub kind: String,
    /// `pending`, `in_progress`, and so on; may be empty.
    pub status: String,
    /// The changes of files that it shows; `None` if this message says nothing about what it shows.
    shown: Option<Vec<FileDiff>>,
    /// The arguments of the agent's tool; `None` if the agent does not show them.
    pub raw_input: Option<Value>,
}

impl ToolCall {
    /// Reads a call or a part of one; `None` without an id. A field of another type counts as not there, except for a
    /// diff: then the whole call is none.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        let id = text("toolCallId");
        if id.is_empty() {
            return None;
        }
        let content = value.get("content").and_then(Value::as_array);
        let is_diff = |it: &&Value| it.get("type").and_then(Value::as_str) == Some("diff");
        let shown = match content {
            None => None,
            Some(content) => {
                let diffs = content.iter().filter(is_diff).map(FileDiff::read);
                let diffs = diffs.take(MAX_DIFFS + 1).collect::<Option<Vec<_>>>()?;
                Some(diffs).filter(|diffs| diffs.len() <= MAX_DIFFS)
            }
        };
        if content.is_some() && shown.is_none() {
            return None;
        }
        let raw_input = value.get("rawInput").filter(|input| !is_empty(input)).cloned();
        Some(Self {
            id: id.to_owned(),
            title: beginning(text("title")),
            kind: text("kind").to_owned(),
            status: text("status").to_owned(),
            shown,
            raw_input,
        })
    }

    /// The changes of files that it shows.
    pub fn diffs(&self) -> &[FileDiff] {
        self.shown.as_deref().unwrap_or_default()
    }

    /// Adds what an earlier message has said of this call, and this one leaves out.
    pub(super) fn completed_by(mut self, earlier: &Self) -> Self {
        let fill = |text: &mut String, from: &String| {
            if text.is_empty() {
                text.clone_from(from);
            }
        };
        fill(&mut self.title, &earlier.title);
        fill(&mut self.kind, &earlier.kind);
        fill(&mut self.status, &earlier.status);
        self.shown = self.shown.or_else(|| earlier.shown.clone());
        self.raw_input = self.raw_input.or_else(|| earlier.raw_input.clone());
        self
    }

    /// The call as it is shown.
    pub(super) fn state(&self) -> CallState {
        CallState { id: self.id.clone(), title: self.title.clone(), status: self.status.clone() }
    }
}

/// Whether arguments say nothing.
fn is_empty(input: &Value) -> bool {
    match input {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// Reads an update that is only shown; `None` if it is not known, or is no such update.
pub(super) fn read(update: &Value) -> Option<Update> {
    match update.get("sessionUpdate")?.as_str()? {
        "agent_message_chunk" => Some(Update::Words(words(update)?)),
        "agent_thought_chunk" => Some(Update::Thought(words(update)?)),
        "plan" => Some(Update::Plan(entries(update)?)),
        _ => None,
    }
}

/// The call in an update about one.
pub(super) fn call(update: &Value) -> Option<ToolCall> {
    let kind = update.get("sessionUpdate")?.as_str()?;
    matches!(kind, "tool_call" | "tool_call_update").then(|| ToolCall::read(update)).flatten()
}

fn words(update: &Value) -> Option<String> {
    let content = update.get("content")?;
    match content.get("type")?.as_str()? {
        "text" => Some(content.get("text")?.as_str()?.to_owned()),
        other => Some(format!("[{}]", beginning(other))),
    }
}

fn entries(update: &Value) -> Option<Vec<PlanEntry>> {
    let entry = |entry: &Value| {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).map(beginning);
        Some(PlanEntry { content: text("content")?, status: text("status").unwrap_or_default() })
    };
    let entries = update.get("entries")?.as_array()?;
    let mut found: Vec<_> = entries.iter().take(MAX_ENTRIES).filter_map(entry).collect();
    if let Some(more) = entries.len().checked_sub(MAX_ENTRIES).filter(|more| *more > 0) {
        found.push(PlanEntry { content: format!("… and {more} more"), status: String::new() });
    }
    Some(found)
}

/// The beginning of a text that is shown.
fn beginning(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_TEXT);
    match text.get(..end) {
        Some(beginning) if end < text.len() => format!("{beginning}…"),
        _ => text.to_owned(),
    }
}
