//! Reviews the target of a plan: the host and the keys that an approval would cover (SPEC §2, §7.3).

use std::path::Path;

use crate::authorization::Target;
use crate::plan::{Code, Destination, Finding};
use crate::remote::{SshClient, known_target};
use crate::risk::Policy;
use crate::run::{ErrorInfo as _, StopSignal};

/// The address and the known keys of the plan's destination, read from the settings of `ssh` without connecting; and an
/// error if they cannot be read or no key is known. Both are `None` without a valid target.
pub(super) fn review(
    target: Option<&str>,
    policy: &Policy,
    workspace: &Path,
) -> (Option<Target>, Option<Finding>) {
    // The parser reports a target that is no destination.
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
                "ssh knows no key of {destination} ({}), so an authorization could not cover the host's key. \
                 Connect once with `ssh {destination}` by hand, compare the key that it shows with \
                 the one that the host's owner names, and accept it.",
                known.address()
            );
            (Some(known), Some(finding(message)))
        }
        Ok(known) => (Some(known), None),
        Err(error) => (None, Some(finding(format!("{error}. {}", error.next())))),
    }
}
