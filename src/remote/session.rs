//! The sessions of a connection. Each sends one of Countersign's scripts to the host.

use std::fmt::Write as _;
use std::time::Duration;

use uuid::Uuid;

use super::client::Call;
use super::frame_parser::FrameParser;
use super::{Connection, RemoteError};
use crate::process::{Cause, Finished, Input, ProcessIo};
use crate::run::{OpenTerminal, Secret, StopSignal, StreamEnds};

/// The script that reads facts about the host.
pub(super) const FACTS: &str = include_str!("../../assets/remote/facts.sh");
/// The script that reads what the host offers.
pub(super) const SURVEY: &str = include_str!("../../assets/remote/survey.sh");
/// The wrapper script that runs a command.
pub(super) const RUN: &str = include_str!("../../assets/remote/run.sh");
/// The wrapper script that runs a command in a terminal.
const TERMINAL: &str = include_str!("../../assets/remote/terminal.sh");
/// The script that ends a process group.
const END: &str = include_str!("../../assets/remote/end.sh");

/// Maximum time for the report that a group has ended: two waits of two seconds in the script, and the round trip.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of a command line, in bytes. Systems limit a word to 128 KiB, and quoting can make sixteen bytes of one.
const MAX_COMMAND_LINE: usize = 120 << 10;

/// The output of a script.
pub(super) struct ScriptOutput {
    pub(super) reports: FrameParser,
    /// Why the client was ended, such as a timeout; `None` if the session ended by itself.
    pub(super) cause: Option<Cause>,
    /// Everything else that was printed, on stdout and stderr, including the login shell's start-up output.
    pub(super) text: String,
}

/// A prepared session.
pub(super) struct Session {
    pub(super) nonce: String,
    /// What is sent through stdin; `None` for a session with a terminal. It may have secrets, so it is in no file with a name.
    payload: Option<Secret>,
    /// The command line for the login shell.
    command_line: String,
    socket: String,
}

/// Quotes a text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A text as the format of `printf`, of characters that mean the same in single quotes to all shells.
fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b' ' | b'_' | b'-' | b'.' | b'/' => {
                printable.push(byte.into());
            }
            byte => {
                let _ = write!(printable, "\\{byte:03o}");
            }
        }
    }
    printable
}

/// The command line for the login shell, in syntax that all shells share. It runs the script from stdin only if the
/// script is complete, because a start-up file may have read a part of it.
fn login_command(nonce: &str) -> String {
    let run_complete = r#"set -- "$1" "$(cat)";case $2 in "$1"*"$1")set -- "$1" "${2#"$1"}";eval "${2%"$1"}";;*)echo "what was sent did not arrive whole" >&2;exit 125;esac"#;
    format!("exec bash --noprofile --norc -c '{run_complete}' bash {nonce}")
}

/// The command line of a session with a terminal, for the login shell.
fn terminal_command(nonce: &str, variables: &[(&str, &str)]) -> String {
    let mut script = format!("countersign_nonce={}\n", quoted(nonce));
    for (name, value) in variables {
        let _ = writeln!(script, "countersign_{name}={}", quoted(value));
    }
    script.push_str(TERMINAL);
    let run = r#"eval "$(printf "$1")""#;
    format!("exec bash --noprofile --norc -c '{run}' bash '{}'", printable(&script))
}

impl Connection {
    /// Prepares a session: its nonce, the text with the variables and the script, and the command line. The script decides
    /// which variables reach its command: `inputs` are set under their own names.
    pub(super) fn session(
        &self,
        script: &str,
        variables: &[(&str, &str)],
        inputs: &[(&str, &str)],
    ) -> Session {
        let nonce = format!("countersign-{}", Uuid::new_v4().simple());
        let mut payload = format!("{nonce}\ncountersign_nonce={nonce}\n");
        for (name, value) in variables {
            let _ = writeln!(payload, "countersign_{name}={}", quoted(value));
        }
        for (name, value) in inputs {
            let _ = writeln!(payload, "{name}={}", quoted(value));
        }
        payload.push_str(script);
        payload.push_str(&nonce);
        let payload = Some(Secret::new(payload.into_bytes()));
        let (command_line, socket) = (login_command(&nonce), self.control.folder.socket());
        Session { nonce, payload, command_line, socket }
    }

    /// As [`Self::session`], for a session whose stdin is a terminal: everything is sent on the command line. Unlike what
    /// is sent through stdin, other users of this computer may read it in the list of processes. `None` if it is too long
    /// for a command line.
    pub(super) fn terminal_session(&self, variables: &[(&str, &str)]) -> Option<Session> {
        // Output that may begin a report is held back. A character that programs do not print begins it, so that what
        // a person types is echoed at once.
        let nonce = format!("\u{1e}countersign-{}", Uuid::new_v4().simple());
        let command_line = terminal_command(&nonce, variables);
        let socket = self.control.folder.socket();
        (command_line.len() <= MAX_COMMAND_LINE).then(|| Session {
            nonce,
            payload: None,
            command_line,
            socket,
        })
    }

    /// The call of the client for a session. `terminal` is the terminal of a session without a payload.
    fn call<'a>(&'a self, session: &'a Session, terminal: Option<&'a OpenTerminal>) -> Call<'a> {
        // If the connection is lost, the session must fail: a new connection could reach another host.
        const SETTINGS: [&str; 4] =
            ["ControlMaster=no", "ProxyCommand=false", "PermitLocalCommand=no", "LogLevel=ERROR"];
        let mut options = match terminal {
            // Typed text has no escape character for the client.
            Some(_) => vec!["-tt", "-e", "none", "-S", &session.socket],
            None => vec!["-T", "-S", &session.socket],
        };
        options.extend(SETTINGS.iter().flat_map(|setting| ["-o", setting]));
        Call {
            command: Some(&session.command_line),
            input: match (terminal, &session.payload) {
                (Some(terminal), _) => Some(Input::Terminal(terminal)),
                (None, payload) => payload.as_ref().map(|it| Input::Bytes(it.bytes())),
            },
            ..Call::new(options, &self.destination, self.control.folder.path())
        }
    }

    /// Runs a session to its end, with its output sent to `io`.
    pub(super) fn follow(
        &self,
        session: &Session,
        terminal: Option<&OpenTerminal>,
        output_limit: u64,
        io: ProcessIo<'_>,
    ) -> Result<Finished<StreamEnds>, RemoteError> {
        let call = Call { output_limit, ..self.call(session, terminal) };
        self.client.stream(&call, io)
    }

    /// Runs one of Countersign's scripts, and keeps its output.
    pub(super) fn script(
        &self,
        script: &str,
        variables: &[(&str, &str)],
        timeout: Duration,
        stop: &StopSignal,
    ) -> Result<ScriptOutput, RemoteError> {
        let session = self.session(script, variables, &[]);
        let call = Call { timeout, ..self.call(&session, None) };
        let finished = self.client.run(&call, stop, &|_, _| {})?;
        let mut reports = FrameParser::new(&session.nonce);
        let rest = [reports.push(&finished.stdout), reports.end()].concat();
        let mut text = [reports.before(), &rest].concat();
        text.extend_from_slice(&finished.stderr);
        let text = String::from_utf8_lossy(&text).trim().to_owned();
        Ok(ScriptOutput { reports, cause: finished.cause, text })
    }

    /// Ends a process group on the host. Returns whether the host confirmed that no process of it is left.
    pub(super) fn end_group(&self, group: u32) -> bool {
        let group = group.to_string();
        let output = self.script(END, &[("group", &group)], END_TIMEOUT, &StopSignal::default());
        output.is_ok_and(|output| output.reports.report("gone") == Some(&group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_counts_as_it_is_quoted() {
        let fits = |command: &str| {
            let variables = [("folder", ""), ("command", command)];
            terminal_command("nonce", &variables).len() <= MAX_COMMAND_LINE
        };
        assert!(fits(&"a".repeat(100 << 10)) && fits(&"'".repeat(7 << 10)));
        assert!(!fits(&"a".repeat(120 << 10)) && !fits(&"'".repeat(8 << 10)));
    }
}
