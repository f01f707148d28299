//! What a planner is told about the host of its goal (SPEC §10): its system and its programs, read once.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::plan::Destination;
use crate::remote::{RemoteError, SshClient, survey};
use crate::risk::Policy;
use crate::run::{AskSecret, StopSignal};
use crate::tools::Toolbox;

/// What a planner is told about the host of its goal.
pub struct HostFacts {
    /// The SSH destination, as the person named it.
    pub target: String,
    /// The facts.
    pub facts: Value,
}

impl HostFacts {
    /// Connects to the host, whose key must be known, reads the facts, and disconnects. Sends nothing of the goal.
    /// `secrets` asks the person for what the login needs.
    ///
    /// # Errors
    /// The destination cannot be used, or the host cannot be reached.
    pub fn read(
        target: &str,
        toolbox: &Toolbox,
        policy: &Policy,
        secrets: Option<Arc<dyn AskSecret>>,
        stop: &StopSignal,
    ) -> Result<Self, RemoteError> {
        let destination = Destination::parse(target)?;
        let client = SshClient::of_system(policy, toolbox.workspace())?.asking(secrets);
        let (host, survey) = survey(&client, &destination, stop)?;
        let facts = json!({
            "destination": host.target.destination,
            "user": host.target.user,
            "system": host.system,
            "release": survey.release,
            "shell": "bash",
            "shell_version": host.bash_version,
            "home": host.home,
            "programs": survey.programs,
        });
        Ok(Self { target: target.to_owned(), facts })
    }
}
