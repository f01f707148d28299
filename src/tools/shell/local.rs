//! Runs a command on this computer.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::command::{hidden, with_terminal};
use super::{Command, ShellError};
use crate::authorization::StepWalls;
use crate::plan::Code;
use crate::process;
use crate::process::{Finished, Input, Leftovers, ProcessError, ProcessIo, Profile, Program};
use crate::run::{OpenTerminal, StreamEnds};
use crate::tools::command_shell::{CommandShell, OUTPUT_BYTES};
use crate::tools::tool::set_field;
use crate::tools::{CallResult, Context, ToolError, Toolbox, command_shell};
use crate::workspace::{Kind, Last};

/// The working directory of a command: its canonical path, and its absolute path.
fn working_directory(
    toolbox: &Toolbox,
    command: &Command<'_>,
) -> Result<(String, PathBuf), ToolError> {
    let Some(cwd) = command.cwd else {
        return Ok((".".to_owned(), toolbox.workspace().to_owned()));
    };
    let place = toolbox.resolve(cwd, Last::Follow)?;
    if place.kind != Kind::Folder {
        return Err(ShellError::NoFolder { path: cwd.to_owned(), kind: place.kind }.into());
    }
    let path = place.root.path.join(&place.relative);
    Ok((place.key, path))
}

/// The parts of the preview: a phrase for the working directory, a sentence for the shell and the user, and if there
/// are any, a sentence for the folders of `PATH` that are left out because they are in the workspace.
pub(super) fn describe(
    toolbox: &Toolbox,
    command: &Command<'_>,
) -> Result<(String, String, Option<String>), ToolError> {
    let folder = match working_directory(toolbox, command)?.0.as_str() {
        "." => "in the workspace folder".to_owned(),
        key => format!("in {key}"),
    };
    let left_out =
        process::excluded_folders(Profile::Step(toolbox.launcher.walls_for(StepWalls::NONE)));
    let names: Vec<_> = left_out.iter().map(|folder| folder.to_string_lossy()).collect();
    let path_note = (!names.is_empty())
        .then(|| format!("Folders of PATH in the workspace are left out: {}.", names.join(", ")));
    let shell = toolbox.command_shell()?.path.display();
    Ok((folder, format!("Run by {shell} as {}.", command_shell::user()), path_note))
}

/// Runs the command in its working directory.
pub(super) fn invoke(
    toolbox: &Toolbox,
    command: &Command<'_>,
    context: &Context<'_>,
) -> Result<CallResult, ToolError> {
    let (key, folder) = working_directory(toolbox, command)?;
    let profile = Profile::Step(toolbox.behind(context));
    let variables = command.variables(toolbox)?;
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let io = ProcessIo { hidden: &hidden(toolbox), ..context.io() };
    let shell = toolbox.command_shell()?;
    run_in(shell, command, &variables, (&key, &folder), OUTPUT_BYTES, profile, (context, io))
}

/// Runs the command in a folder, given by its canonical and its absolute path. The command is ended when one
/// of its outputs has more than `limit` bytes.
fn run_in(
    shell: &CommandShell,
    command: &Command<'_>,
    environment: &[(&str, &str)],
    (key, folder): (&str, &Path),
    limit: u64,
    profile: Profile<'_>,
    (context, io): (&Context<'_>, ProcessIo<'_>),
) -> Result<CallResult, ToolError> {
    let mut unset = command_shell::removed_variables();
    unset.retain(|name| environment.iter().all(|(given, _)| name != given));
    let program = Program {
        profile,
        program: OsStr::new(&shell.path),
        arguments: &shell.arguments(command.command),
        input: terminal(context)?.map(Input::Terminal),
        folder,
        environment,
        unset: &unset,
        // As in a terminal, background processes that a command starts keep running after it has exited.
        leftovers: Leftovers::Stay,
        timeout: command.timeout(),
        output_limit: limit,
    };
    let left_out = process::excluded_folders(profile);
    let failed = ProcessError::not_started("the shell", Code::CommandFailed);
    let finished = process::stream(&program, io).map_err(failed)?;
    let mut result = with_terminal(result(command, shell, key, &finished), context);
    if !left_out.is_empty() {
        let names = left_out.iter().map(|folder| folder.to_string_lossy().into_owned());
        set_field(&mut result, "not_in_path", names.collect::<Vec<_>>());
    }
    Ok(CallResult {
        exit_code: finished.exit_code,
        result,
        error: error(command, &finished, limit),
        walls: finished.walls.clone(),
        captured: Some([finished.stdout, finished.stderr]),
        ..CallResult::default()
    })
}

/// Why the command failed; `None` if it exited with 0 and was neither ended nor stopped by a wall.
fn error(command: &Command<'_>, finished: &Finished<StreamEnds>, limit: u64) -> Option<ToolError> {
    match finished.ended("the command", command.timeout(), limit) {
        Some(error) => Some(error.into()),
        None => Some(ShellError::Failed { status: finished.failure()? }.into()),
    }
}

/// The terminal in which the command runs; `None` if its plan asks for none.
///
/// # Errors
/// When the plan asks for one and there is none.
fn terminal<'a>(context: &Context<'a>) -> Result<Option<&'a OpenTerminal>, ToolError> {
    match (context.walls.terminal, context.terminal) {
        (false, _) => Ok(None),
        (true, Some(terminal)) => Ok(Some(terminal)),
        (true, None) => Err(ShellError::NoTerminal.into()),
    }
}

fn result(
    command: &Command<'_>,
    shell: &CommandShell,
    key: &str,
    finished: &Finished<StreamEnds>,
) -> Value {
    json!({
        "command": command.command,
        "shell": shell.path.to_string_lossy(),
        "folder": key,
        "timeout_seconds": command.timeout().as_secs(),
        "exit_code": finished.exit_code,
        "signal": finished.signal,
        "timed_out": finished.timed_out(),
        "stdout_bytes": finished.stdout.bytes(),
        "stderr_bytes": finished.stderr.bytes(),
        "output_left_open": finished.left_open,
        "duration_ms": u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
    })
}

#[cfg(test)]
mod tests;
