//! The host of a plan (SPEC §2, §7.3): which one an approval would cover.

use std::path::Path;

use crate::authorization::Target;
use crate::plan::{Code, Destination, Finding};
use crate::remote::{SshClient, known_target};
use crate::risk::Policy;
use crate::run::ErrorInfo as _;
use crate::run::StopSignal;

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
