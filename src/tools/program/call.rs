//! Converts a simulated function to a call.

use crate::plan::{Build, ToolCall};

/// The `run` call for a function. Debug symbols are added for traces, which need them for line numbers.
pub(in crate::tools) fn function_call(name: &str, inputs: &[String], traces: bool) -> ToolCall {
    let build =
        Build { entry_function: Some(name.to_owned()), debug_symbols: traces, ..Build::default() };
    ToolCall::Run { build, args: inputs.to_vec() }
}
