//! Plans, steps and actions as JSON.

use countersign::plan::{Plan, parse};
use serde_json::{Value, json};

/// Parses this JSON as a plan. A plan with faults, which the executor must refuse, is returned with its valid
/// steps only.
pub fn read(plan: &Value) -> Plan {
    let parsed = parse(&serde_json::to_vec_pretty(plan).unwrap());
    parsed.into_shown().expect("there is a plan to show").valid_steps()
}

/// A plan with these steps.
pub fn plan(steps: impl IntoIterator<Item = Value>) -> Value {
    json!({
        "plan_id": "proof",
        "intent": "MUTATE",
        "steps": steps.into_iter().collect::<Vec<_>>(),
    })
}

/// A step. [`and`] adds further fields.
pub fn step(id: &str, tool: &str, arguments: Value) -> Value {
    json!({ "step_id": id, "tool": tool, "arguments": arguments })
}

pub fn read_file(id: &str, path: &str) -> Value {
    step(id, "file_read", json!({ "path": path }))
}

pub fn write_file(id: &str, path: &str, contents: &str) -> Value {
    step(id, "file_write", json!({ "path": path, "contents": contents }))
}

pub fn create_file(id: &str, path: &str, contents: &str) -> Value {
    step(id, "file_create", json!({ "path": path, "contents": contents }))
}

/// The step with one more field.
pub fn and(mut step: Value, field: &str, value: impl Into<Value>) -> Value {
    step[field] = value.into();
    step
}

/// The step with `requires_confirmation`.
pub fn asking(step: Value) -> Value {
    and(step, "requires_confirmation", true)
}

/// A step of a command plan.
pub fn command(id: &str, command: &str) -> Value {
    json!({ "id": id, "command": command })
}

/// An action plan with these actions.
pub fn action_plan(actions: impl Into<Value>) -> Value {
    json!({ "version": "2026-02-19", "goal": "g", "actions": actions.into() })
}

/// An action plan with these actions, each given as its kind and request.
pub fn actions<'a>(actions: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let action = |(kind, request)| json!({ "type": kind, "request": request });
    action_plan(actions.into_iter().map(action).collect::<Vec<_>>())
}

/// An action plan with one batch of these edits.
pub fn batch(edits: Value) -> Value {
    actions([("mutate_batch", json!({ "edits": edits }))])
}

pub fn undo() -> Value {
    actions([("history", json!({ "operation": "undo" }))])
}

pub fn undo_of(checkpoint: &str) -> Value {
    actions([("history", json!({ "operation": "undo", "checkpoint": checkpoint }))])
}

pub fn redo() -> Value {
    actions([("history", json!({ "operation": "redo" }))])
}

pub fn restore(checkpoint: &str) -> Value {
    actions([("history", json!({ "operation": "restore_checkpoint", "checkpoint": checkpoint }))])
}
