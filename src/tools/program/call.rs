//! The call that a simulated function is converted to.

use crate::plan::{Build, ToolCall};

/// The `run` call for a function. A trace with line numbers needs debug symbols.
pub(in crate::tools) fn function_call(name: &str, inputs: &[String], traces: bool) -> ToolCall {
    let build =
        Build { entry_function: Some(name.to_owned()), debug_symbols: traces, ..Build::default() };
    ToolCall::Run { build, args: inputs.to_vec() }
}
