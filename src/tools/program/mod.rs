//! `verify`, `compile` and `run` (SPEC §9): the program is checked, built and run by its own tools.
//!
//! cargo and what it builds are started as the tool `shell` starts a command: output goes to the person and
//! to the evidence as it comes, a stop, a timeout or a limit ends all of it. cargo speaks to us in messages
//! for programs; the diagnostics are read out of them, and what they mean for people is what is printed.
//!
//! cargo's messages are read line by line (`relay.rs`); nothing is kept whole. A workspace may name commands of its
//! own in `countersign.toml` (`workspace/`).

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

use super::tool::{Foreseen, Tool, changes_nothing};
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
    fn preview(&self, at: After<'_>, _: &StopSignal) -> Result<Foreseen, ToolError> {
        preview(at, self.call).map(changes_nothing)
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<Invocation, ToolError> {
        execute::invoke(toolbox, self.call, context)
    }
}
