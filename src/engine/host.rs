//! The host of a plan (SPEC §2, §7.3): which one an approval would cover, and the connection of a run to it.

use std::path::Path;

use super::error::ExecutionError;
use super::runnable::Runnable;
use crate::authorization::{Change, Target};
use crate::plan::{Code, Destination, Finding};
use crate::risk::Policy;
use crate::run::ErrorInfo as _;
use crate::tools::{RemoteError, SshClient, StopSignal, known_target};

/// Where the destination leads and by which keys the client knows the host, without connecting to it; and why
/// it cannot be authorized, if it cannot: what is not known cannot be covered.
pub(super) fn look(
    target: Option<&str>,
    policy: &Policy,
    workspace: &Path,
) -> (Option<Target>, Option<Finding>) {
    // One that is no destination is a finding of the parser.
    let Some(destination) = target.and_then(|text| Destination::parse(text).ok()) else {
        return (None, None);
    };
    let stop = StopSignal::default();
    let known = SshClient::of_system(policy, workspace)
        .and_then(|client| known_target(&client, &destination, &stop));
    let finding = |message| Finding::error(Code::HostUnreachable, "/target", message);
    match known {
        Ok(known) if known.host_keys.is_empty() => {
            let message = format!(
                "ssh knows no key of {destination} ({}), so an approval could not say which host it is \
                 for. Connect once with `ssh {destination}` by hand, compare the key that it shows with \
                 the one that the host's owner names, and accept it.",
                known.address()
            );
            (Some(known), Some(finding(message)))
        }
        Ok(known) => (Some(known), None),
        Err(error) => (None, Some(finding(format!("{error}. {}", error.next())))),
    }
}

impl Runnable {
    /// Connects to the approved host, where there is one. Nothing of the plan is sent and nothing is recorded
    /// before; a host that shows another key gets to see nothing at all.
    ///
    /// # Errors
    /// E004 when it is not the host that was approved, E308 when it is not reached, E307 on a stop.
    pub(super) fn connect(
        &mut self,
        policy: &Policy,
        stop: &StopSignal,
    ) -> Result<(), ExecutionError> {
        let Some(approved) = &self.authorization.binding.target else { return Ok(()) };
        let client = SshClient::of_system(policy, self.toolbox.workspace());
        let connected = client.and_then(|client| self.toolbox.connect(&client, approved, stop));
        connected.map_err(|error| match error {
            RemoteError::NotApproved { approved, now } => {
                let (what, approved) = ("target".to_owned(), approved.to_string());
                ExecutionError::Stale { changes: vec![Change { what, approved, now }] }
            }
            RemoteError::Cancelled { .. } => ExecutionError::Cancelled,
            source => ExecutionError::Tool { source: source.into() },
        })
    }
}
