//! Commands on other hosts, through the system's OpenSSH client (SPEC §7.3).
//!
//! A [`Connection`] is one process of the client that the sessions of a run share. Before anything of a plan
//! is sent, the host has shown a key that the client knew, and who and what it is has been read. A command
//! is run by a small wrapper in a process group of its own, and the wrapper says how it ended: without its
//! word the end is unknown, and nothing else is claimed. Timeout and stop end the group by another session
//! of the same connection.
//!
//! What is sent goes to the wrapper through its input and not through the words of a login shell, so that
//! every command arrives as it is, whatever that shell is.
//!
//! Absent on purpose: whether a command may run, and what its end means for a step.

mod client;
mod command;
mod error;
mod master;
mod session;
mod sieve;
mod watch;

use std::time::Duration;

use crate::authorization::Target;
use crate::plan::Destination;
use crate::run::{Host, TargetState};

use super::StopSignal;

pub use client::SshClient;
pub use command::{RemoteCommand, RemoteEnd, RemoteFinished, RemoteStop};
pub use error::RemoteError;

use client::Call;
use master::Master;

/// Longest wait for the client to read its settings, or for a host to say what it is.
const LOOK: Duration = Duration::from_secs(30);

/// A connection to a host that a run shares; closed when it is dropped.
pub struct Connection {
    client: SshClient,
    destination: Destination,
    master: Master,
    host: Host,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Connection").field(&self.host.target).finish()
    }
}

/// Where the client's settings say that a destination is.
struct Resolved {
    user: String,
    host: String,
    port: u16,
}

impl Connection {
    /// Connects, and reads what the host is. Nothing of a plan is sent.
    ///
    /// # Errors
    /// No client; a host that is not reached, whose key is not known or is another one, that refuses the
    /// user, or on which no bash runs; a stop meanwhile.
    pub fn open(
        client: &SshClient,
        destination: &Destination,
        stop: &StopSignal,
    ) -> Result<Self, RemoteError> {
        let master = Master::open(client, destination, stop)?;
        let resolved = resolve(client, destination, &master, stop)?;
        let unreachable =
            |said: String| RemoteError::Unreachable { destination: destination.to_string(), said };
        let host_key = master
            .host_key()
            .ok_or_else(|| unreachable("ssh did not say which key the host showed".to_owned()))?;
        let target = Target {
            destination: destination.to_string(),
            user: resolved.user,
            host: resolved.host,
            port: resolved.port,
            host_key,
        };
        let said = master.said();
        let host = Host {
            target,
            system: String::new(),
            bash: String::new(),
            bash_version: String::new(),
            home: String::new(),
            said,
        };
        let mut connection =
            Self { client: client.clone(), destination: destination.clone(), master, host };
        connection.read_facts(stop)?;
        Ok(connection)
    }

    /// Which host this is.
    pub fn host(&self) -> &Host {
        &self.host
    }

    fn read_facts(&mut self, stop: &StopSignal) -> Result<(), RemoteError> {
        let destination = || self.destination.to_string();
        let session = self.script(session::FACTS, &[], LOOK, stop)?;
        if stop.is_set() {
            return Err(RemoteError::Cancelled { destination: destination() });
        }
        let fact = |kind: &str| session.reports.report(kind).unwrap_or_default().to_owned();
        if session.reports.report("whole").is_none() {
            if self.master.is_lost_after(Duration::ZERO) {
                let said = self.master.said();
                return Err(RemoteError::Unreachable { destination: destination(), said });
            }
            let said = session.said;
            return Err(RemoteError::NoBash { destination: destination(), said });
        }
        self.host = Host {
            system: fact("system"),
            bash: fact("bash"),
            bash_version: fact("version"),
            home: fact("home"),
            ..self.host.clone()
        };
        Ok(())
    }
}

/// What the client makes of the destination: `ssh -G`, which connects to nothing.
fn resolve(
    client: &SshClient,
    destination: &Destination,
    master: &Master,
    stop: &StopSignal,
) -> Result<Resolved, RemoteError> {
    let call = Call {
        options: &["-G"],
        destination,
        command: None,
        input: None,
        folder: master.folder.path(),
        timeout: Some(LOOK),
        output_limit: None,
    };
    let finished = client.run(&call, stop, &|_, _| {})?;
    let text = String::from_utf8_lossy(finished.stdout.bytes());
    let find = |name: &str| {
        let value = |line: &str| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned);
        text.lines().find_map(value)
    };
    let port = find("port").and_then(|port| port.parse().ok());
    let (Some(user), Some(host), Some(port)) = (find("user"), find("hostname"), port) else {
        let said = String::from_utf8_lossy(finished.stderr.bytes()).trim_end().to_owned();
        return Err(RemoteError::Unreachable { destination: destination.to_string(), said });
    };
    Ok(Resolved { user, host, port })
}

/// How a destination answers now, for a person who asks: connects, reads what the host is and goes. Nothing
/// of a plan is sent (SPEC §2).
pub fn check_target(client: &SshClient, destination: &str, stop: &StopSignal) -> TargetState {
    let opened = Destination::parse(destination)
        .map_err(RemoteError::from)
        .and_then(|destination| Connection::open(client, &destination, stop));
    match opened {
        Ok(connection) => TargetState::Reachable { host: Box::new(connection.host.clone()) },
        Err(error) => error.state(),
    }
}
