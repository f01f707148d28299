//! `shell` (SPEC §7.2): one command, run by the shell for which its risk was judged.
//!
//! The shell is started by its absolute path, without start-up files and without environment variables that
//! change how it parses a command. It has no input and no terminal. The changes of files by the command
//! cannot be predicted.
//!
//! The host is part of the plan and of each call, so that nothing decides later where a command runs. Command plans
//! become steps of this one tool, so that there is one way to run, ask and record. A verification is a step of its
//! own behind its command, judged by what it does. What the author says about risk, approval and expectation is data
//! and can only raise the care taken.

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
        let limits = limits("Ended", self.timeout(), OUTPUT_BYTES);
        let notes = [by, "What it changes cannot be foreseen.".to_owned(), limits];
        let notes = notes.into_iter().chain(without).collect();
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
