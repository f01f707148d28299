//! `verify`, `compile` and `run` (SPEC §9): check, build and run the program in the workspace.
//!
//! cargo and the programs it builds are started like a `shell` command: output is streamed to the person
//! and the evidence, and a stop, a timeout or a limit kills all processes. cargo prints JSON messages;
//! diagnostics are parsed from them, and their rendered text is printed instead.
//!
//! The output is parsed line by line (`relay.rs`), without holding all of it in memory. A workspace may
//! define commands of its own in `countersign.toml` (`workspace/`).

mod call;
mod cargo;
mod error;
mod execute;
mod found;
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

use crate::plan::ToolCall;
use crate::run::StopSignal;

use super::tool::{PreviewWithEffects, Tool, changes_nothing};
use super::{After, Context, Invocation, ToolError, Toolbox};

pub(super) use call::function_call;
pub use error::ProgramError;
pub(super) use function::{function, function_test};
pub(super) use preview::preview;
pub use workspace::{CommandName, Fault, WorkspaceCommand, WorkspaceCommands};

/// `verify`, `compile` or `run`.
pub(super) struct Program<'a> {
    pub(super) call: &'a ToolCall,
}

impl Tool for Program<'_> {
    fn preview(&self, at: After<'_>, _: &StopSignal) -> Result<PreviewWithEffects, ToolError> {
        preview(at, self.call).map(changes_nothing)
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<Invocation, ToolError> {
        execute::invoke(toolbox, self.call, context)
    }
}
