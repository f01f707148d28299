//! `shell` (SPEC §7.2): one command, run by the shell for which its risk was judged.
//!
//! The shell is started by its absolute path, without start-up files and without environment variables that
//! change how it parses a command. It has no input and no terminal. Its changes of files cannot be predicted.
//!
//! The host is an argument of the call, so that the place where a command runs is part of what a person
//! approves. The commands of a command plan become steps of this tool, so that all commands are run, approved
//! and recorded in the same way. The verification of a command is a separate step after it, with a risk of
//! its own. The risk, approval and expectation that the author of a plan states can only make the checks
//! stricter.

mod command;
mod local;
mod remote;

use crate::run::{Preview, StopSignal};
use crate::workspace::go_on;

use super::command_shell::OUTPUT_BYTES;
use super::tool::{PreviewWithEffects, Tool, changes_nothing, limits};
use super::{After, Context, Invocation, ToolError, Toolbox};

pub(super) use command::Command;
pub use command::ShellError;

impl Tool for Command<'_> {
    fn preview(&self, at: After<'_>, _: &StopSignal) -> Result<PreviewWithEffects, ToolError> {
        let (place, by, without) = match self.target {
            Some(target) => {
                let (place, by) = remote::place(at.toolbox, target, self.cwd);
                (place, by, None)
            }
            None => local::place(at.toolbox, self)?,
        };
        let limits = limits("The command is ended", self.timeout(), OUTPUT_BYTES);
        let notes = [by, limits].into_iter().chain(without).collect();
        Ok(changes_nothing(Preview::unpredictable(format!("Runs the command {place}."), notes)))
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<Invocation, ToolError> {
        go_on(context.stop)?;
        match self.target {
            Some(target) => remote::invoke(toolbox, target, self, context),
            None => local::invoke(toolbox, self, context),
        }
    }
}
