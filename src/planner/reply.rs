//! The output of a planner: an action plan, or a `failure` that explains why there is none (SPEC §1.3).

use serde_json::{Value, json};

use crate::plan::ACTION_PLAN_VERSION;

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
