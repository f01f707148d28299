//! What a hook answers, in exactly the fields that each agent knows.

use serde_json::{Value, json};

use super::Agent;

/// The maximum length of a reason, in bytes. It becomes a part of the agent's conversation.
const MAX_REASON: usize = 4 << 10;

/// The answer to a tool call.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The hook has no objection, and the agent's own rules decide.
    NoObjection,
    /// The agent may make the call as it is.
    Allow,
    /// The agent may make the call with these arguments instead of its own.
    Rewrite(Value),
    /// The agent must not make the call, for this reason, which it is told.
    Deny(String),
}

impl Answer {
    /// The answer as the agent reads it.
    pub fn to_json(&self, agent: Agent) -> Value {
        match agent {
            Agent::Claude | Agent::Codex => self.pre_tool_use(agent),
            Agent::Gemini => self.before_tool(),
        }
    }

    /// The output of `PreToolUse`, which Codex has from Claude Code. Codex makes the original call if there is a field
    /// that it does not know, or a denial has no reason.
    fn pre_tool_use(&self, agent: Agent) -> Value {
        let event = agent.event();
        let decided = match self {
            Self::NoObjection => return json!({}),
            // Codex knows no permission without other arguments, and takes it for a failure of the hook.
            Self::Allow if agent == Agent::Codex => return json!({}),
            Self::Allow => json!({ "hookEventName": event, "permissionDecision": "allow" }),
            Self::Rewrite(input) => {
                // Claude Code replaces all arguments; Codex has only this one.
                let input = if agent == Agent::Codex { command_of(input) } else { input.clone() };
                json!({ "hookEventName": event, "permissionDecision": "allow", "updatedInput": input })
            }
            Self::Deny(reason) => json!({
                "hookEventName": event,
                "permissionDecision": "deny",
                "permissionDecisionReason": usable(reason),
            }),
        };
        json!({ "hookSpecificOutput": decided })
    }

    /// The output of `BeforeTool`. Gemini CLI merges `tool_input` into the arguments of the call.
    fn before_tool(&self) -> Value {
        match self {
            Self::NoObjection => json!({}),
            Self::Allow => json!({ "decision": "allow" }),
            Self::Rewrite(input) => {
                let input = command_of(input);
                json!({ "decision": "allow", "hookSpecificOutput": { "tool_input": input } })
            }
            Self::Deny(reason) => json!({ "decision": "deny", "reason": usable(reason) }),
        }
    }
}

/// The argument `command` alone.
fn command_of(input: &Value) -> Value {
    json!({ "command": input.get("command") })
}

/// A reason that is not empty and not too long.
fn usable(reason: &str) -> String {
    let reason = reason.trim();
    if reason.is_empty() {
        return "Countersign denied the call.".to_owned();
    }
    let end = reason.floor_char_boundary(MAX_REASON);
    reason.get(..end).unwrap_or_default().to_owned()
}
