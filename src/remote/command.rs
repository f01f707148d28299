//! Runs a command on a host: sends it in a wrapper script, follows it to its end, and derives its outcome
//! only from the reports of the wrapper.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::monitor::{SessionMonitor, SetOver};
use super::session::RUN;
use super::session_output::{SessionOutput, SessionReport};
use super::{Connection, RemoteError};
use crate::process::{Cause, NOTHING_HIDDEN, ProcessIo};
use crate::run::{OpenTerminal, StopSignal, StreamEnds};

/// How long to wait, after a session has broken off, for the client of the connection to exit.
const LOSS_WAIT: Duration = Duration::from_secs(2);
/// Exit code of the wrapper if the command has not begun: the folder could not be entered, or the input did not arrive
/// complete.
const NOT_BEGUN: i32 = 125;
/// The number of bytes for the wrapper's reports, in addition to the output limit of the command.
const REPORTS_LIMIT: u64 = 64 << 10;

/// A command for a host.
#[derive(Debug, Clone, Copy)]
pub struct RemoteCommand<'a> {
    /// The command, sent unchanged.
    pub command: &'a str,
    /// Variables of its environment, whose names and values are sent through stdin.
    pub inputs: &'a [(&'a str, &'a str)],
    /// The working directory: absolute, or relative to the home folder; `None` for the home folder.
    pub folder: Option<&'a str>,
    /// The process group of the command is ended after this time.
    pub timeout: Duration,
    /// Maximum size of stdout and of stderr, in bytes; the process group is ended when one of them is larger.
    pub output_limit: u64,
    /// The terminal in which the command runs; `None` for an empty input and two outputs.
    pub terminal: Option<&'a OpenTerminal>,
}

/// The end of a command, as far as the host has reported it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteEnd {
    /// The command exited by itself with this code.
    Exited(i32),
    /// The command was ended by this signal, which did not come from here.
    Signalled(i32),
    /// The command was ended for this cause, and the host confirmed that no process of its group is left. Also a
    /// command that exited by itself, if its output exceeded a limit or could not be recorded.
    Ended(Cause),
    /// The command did not begin, for this reason.
    NotBegun(String),
    /// The outcome on the host is unknown (E308): the connection was lost, or the host did not confirm that no process
    /// is left.
    Unknown {
        /// The cause for which the command was to be ended, if any.
        stop: Option<Cause>,
        /// Why the outcome is unknown, with the client's message if there is one.
        reason: String,
    },
}

/// The result of a command on a host.
#[derive(Debug)]
pub struct RemoteFinished {
    /// The end of the command.
    pub end: RemoteEnd,
    /// The beginning and the end of its stdout.
    pub stdout: StreamEnds,
    /// The beginning and the end of its stderr, followed by the client's message if the connection was lost.
    pub stderr: StreamEnds,
    /// The output of the login shell before the command began; usually empty.
    pub greeting: Vec<u8>,
    /// The time from the call to the end; zero if the command was not sent.
    pub duration: Duration,
    /// Whether a process that the command started still held an output open. Later output is not kept.
    pub left_open: bool,
}

impl Connection {
    /// Runs a command to its end. The capture and the output callback receive its output on this thread as it arrives;
    /// only the beginning and the end are kept in memory.
    ///
    /// # Errors
    /// When the session cannot be started, so that nothing was sent.
    pub fn run(
        &self,
        command: &RemoteCommand<'_>,
        io: ProcessIo<'_>,
    ) -> Result<RemoteFinished, RemoteError> {
        let started = Instant::now();
        let stop = io.stop;
        let folder = folder_variable(command.folder);
        if command.command.contains('\0') || folder.contains('\0') {
            let why = "a command and its folder cannot have a NUL in them".to_owned();
            return Ok(RemoteFinished::not_begun(why));
        }
        if stop.is_set() {
            return Ok(RemoteFinished::not_begun("stopped before it was sent".to_owned()));
        }
        if command.inputs.iter().any(|(_, value)| value.contains('\0')) {
            let why = "a variable cannot have a NUL in it".to_owned();
            return Ok(RemoteFinished::not_begun(why));
        }
        let names: Vec<&str> = command.inputs.iter().map(|(name, _)| *name).collect();
        let names = names.join(" ");
        let variables = [("folder", folder.as_str()), ("command", command.command)];
        let session = match command.terminal {
            Some(_) => self.terminal_session(&variables),
            None => {
                let [folder, run] = variables;
                Some(self.session(RUN, &[folder, run, ("inputs", names.as_str())], command.inputs))
            }
        };
        let Some(session) = session else {
            let why = "the command is too long for a terminal on another host".to_owned();
            return Ok(RemoteFinished::not_begun(why));
        };
        let monitor = Arc::new(SessionMonitor::default());
        let _wake = monitor.wake_on_stop(stop);
        let deadline = started.checked_add(command.timeout);
        // Ends the local client. Set after the attempt to end the process group on the host.
        let client_stop = StopSignal::default();
        let (is_terminal, output_limit) = (command.terminal.is_some(), command.output_limit);
        let session_output =
            SessionOutput::new(&session.nonce, is_terminal, output_limit, io, &monitor);
        let limit = command.output_limit.saturating_add(REPORTS_LIMIT);
        let (finished, ended) = thread::scope(|scope| {
            let over = SetOver(&monitor);
            let stopper = thread::Builder::new()
                .name("ssh-stop".to_owned())
                .spawn_scoped(scope, || self.end_on_stop(&monitor, deadline, stop, &client_stop))
                .map_err(RemoteError::NotStarted)?;
            let io = ProcessIo {
                stop: &client_stop,
                output: &|_, _| {},
                capture: &session_output,
                // The session's own reports must stay whole.
                hidden: &NOTHING_HIDDEN,
            };
            let finished = self.follow(&session, command.terminal, limit, io)?;
            drop(over);
            Ok::<_, RemoteError>((finished, stopper.join().unwrap_or(None)))
        })?;
        let report = session_output.end();
        let limit_reached = match finished.cause {
            Some(cause @ Cause::TooMuch(_)) => Some(cause),
            Some(Cause::NotKept) => Some(report.exceeded.map_or(Cause::NotKept, Cause::TooMuch)),
            // The bytes that were held back until the end may also have exceeded a limit.
            _ => report.exceeded.map(Cause::TooMuch),
        };
        let ended = match limit_reached {
            // The command has ended by itself, so there is no process group to end.
            Some(stop) if report.exit_status.is_some() => Some((stop, true)),
            Some(stop) => Some((stop, report.group.is_some_and(|group| self.end_group(group)))),
            None => ended,
        };
        let end = match ended {
            Some((stop, true)) => RemoteEnd::Ended(stop),
            Some((stop, false)) => {
                RemoteEnd::Unknown { stop: Some(stop), reason: self.unknown_reason() }
            }
            None => self.outcome(&report, finished.exit_code),
        };
        let SessionReport { stdout, stderr, greeting, .. } = report;
        let left_open = finished.left_open || monitor.lock().left_open;
        Ok(RemoteFinished { end, stdout, stderr, greeting, duration: started.elapsed(), left_open })
    }

    /// The outcome of a command that this process did not end.
    fn outcome(&self, report: &SessionReport, exit_code: Option<i32>) -> RemoteEnd {
        if let Some(status) = report.exit_status {
            return match status.checked_sub(128) {
                Some(signal) if signal > 0 && report.was_signalled => RemoteEnd::Signalled(signal),
                _ => RemoteEnd::Exited(status),
            };
        }
        // 255 is the client's exit code for a session that broke off.
        if report.group.is_none() && exit_code.is_some_and(|code| code != 255) {
            let greeting = String::from_utf8_lossy(&report.greeting).trim().to_owned();
            let code = exit_code.filter(|code| *code != NOT_BEGUN);
            let code = code.map_or_else(String::new, |code| format!(" (exit code {code})"));
            return RemoteEnd::NotBegun(format!("{greeting}{code}").trim().to_owned());
        }
        RemoteEnd::Unknown { stop: None, reason: self.unknown_reason() }
    }

    /// Why the outcome of a command is unknown, as a message.
    fn unknown_reason(&self) -> String {
        if self.control.is_lost_within(LOSS_WAIT) {
            let messages = self.control.messages();
            return format!("the connection was lost\n{messages}").trim_end().to_owned();
        }
        "the host did not confirm that the command has left no process".to_owned()
    }
}

/// The argument of `cd` in the wrapper, which starts in the home folder. Empty for the home folder itself. `~/` is
/// removed, because the wrapper quotes the argument, so that no shell expands it. Any other relative path gets `./` in
/// front, because a folder named `-` would otherwise mean the previous folder.
fn folder_variable(folder: Option<&str>) -> String {
    match folder.unwrap_or_default() {
        "" | "~" | "~/" => String::new(),
        path if path.starts_with('/') => path.to_owned(),
        path => format!("./{}", path.strip_prefix("~/").unwrap_or(path)),
    }
}

impl RemoteFinished {
    fn not_begun(why: String) -> Self {
        Self {
            end: RemoteEnd::NotBegun(why),
            stdout: StreamEnds::default(),
            stderr: StreamEnds::default(),
            greeting: Vec::new(),
            duration: Duration::ZERO,
            left_open: false,
        }
    }
}
