//! Calls tools without an executor.

use std::collections::BTreeMap;

use countersign::authorization::{FileState, StepWalls};
use countersign::plan::ToolCall;
use countersign::process::NoCapture;
use countersign::run::StopSignal;
use countersign::tools::{CallResult, Context, Toolbox};
use uuid::Uuid;

/// Calls a tool without walls. The input files count as approved in the states `expected`.
pub fn invoke(
    toolbox: &Toolbox,
    call: &ToolCall,
    expected: &BTreeMap<String, FileState>,
) -> CallResult {
    let stop = StopSignal::default();
    let context = Context {
        expected,
        stop: &stop,
        execution_id: Uuid::new_v4(),
        output: &|_, _| {},
        capture: &NoCapture,
        walls: StepWalls::NONE,
        terminal: None,
    };
    toolbox.invoke(call, &context)
}
