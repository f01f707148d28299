//! What the window asks about the inbox.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::propose::keep;
use super::{InboxError, InboxFolder, remove_from_inbox, withdraw};
use crate::plan::Digest;
use crate::run::{DecidedPlan, Failure};
use crate::worker::{Query, QueryContext, QueryError};

/// Moves things from the inbox into the folder of what was removed from it.
pub struct RemoveFromInbox {
    /// Their ids.
    pub ids: Vec<String>,
}

impl Query for RemoveFromInbox {
    /// The ids of those that are in the inbox no more, whoever has moved them, and why others still are.
    type Answer = (Vec<String>, Option<Failure>);
    const FAILURE: &str = "It cannot be removed from the inbox.";

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        let folder = InboxFolder::open(&context.setup.inbox).map_err(|error| error.failure())?;
        let mut gone = Vec::new();
        for id in self.ids {
            match remove_from_inbox(&folder, &id) {
                // Another window may have moved it meanwhile.
                Ok(_) | Err(InboxError::NotFound { .. }) => gone.push(id),
                Err(error) if gone.is_empty() => return Err(error.failure().into()),
                Err(error) => return Ok((gone, Some(error.failure()))),
            }
        }
        Ok((gone, None))
    }
}

/// Keeps a text that the person pasted as a file of the inbox, whatever it is.
pub struct KeepPasted {
    /// The text.
    pub text: String,
}

impl Query for KeepPasted {
    /// The path of the file.
    type Answer = PathBuf;
    const FAILURE: &str = "The pasted text cannot be kept.";

    fn run(self, context: &mut QueryContext) -> Result<PathBuf, QueryError> {
        let folder = InboxFolder::open(&context.setup.inbox).map_err(|error| error.failure())?;
        Ok(keep(&folder, self.text.as_bytes()).map_err(|error| error.failure())?)
    }
}

/// Deletes the proposals of calls for which nobody waits any more, by the files of their plans.
pub struct WithdrawCalls {
    /// The files, in the inbox.
    pub files: Vec<PathBuf>,
}

impl Query for WithdrawCalls {
    type Answer = ();

    fn run(self, context: &mut QueryContext) -> Result<(), QueryError> {
        let folder = InboxFolder::open(&context.setup.inbox).map_err(|error| error.failure())?;
        for file in &self.files {
            let id = file.parent().filter(|it| it.parent() == Some(folder.path()));
            let id = id.and_then(Path::file_name).and_then(|name| name.to_str());
            id.iter().for_each(|id| withdraw(&folder, id));
        }
        Ok(())
    }
}

/// Finds out which plans were authorized or rejected.
pub struct DecidedPlans {
    /// The digests of the plans.
    pub plans: BTreeSet<Digest>,
    /// The time from which decisions count, in Unix milliseconds.
    pub since_ms: i64,
}

impl Query for DecidedPlans {
    /// The decisions, the newest first.
    type Answer = Vec<DecidedPlan>;

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        // If the evidence cannot be read, recording the next decision reports that.
        Ok(context.evidence.decided_plans(&self.plans, self.since_ms).unwrap_or_default())
    }
}
