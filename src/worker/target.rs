//! The query that checks whether a host can be reached. It may take a minute, so it runs on its own thread.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Query, QueryContext, QueryError};
use crate::remote::{SshClient, check_target};
use crate::run::{AskSecret, TargetState};

/// Connects to a host, without sending anything of a plan.
pub struct CheckTarget {
    /// The SSH destination.
    pub destination: String,
    /// The workspace; programs inside it are not used for the connection.
    pub workspace: PathBuf,
    /// Asks the person for passwords, passphrases and codes; `None` if nobody can be asked.
    pub secrets: Option<Arc<dyn AskSecret>>,
}

impl Query for CheckTarget {
    type Answer = TargetState;
    const FAILURE: &str = "The connection could not be tried.";
    const OWN_THREAD: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<TargetState, QueryError> {
        Ok(match SshClient::of_system(&context.setup.policy, &self.workspace) {
            Ok(client) => {
                check_target(&client.asking(self.secrets), &self.destination, &context.stop)
            }
            Err(error) => TargetState::Unreachable { said: error.to_string() },
        })
    }
}
