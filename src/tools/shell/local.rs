//! Runs a command on the local machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::authorization::StepWalls;
use crate::plan::Code;
use crate::process::{self, Finished, Leftovers, ProcessError, Profile, Program};
use crate::run::StreamEnds;
use crate::tools::command_shell::{self, CommandShell, OUTPUT_BYTES};
use crate::tools::{Context, Invocation, ToolError, Toolbox};
use crate::workspace::{Kind, Last};

use super::command::{Command, ShellError};

/// The working directory of a command: its canonical path, and its absolute path.
fn folder(toolbox: &Toolbox, command: &Command<'_>) -> Result<(String, PathBuf), ToolError> {
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

/// The place of a command, as a phrase; and as sentences the shell and user, and the folders of `PATH` that
/// are left out because they are in the workspace.
pub(super) fn place(
    toolbox: &Toolbox,
    command: &Command<'_>,
) -> Result<(String, String, Option<String>), ToolError> {
    let place = match folder(toolbox, command)?.0.as_str() {
        "." => "in the workspace folder".to_owned(),
        key => format!("in {key}"),
    };
    let left_out = process::left_out(Profile::Step(toolbox.launcher.behind(StepWalls::NONE)));
    let names: Vec<_> = left_out.iter().map(|it| it.to_string_lossy()).collect();
    let without = (!names.is_empty())
        .then(|| format!("Folders of PATH in the workspace are left out: {}.", names.join(", ")));
    let shell = toolbox.command_shell()?.path.display();
    Ok((place, format!("Run by {shell} as {}.", command_shell::user()), without))
}

/// Runs the command in its working directory.
pub(super) fn invoke(
    toolbox: &Toolbox,
    command: &Command<'_>,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    let (key, folder) = folder(toolbox, command)?;
    let profile = Profile::Step(toolbox.behind(context));
    read_by(toolbox.command_shell()?, command, (&key, &folder), OUTPUT_BYTES, profile, context)
}

/// Runs the command in a folder, given by its canonical and its absolute path. The command is killed when one
/// of its outputs has more than `limit` bytes.
fn read_by(
    shell: &CommandShell,
    command: &Command<'_>,
    (key, folder): (&str, &Path),
    limit: u64,
    profile: Profile<'_>,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    let left_out = process::left_out(profile);
    let finished = run(shell, command, folder, limit, profile, context)?;
    let mut result = result(command, shell, key, &finished);
    if let (Value::Object(fields), false) = (&mut result, left_out.is_empty()) {
        let names = left_out.iter().map(|folder| folder.to_string_lossy().into_owned());
        fields.insert("not_in_path".to_owned(), names.collect::<Vec<_>>().into());
    }
    Ok(Invocation {
        exit_code: finished.exit_code,
        result,
        error: error(command, &finished, limit),
        walls: finished.walls.clone(),
        captured: Some([finished.stdout, finished.stderr]),
        ..Invocation::default()
    })
}

fn run(
    shell: &CommandShell,
    command: &Command<'_>,
    folder: &Path,
    output_limit: u64,
    profile: Profile<'_>,
    context: &Context<'_>,
) -> Result<Finished<StreamEnds>, ProcessError> {
    let program = Program {
        profile,
        program: OsStr::new(&shell.path),
        arguments: &shell.arguments(command.command),
        input: None,
        folder,
        environment: &[],
        unset: &command_shell::unset(),
        // As in a terminal, background processes that a command starts keep running after it has exited.
        leftovers: Leftovers::Stay,
        timeout: command.timeout(),
        output_limit,
    };
    let failed = ProcessError::not_started("the shell", Code::CommandFailed);
    process::stream(&program, context.io()).map_err(failed)
}

/// Why the command failed; `None` when it exited with 0 and was not killed.
fn error(command: &Command<'_>, finished: &Finished<StreamEnds>, limit: u64) -> Option<ToolError> {
    match finished.ended("the command", command.timeout(), limit) {
        Some(ended) => Some(ended.into()),
        None => Some(ShellError::Failed { how: finished.failure()? }.into()),
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
