//! Commands on other hosts, through the system's OpenSSH client (SPEC §7.3).
//!
//! A [`Connection`] is one client process, shared by the sessions of a run. Before any part of a plan is sent, the host
//! must have shown a key that the client has stored, the user and address must be known, and facts about the system of
//! the host must have been read. A small wrapper runs each command in its own process group and reports the exit status;
//! without that report the outcome is unknown. A timeout or a stop ends the group through another session of the same
//! connection.
//!
//! Commands go to the wrapper through its stdin and not as words for the login shell, so that every command
//! arrives unchanged, whatever that shell is.
//!
//! `tools` calls this room; the rooms above `tools` only check targets with it. It does not decide whether a
//! command may run, or what its outcome means for a step.
//!
//! # Why the system's client
//!
//! The client uses the person's settings, agent and known keys. It is an ordinary child process and not a
//! background process, so that a panic ends it too. Its sessions cannot open another connection
//! (`ProxyCommand=false`): a lost connection stays lost, and no command reaches a host that was not checked.
//! The key that the host showed is read from the client's log of the connection itself.
//!
//! # Approval of a host
//!
//! An approval covers user, host, port, and the keys that the client has stored for the host. All of these
//! are found without connecting (`ssh -G`, `ssh-keygen -F`, in `known.rs`), because the review of a plan must
//! not connect to a host; a host without a stored key cannot be approved. The run connects after its approval
//! is checked and before its first record, so that an unreachable host does not consume the approval. `ssh`
//! itself refuses an unknown key (E308). In addition, the accepted key must be one of the approved keys
//! (E004); this also refuses keys from other sources, such as `KnownHostsCommand`. Only then does the first
//! session begin. A target from the command line is not part of the plan's bytes (`Plan::on_target`), but is
//! approved and recorded with them, so that a continuation goes to the same host.
//!
//! # The wrapper
//!
//! The wrapper (`assets/remote`) and the command are sent through stdin, between two nonces. They are run only if
//! they arrive complete, whatever the start-up files of the login shell print or read. The wrapper's reports begin
//! with the nonce; `frame_parser.rs` removes them from the streams. The exit status is taken only from a
//! report of the wrapper, because the client's exit code 255 may also be that of the command. A shell
//! distinguishes exit code 143 from an end by signal 15 only in its list of jobs, so the wrapper reports that
//! list. The session that ends the process group after a timeout or a stop also checks whether any process of
//! the group is left.

mod client;
mod command;
mod control_connection;
mod error;
pub mod fleet;
mod frame_parser;
mod known;
mod monitor;
mod session;
mod session_output;
mod survey;

use std::time::Duration;

use crate::authorization::Target;
use crate::plan::Destination;
use crate::process::Cause;
use crate::run::{Host, StopSignal, TargetState, text};

pub use client::SshClient;
pub use command::{RemoteCommand, RemoteEnd, RemoteFinished};
pub use error::RemoteError;
pub use known::known_target;
pub use survey::{Survey, survey};

use control_connection::ControlConnection;

/// Maximum time for the client to read its settings or known keys, and for a host to report facts about itself.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(30);

/// A connection to a host, shared by a run; closed on drop.
pub struct Connection {
    client: SshClient,
    destination: Destination,
    control: ControlConnection,
    host: Host,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Connection").field(&self.host.target).finish()
    }
}

impl Connection {
    /// Connects, and reads facts about the host. Sends no part of a plan.
    ///
    /// # Errors
    /// There is no client; the host cannot be reached, shows an unknown or changed key, refuses the user, or has
    /// no bash; or a person has requested a stop.
    pub fn open(
        client: &SshClient,
        destination: &Destination,
        stop: &StopSignal,
    ) -> Result<Self, RemoteError> {
        let mut connection = Self::connect(client, destination, stop)?;
        connection.read_facts(stop)?;
        Ok(connection)
    }

    /// As [`Self::open`], for a target that a person has approved (SPEC §2): before any session begins, the
    /// host must show a key that the approval covers.
    ///
    /// # Errors
    /// As [`Self::open`]; and user, host, port or key differ from the approved ones.
    pub fn open_approved(
        client: &SshClient,
        approved: &Target,
        stop: &StopSignal,
    ) -> Result<Self, RemoteError> {
        let destination = Destination::parse(&approved.destination)?;
        let mut connection = Self::connect(client, &destination, stop)?;
        let Host { target, host_key, .. } = &connection.host;
        let is_same = target.address() == approved.address();
        let authority = connection.control.authority();
        if !is_same || !approved.covers(host_key, authority.as_deref()) {
            let now = connection.host.line();
            return Err(RemoteError::NotApproved { approved: Box::new(approved.clone()), now });
        }
        connection.read_facts(stop)?;
        Ok(connection)
    }

    /// Connects without starting a session.
    fn connect(
        client: &SshClient,
        destination: &Destination,
        stop: &StopSignal,
    ) -> Result<Self, RemoteError> {
        let control = ControlConnection::open(client, destination, stop)?;
        let target = known_target(client, destination, stop)?;
        let host_key = control.host_key().ok_or_else(|| RemoteError::Unreachable {
            destination: destination.to_string(),
            messages: "ssh did not say which key the host showed".to_owned(),
        })?;
        let host = Host {
            target,
            host_key,
            system: String::new(),
            bash: String::new(),
            bash_version: String::new(),
            home: String::new(),
            said: control.messages(),
        };
        Ok(Self { client: client.clone(), destination: destination.clone(), control, host })
    }

    /// The facts about the host that were read on connecting.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Runs the first session, which reads facts about the host.
    fn read_facts(&mut self, stop: &StopSignal) -> Result<(), RemoteError> {
        let destination = || self.destination.to_string();
        let output = self.script(session::FACTS, &[], LOOKUP_TIMEOUT, stop)?;
        if stop.is_set() {
            return Err(RemoteError::Cancelled { destination: destination() });
        }
        let fact = |kind: &str| output.reports.report(kind).unwrap_or_default().to_owned();
        if output.reports.report("whole").is_none() {
            if self.control.is_lost_within(Duration::ZERO) {
                let messages = self.control.messages();
                return Err(RemoteError::Unreachable { destination: destination(), messages });
            }
            let (destination, messages) = (destination(), output.text);
            return Err(if output.cause == Some(Cause::TimedOut) {
                let after = text::duration(LOOKUP_TIMEOUT);
                RemoteError::Silent { destination, after, messages }
            } else {
                RemoteError::NoBash { destination, messages }
            });
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

/// Checks whether a destination can be used now: connects, reads facts about the host, and disconnects. Sends no
/// part of a plan (SPEC §2).
pub fn check_target(client: &SshClient, destination: &str, stop: &StopSignal) -> TargetState {
    let opened = Destination::parse(destination)
        .map_err(RemoteError::from)
        .and_then(|destination| Connection::open(client, &destination, stop));
    match opened {
        Ok(connection) => TargetState::Reachable { host: Box::new(connection.host.clone()) },
        Err(error) => error.state(),
    }
}
