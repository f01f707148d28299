//! The call that a simulated function stands for.

use crate::plan::{Build, ToolCall};

/// The `run` that a function stands for. A trace that names lines needs what a debugger needs.
pub(in crate::tools) fn function_call(name: &str, inputs: &[String], traces: bool) -> ToolCall {
    let build =
        Build { entry_function: Some(name.to_owned()), debug_symbols: traces, ..Build::default() };
    ToolCall::Run { build, args: inputs.to_vec() }
}
