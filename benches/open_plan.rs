//! Reading a valid plan of 10,000 steps against `serde_json::from_slice::<Value>` of its bytes.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(dead_code, reason = "each bench uses its part of the support")]

mod support;

use std::process::ExitCode;

use countersign::plan::parse;
use serde_json::{Value, json};
use support::{claim, time};

fn main() -> ExitCode {
    let step = |index: usize| {
        json!({
            "step_id": format!("step_{index}"),
            "tool": "file_write",
            "title": "Write one file",
            "arguments": {"path": format!("src/file_{index}.rs"), "contents": "fn f() {}\n".repeat(20)},
            "precondition": "file exists",
            "requires_confirmation": true,
        })
    };
    let steps: Vec<Value> = (0..10_000).map(step).collect();
    let bytes = json!({"plan_id": "bench", "intent": "MUTATE", "steps": steps}).to_string();
    let bytes = bytes.as_bytes();
    assert!(parse(bytes).is_valid());
    claim(
        "reading a plan of 10,000 steps against plain JSON",
        3.0,
        31,
        || time(|| parse(bytes)),
        || time(|| serde_json::from_slice::<Value>(bytes).expect("JSON")),
    )
}
