//! Looks a proposal up by its id, also after it was removed, for whoever proposed it.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::PathBuf;

use uuid::Uuid;

use super::folder::{InboxFolder, folder_in, read_in};
use super::propose::Description;
use super::summary::summary;
use super::{MAX_DESCRIPTION, PLAN_NAME, PROPOSAL_NAME, REMOVED_NAME};
use crate::plan::{Digest, limits};
use crate::risk::Policy;

/// A proposal that was put into the inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposed {
    /// The name of the proposed file.
    pub name: String,
    /// The folder in which it is to run, without links.
    pub workspace: PathBuf,
    /// When it was proposed, in Unix milliseconds.
    pub at_ms: i64,
    /// The digest of its plan; `None` if its file is no longer there or no plan any more.
    pub digest: Option<Digest>,
    /// Whether it is still in the inbox, and was not removed.
    pub waits: bool,
}

/// The proposal with this whole id; `None` if the inbox has none, or it was deleted after it was removed.
pub fn proposed(folder: &InboxFolder, id: &str, policy: &Policy) -> Option<Proposed> {
    // Only a proposal is named so, and nothing outside of the folder.
    Uuid::parse_str(id).ok().filter(|uuid| uuid.to_string() == id)?;
    read(folder.handle(), id, true, policy).or_else(|| {
        let removed = folder_in(folder.handle(), REMOVED_NAME).ok()?;
        read(removed.as_fd(), id, false, policy)
    })
}

fn read(folder: BorrowedFd<'_>, id: &str, waits: bool, policy: &Policy) -> Option<Proposed> {
    let within = folder_in(folder, id).ok()?;
    let description = read_in(within.as_fd(), PROPOSAL_NAME, MAX_DESCRIPTION).ok()?;
    let Description { name, workspace, proposed_at_ms: at_ms, .. } =
        Description::read(&description)?;
    let plan = read_in(within.as_fd(), PLAN_NAME, limits::PLAN_BYTES as u64).ok();
    let digest = plan.and_then(|bytes| summary(bytes, policy).0.digest);
    Some(Proposed { name, workspace, at_ms, digest, waits })
}
