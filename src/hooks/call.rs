//! What an agent tells its hook.

use serde_json::{Value, json};

use super::Agent;
use crate::plan::{Digest, has_duplicate_keys};

/// The maximum size of what an agent says, in bytes: 16 MiB, as of a plan.
pub const MAX_CALL: usize = 16 << 20;

/// A tool call that an agent wants to make.
#[derive(Debug, Clone, PartialEq)]
pub struct HookCall {
    /// The agent's id of its session; may be empty.
    pub session: String,
    /// The folder in which the agent works, absolute.
    pub folder: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments of the tool.
    pub input: Value,
}

/// Why what an agent said is no tool call.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// It is too large.
    #[error("the call has more than {} MiB", MAX_CALL >> 20)]
    TooLarge,
    /// It is no JSON.
    #[error("the call is no JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// Two fields have the same name.
    #[error("the call has two fields of the same name")]
    Duplicate,
    /// It is about another event.
    #[error("this hook answers {expected}, and not {event:?}")]
    Event {
        /// The event that it answers.
        expected: &'static str,
        /// The event of the call.
        event: String,
    },
    /// A field is missing or has another type.
    #[error("the call has no usable field \"{0}\"")]
    Field(&'static str),
}

/// The patch in a command of Codex that is nothing else. Codex runs no program then, but applies the patch itself.
fn patch_of(input: &Value) -> Option<&str> {
    let fields = input.as_object()?;
    let command = fields.get("command").filter(|_| fields.len() == 1)?.as_str()?.trim();
    let word = command.strip_prefix("apply_patch")?.trim_start_matches(' ').strip_prefix("<<")?;
    let (word, body) = word.split_once('\n')?;
    // In a text without quotes, the shell would replace variables.
    let word = word.strip_prefix('\'')?.strip_suffix('\'')?;
    let is_plain = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let patch = body.strip_suffix(word)?;
    let is_one = patch.ends_with('\n') && !patch.lines().any(|line| line == word);
    (is_plain && is_one).then_some(patch)
}

impl HookCall {
    /// Reads what the agent wrote on the hook's stdin. Fields that are not needed are ignored: agents add some with each
    /// version, and none of them changes what the call does.
    ///
    /// # Errors
    /// It is no call of a tool, as this agent writes it.
    pub fn read(agent: Agent, bytes: &[u8]) -> Result<Self, CallError> {
        if bytes.len() > MAX_CALL {
            return Err(CallError::TooLarge);
        }
        let value: Value = serde_json::from_slice(bytes)?;
        // Of such fields, the agent could take the other one.
        if std::str::from_utf8(bytes).is_ok_and(has_duplicate_keys) {
            return Err(CallError::Duplicate);
        }
        let text = |name: &'static str| {
            value.get(name).and_then(Value::as_str).ok_or(CallError::Field(name))
        };
        let event = text("hook_event_name")?;
        if event != agent.event() {
            return Err(CallError::Event { expected: agent.event(), event: event.to_owned() });
        }
        let folder = text("cwd").ok().filter(|folder| folder.starts_with('/'));
        let tool = text("tool_name").ok().filter(|tool| !tool.is_empty());
        let input = value.get("tool_input").filter(|input| !input.is_null());
        if let (Agent::Codex, Some("Bash"), Some(input)) = (agent, tool, input)
            && let Some(patch) = patch_of(input)
        {
            return Ok(Self {
                session: text("session_id").unwrap_or_default().to_owned(),
                folder: folder.ok_or(CallError::Field("cwd"))?.to_owned(),
                tool: "apply_patch".to_owned(),
                input: json!({ "command": patch }),
            });
        }
        Ok(Self {
            session: text("session_id").unwrap_or_default().to_owned(),
            folder: folder.ok_or(CallError::Field("cwd"))?.to_owned(),
            tool: tool.ok_or(CallError::Field("tool_name"))?.to_owned(),
            input: input.ok_or(CallError::Field("tool_input"))?.clone(),
        })
    }

    /// The call alone, as it is opened as a plan.
    pub fn to_json(&self) -> Vec<u8> {
        json!({ "tool_name": self.tool, "tool_input": self.input }).to_string().into_bytes()
    }

    /// What the call is about: its command or its file, otherwise nothing.
    pub fn subject(&self) -> &str {
        let text = |name: &str| self.input.get(name).and_then(Value::as_str);
        if self.tool == "apply_patch" {
            let patch = self.input.as_str().or_else(|| text("command")).or_else(|| text("input"));
            let is_file = |line: &&str| line.starts_with("*** ") && line.contains(" File: ");
            return patch.and_then(|patch| patch.lines().find(is_file)).unwrap_or_default();
        }
        let names = ["command", "cmd", "file_path", "path"];
        names.into_iter().find_map(text).unwrap_or_default()
    }

    /// The digest of what the call does: the arguments without the description, which is words for a person.
    pub fn arguments_digest(&self) -> Digest {
        let mut input = self.input.clone();
        if let Some(fields) = input.as_object_mut() {
            fields.remove("description");
        }
        Digest::of(input.to_string().as_bytes())
    }

    /// The arguments with another command, if the tool runs the text in its argument `command` in a shell, and the agent
    /// runs what the hook makes of it.
    pub fn with_command(&self, command: &str) -> Option<Value> {
        if !self.runs_command() {
            return None;
        }
        let mut input = self.input.as_object()?.clone();
        input.insert("command".to_owned(), command.into());
        Some(Value::Object(input))
    }

    /// Whether the tool runs a command that a hook can replace.
    pub fn runs_command(&self) -> bool {
        matches!(self.tool.as_str(), "Bash" | "run_shell_command")
            && self.input.get("command").is_some_and(Value::is_string)
    }
}
