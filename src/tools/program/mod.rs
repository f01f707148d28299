//! `verify`, `compile` and `run` (SPEC §9): check, build and run the program in the workspace.
//!
//! cargo and the programs that it builds are run like a `shell` command: output is streamed to the person and the
//! evidence, and all processes are ended at a stop, a timeout or a limit. Diagnostics are parsed from cargo's JSON
//! messages, and their rendered text replaces these messages in the output.
//!
//! The output is parsed line by line (`relay.rs`), without holding all of it in memory. A workspace may
//! define commands of its own in `countersign.toml` (`workspace/`).

mod call;
mod cargo;
mod collected;
mod error;
mod execute;
mod function;
mod harness;
mod job;
mod preview;
mod relay;
mod target;
#[cfg(test)]
mod tests;
mod verdict;
mod workspace;

use super::tool::{PreviewWithEffects, Tool, without_effects};
use super::{CallResult, Context, ProjectedToolbox, ToolError, Toolbox};
use crate::plan::ToolCall;

pub(super) use call::function_call;
pub use error::ProgramError;
pub(super) use function::{run_function, test_command_line};
pub(super) use preview::preview;
pub use workspace::{CommandName, Fault, WorkspaceCommand, WorkspaceCommands};

/// `verify`, `compile` or `run`.
pub(super) struct Program<'a> {
    pub(super) call: &'a ToolCall,
}

impl Tool for Program<'_> {
    fn preview(&self, projected: ProjectedToolbox<'_>) -> Result<PreviewWithEffects, ToolError> {
        preview(projected, self.call).map(without_effects)
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<CallResult, ToolError> {
        execute::invoke(toolbox, self.call, context)
    }
}
