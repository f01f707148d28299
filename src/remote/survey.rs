//! What a host offers, for a planner that plans commands for it (SPEC §10).

use super::{Connection, LOOKUP_TIMEOUT, RemoteError, SshClient, session};
use crate::plan::Destination;
use crate::run::{Host, StopSignal};

/// The release and the programs of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// The name of the operating system's release; empty if the host does not say it.
    pub release: String,
    /// The common programs that are installed, by name.
    pub programs: Vec<String>,
}

/// Connects to a host, whose key must be known, reads facts about it, and disconnects.
///
/// # Errors
/// As [`Connection::open`].
pub fn survey(
    client: &SshClient,
    destination: &Destination,
    stop: &StopSignal,
) -> Result<(Host, Survey), RemoteError> {
    let connection = Connection::open(client, destination, stop)?;
    let output = connection.script(session::SURVEY, &[], LOOKUP_TIMEOUT, stop)?;
    let fact = |kind: &str| output.reports.report(kind).unwrap_or_default();
    let programs = fact("programs").split_whitespace().map(str::to_owned).collect();
    let survey = Survey { release: fact("release").to_owned(), programs };
    Ok((connection.host().clone(), survey))
}
