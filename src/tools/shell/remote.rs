//! Runs a command on another host (SPEC §7.3). If the host does not report the outcome, it is recorded as unknown.

use serde_json::{Value, json};

use super::command::{hidden, with_terminal};
use super::{Command, ShellError};
use crate::plan::Fleet;
use crate::process::{Cause, ProcessIo};
use crate::remote::{RemoteCommand, RemoteEnd, RemoteFinished};
use crate::run::Host;
use crate::tools::command_shell::OUTPUT_BYTES;
use crate::tools::tool::set_field;
use crate::tools::{CallResult, Context, ToolError, Toolbox};

/// Runs the command over the connection of the run.
///
/// # Errors
/// There is no connection to this host, or the command cannot be sent.
pub(super) fn invoke(
    toolbox: &Toolbox,
    target: &str,
    command: &Command<'_>,
    context: &Context<'_>,
) -> Result<CallResult, ToolError> {
    let connection = toolbox.remote.as_ref();
    let connection = connection.filter(|connection| connection.host().target.destination == target);
    let Some(connection) = connection else {
        return Err(ShellError::NotConnected { host: target.to_owned() }.into());
    };
    let variables = command.variables(toolbox)?;
    if context.terminal.is_some() && !variables.is_empty() {
        return Err(ShellError::InputsInTerminal.into());
    }
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let remote_command = RemoteCommand {
        command: command.command,
        inputs: &variables,
        folder: command.cwd,
        timeout: command.timeout(),
        output_limit: OUTPUT_BYTES,
        terminal: context.terminal,
    };
    let io = ProcessIo { hidden: &hidden(toolbox), ..context.io() };
    let finished = connection.run(&remote_command, io)?;
    let exit_code = match finished.end {
        RemoteEnd::Exited(code) => Some(code),
        _ => None,
    };
    Ok(CallResult {
        exit_code,
        result: with_terminal(result(command, connection.host(), exit_code, &finished), context),
        error: error(target, command, &finished.end, context.terminal.is_some()),
        captured: Some([finished.stdout, finished.stderr]),
        ..CallResult::default()
    })
}

/// Why the command failed, or why its outcome is unknown; `None` when it exited with 0.
fn error(
    target: &str,
    command: &Command<'_>,
    end: &RemoteEnd,
    has_terminal: bool,
) -> Option<ToolError> {
    let status = match end {
        RemoteEnd::Exited(0) => return None,
        // The shell that waits in a terminal knows only the number.
        RemoteEnd::Exited(code @ 129..=192) if has_terminal => {
            let signal = code - 128;
            format!("ended with exit code {code} on {target}, or was ended by signal {signal}")
        }
        RemoteEnd::Exited(code) => format!("ended with exit code {code} on {target}"),
        RemoteEnd::Signalled(signal) => format!("was ended by signal {signal} on {target}"),
        RemoteEnd::NotBegun(why) => format!("did not begin on {target}: {why}"),
        RemoteEnd::Ended(cause) => {
            return Some(cause.error("the command", command.timeout(), OUTPUT_BYTES).into());
        }
        RemoteEnd::Unknown { stop, reason } => {
            let cause = match stop {
                None => "",
                Some(Cause::TimedOut) => "its time limit was reached, and ",
                Some(Cause::Stopped) => "it was stopped, and ",
                Some(Cause::TooMuch(_)) => "it printed too much, and ",
                Some(Cause::NotKept) => "its output could not be stored, and ",
            };
            let why = format!("{cause}{reason}");
            return Some(ShellError::OutcomeUnknown { host: target.to_owned(), why }.into());
        }
    };
    Some(ShellError::Failed { status }.into())
}

fn result(
    command: &Command<'_>,
    host: &Host,
    exit_code: Option<i32>,
    finished: &RemoteFinished,
) -> Value {
    let signal = match finished.end {
        RemoteEnd::Signalled(signal) => Some(signal),
        _ => None,
    };
    let stop = match finished.end {
        RemoteEnd::Ended(stop) => Some(stop),
        RemoteEnd::Unknown { stop, .. } => stop,
        _ => None,
    };
    let mut result = json!({
        "command": command.command,
        "folder": command.cwd.unwrap_or(&host.home),
        "timeout_seconds": command.timeout().as_secs(),
        "exit_code": exit_code,
        "signal": signal,
        "timed_out": stop == Some(Cause::TimedOut),
        "outcome_known": !matches!(finished.end, RemoteEnd::Unknown { .. }),
        "stdout_bytes": finished.stdout.bytes(),
        "stderr_bytes": finished.stderr.bytes(),
        "greeting": String::from_utf8_lossy(&finished.greeting),
        "output_left_open": finished.left_open,
        "duration_ms": u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
    });
    for (name, member) in host.result_members() {
        set_field(&mut result, name, member);
    }
    result
}

/// The parts of the preview: a phrase for the folder and the host, and a sentence for the shell and the user.
pub(super) fn describe(toolbox: &Toolbox, target: &str, cwd: Option<&str>) -> (String, String) {
    let folder = match cwd {
        Some(cwd) => format!("in {cwd} on {target}"),
        None => format!("in the home folder on {target}"),
    };
    let shell = match toolbox.host() {
        Some(host) => {
            let Host { bash, bash_version, system, target, .. } = host;
            format!("Run by {bash} {bash_version} as {}, on {system}.", target.address())
        }
        None if Fleet::is_label(target) => "Run by the bash of each host.".to_owned(),
        None => "Run by the bash of that host.".to_owned(),
    };
    (folder, shell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_terminal_a_high_exit_code_may_be_a_signal() {
        let command = Command {
            command: "true",
            target: None,
            cwd: None,
            timeout_seconds: None,
            inputs: &[],
        };
        let message = |code, has_terminal| {
            error("build", &command, &RemoteEnd::Exited(code), has_terminal).unwrap().to_string()
        };
        let either = "exit code 137 on build, or was ended by signal 9";
        assert!(message(137, true).contains(either), "{}", message(137, true));
        for (code, has_terminal) in [(137, false), (128, true), (1, true)] {
            assert!(!message(code, has_terminal).contains("signal"));
        }
    }
}
