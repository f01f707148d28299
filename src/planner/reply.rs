//! The output of a planner: an action plan, or a `failure` that explains why there is none (SPEC §1.3).

use serde_json::{Value, json};

use crate::plan::ACTION_PLAN_VERSION;

/// Maximum number of bytes of an answer that are quoted.
const QUOTED_BYTES: usize = 200;

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// One of the codes of SPEC §1.3.
    pub(super) code: &'static str,
    /// The explanation for a person.
    pub(super) message: String,
    /// Whether another request may succeed.
    pub(super) retryable: bool,
}

impl Failure {
    /// A server, tool or file is not available.
    pub(super) fn unavailable(message: impl Into<String>, retryable: bool) -> Self {
        Self { code: "planner_unavailable", message: message.into(), retryable }
    }

    /// The answer is not a plan. Another attempt may succeed.
    pub(super) fn no_plan(message: impl Into<String>) -> Self {
        Self { code: "validation_failed", message: message.into(), retryable: true }
    }

    /// The model refuses the goal, or the server's filter blocked the answer.
    pub(super) fn unsafe_plan(message: impl Into<String>) -> Self {
        Self { code: "unsafe_plan", message: message.into(), retryable: false }
    }

    /// The plan file that reports this failure.
    pub(super) fn bytes(&self, goal: &str) -> Vec<u8> {
        let failure =
            json!({ "code": self.code, "message": self.message, "retryable": self.retryable });
        to_bytes(&json!({ "version": ACTION_PLAN_VERSION, "goal": goal, "failure": failure }))
    }
}

/// The bytes of an action plan. `planner` and `notes` become its metadata.
pub(super) fn plan(goal: &str, planner: &str, notes: &str, actions: &[Value]) -> Vec<u8> {
    to_bytes(&json!({
        "version": ACTION_PLAN_VERSION,
        "goal": goal,
        "metadata": { "planner": planner, "notes": notes },
        "actions": actions,
    }))
}

/// The answer with a plan after which more is left to do.
pub(super) fn with_more_left(plan: &[u8]) -> Vec<u8> {
    let plan = String::from_utf8_lossy(plan);
    format!("{{\"plan\": {}, \"answers_goal\": false}}\n", plan.trim_end()).into_bytes()
}

fn to_bytes(plan: &Value) -> Vec<u8> {
    format!("{plan:#}\n").into_bytes()
}

/// The text without the code fence that many models put around it.
pub(super) fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let Some((word, inner)) = inner.and_then(|inner| inner.split_once('\n')) else { return text };
    if matches!(word.trim(), "" | "json") && !inner.contains("```") { inner.trim() } else { text }
}

/// The failure for an answer that is no plan, with its beginning. `what` says why, without an end.
pub(super) fn not_a_plan(what: &str, bytes: &[u8]) -> Failure {
    let text = String::from_utf8_lossy(bytes);
    let text = quoted(text.trim());
    Failure::no_plan(match text.as_str() {
        "" => "the answer is empty".to_owned(),
        text => format!("the answer is no plan, {what}; the answer begins: {text}"),
    })
}

/// The beginning of a text from outside.
pub(super) fn quoted(text: &str) -> String {
    let end = text.floor_char_boundary(QUOTED_BYTES);
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", text.get(..end).unwrap_or_default())
}

/// The error message of a server: the message in its JSON, or else the whole text.
pub(super) fn error_message(bytes: &[u8]) -> String {
    let json: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let error = json.get("error").unwrap_or(&json);
    let message = error.get("message").or_else(|| error.get("detail")).unwrap_or(error);
    match message.as_str() {
        Some(text) => text.to_owned(),
        None => String::from_utf8_lossy(bytes).trim().to_owned(),
    }
}
