//! Sessions of a connection: each sends one of this program's scripts to the host.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use uuid::Uuid;

use crate::run::StreamEnds;

use super::client::Call;
use super::frame_parser::FrameParser;
use super::{Connection, RemoteError};
use crate::process::Finished;
use crate::process::ProcessIo;
use crate::run::StopSignal;

/// The script that reads facts about the host.
pub(super) const FACTS: &str = include_str!("../../assets/remote/facts.sh");
/// The wrapper script that runs a command.
pub(super) const RUN: &str = include_str!("../../assets/remote/run.sh");
/// The script that ends a process group.
const END: &str = include_str!("../../assets/remote/end.sh");

/// Maximum time for the report that a group has ended: two grace periods of two seconds, and the round trip.
const END_GROUP: Duration = Duration::from_secs(10);

/// The output of a script.
pub(super) struct Said {
    pub(super) reports: FrameParser,
    /// The other output of the script, with that of the login shell.
    pub(super) said: String,
}

/// A session that is about to begin.
pub(super) struct Session {
    pub(super) nonce: String,
    payload: PathBuf,
    /// The command line for the login shell.
    line: String,
    socket: String,
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.payload);
    }
}

/// Quotes a text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The command line for the login shell. It uses only syntax that all shells share. The script that arrives
/// on stdin is run only if it is whole, because a start-up file may have read part of it.
fn login_line(nonce: &str) -> String {
    let take = r#"set -- "$1" "$(cat)";case $2 in "$1"*"$1")set -- "$1" "${2#"$1"}";eval "${2%"$1"}";;*)echo "what was sent did not arrive whole" >&2;exit 125;esac"#;
    format!("exec bash --noprofile --norc -c '{take}' bash {nonce}")
}

impl Connection {
    /// Prepares a session: its nonce, the file that is sent in it, and the client's options.
    pub(super) fn session(
        &self,
        script: &str,
        variables: &[(&str, &str)],
    ) -> Result<Session, RemoteError> {
        let id = Uuid::new_v4().simple().to_string();
        let nonce = format!("countersign-{id}");
        let mut payload = format!("{nonce}\ncountersign_nonce={nonce}\n");
        for (name, value) in variables {
            let _ = writeln!(payload, "countersign_{name}={}", quoted(value));
        }
        payload.push_str(script);
        payload.push_str(&nonce);
        let path = self.control.folder.path().join(id);
        fs::write(&path, payload).map_err(RemoteError::NotStarted)?;
        let (line, socket) = (login_line(&nonce), self.control.folder.socket());
        Ok(Session { nonce, payload: path, line, socket })
    }

    fn call<'a>(&'a self, session: &'a Session) -> Call<'a> {
        // If the connection is lost, the session must fail, because a new connection could lead to another
        // host.
        const SETTINGS: [&str; 4] =
            ["ControlMaster=no", "ProxyCommand=false", "PermitLocalCommand=no", "LogLevel=ERROR"];
        let mut options = vec!["-T", "-S", &session.socket];
        options.extend(SETTINGS.iter().flat_map(|setting| ["-o", setting]));
        Call {
            options,
            destination: &self.destination,
            command: Some(&session.line),
            input: Some(&session.payload),
            folder: self.control.folder.path(),
            timeout: None,
            output_limit: None,
        }
    }

    /// Follows a session to its end; its output goes to the capture.
    pub(super) fn follow(
        &self,
        session: &Session,
        output_limit: u64,
        io: ProcessIo<'_>,
    ) -> Result<Finished<StreamEnds>, RemoteError> {
        let call = Call { output_limit: Some(output_limit), ..self.call(session) };
        self.client.stream(&call, io)
    }

    /// Runs one of this program's scripts.
    pub(super) fn script(
        &self,
        script: &str,
        variables: &[(&str, &str)],
        timeout: Duration,
        stop: &StopSignal,
    ) -> Result<Said, RemoteError> {
        let session = self.session(script, variables)?;
        let call = Call { timeout: Some(timeout), ..self.call(&session) };
        let finished = self.client.run(&call, stop, &|_, _| {})?;
        let mut reports = FrameParser::new(&session.nonce);
        let rest = [reports.push(&finished.stdout), reports.end()].concat();
        let mut said = [reports.before(), &rest].concat();
        said.extend_from_slice(&finished.stderr);
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        Ok(Said { reports, said })
    }

    /// Ends a process group; returns whether the host confirmed that none of it is left.
    pub(super) fn end_group(&self, group: u32) -> bool {
        let group = group.to_string();
        let said = self.script(END, &[("group", &group)], END_GROUP, &StopSignal::default());
        said.is_ok_and(|said| said.reports.report("gone") == Some(&group))
    }
}
