//! `shell` (SPEC §7.2): one command, run by the shell for which its risk was judged.
//!
//! The shell is started by its absolute path, without start-up files and without environment variables that
//! change how it parses a command. It has no input and no terminal, unless its plan asks for a terminal, into which a
//! person then types. The file changes of a command cannot be
//! predicted.
//!
//! The host is an argument of the call, so that an authorization covers it. The commands of a command plan become
//! steps of this tool, so that all commands are run, authorized and recorded in the same way. The verification of a
//! command is a separate step after it, with a risk of its own. The risk, approval and expectation that the author
//! of a plan states can only make the checks stricter.

mod command;
mod local;
mod remote;

use super::command_shell::OUTPUT_BYTES;
use super::tool::{PreviewWithEffects, Tool, limits_note, without_effects};
use super::{CallResult, Context, ProjectedToolbox, ToolError, Toolbox};
use crate::plan::Fleet;
use crate::remote::fleet;
use crate::run::{Preview, text};
use crate::workspace::check_cancelled;

pub(super) use command::Command;
pub use command::ShellError;

impl Tool for Command<'_> {
    fn preview(&self, projected: ProjectedToolbox<'_>) -> Result<PreviewWithEffects, ToolError> {
        let (location, shell, path_note) = match self.target {
            Some(target) => {
                let (location, shell) = remote::describe(projected.toolbox, target, self.cwd);
                (location, shell, None)
            }
            None => local::describe(projected.toolbox, self)?,
        };
        let limits = match self.target {
            Some(target) if Fleet::is_label(target) => {
                let time = text::duration(self.timeout());
                let limits = fleet::OUTPUT_LIMITS;
                format!(
                    "The command is ended after {time}, or when it has printed more than {limits}."
                )
            }
            _ => limits_note("The command is ended", self.timeout(), OUTPUT_BYTES),
        };
        let notes = [shell, limits].into_iter().chain(path_note).collect();
        Ok(without_effects(Preview::unpredictable(format!("Runs the command {location}."), notes)))
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<CallResult, ToolError> {
        check_cancelled(context.stop)?;
        match self.target {
            Some(target) => remote::invoke(toolbox, target, self, context),
            None => local::invoke(toolbox, self, context),
        }
    }
}
