//! The inbox: a folder in which plans of others wait for a person (SPEC §13).
//!
//! Whatever arrives only proposes. A plan from the inbox is opened, reviewed, authorized and run like any other; nothing
//! in the folder can approve one.
//!
//! A proposal is a folder of its own, named after its id: `PLAN_NAME` has the bytes of the plan, and
//! `PROPOSAL_NAME` says its name, the workspace, who proposes it, and when. It is made under a temporary name and
//! renamed, so that it is there whole or not at all. Files that somebody copies into the folder are listed too. They
//! have no workspace until the person chooses one, because the folder of the inbox never is one.
//!
//! The folder is opened once for each operation, and everything in it through that handle, without following links. So
//! nothing outside of it is read as a plan, and a link or a pipe in it is only named.
//!
//! What is removed is moved into `REMOVED_NAME`, where it stays until the person deletes it.

mod error;
mod folder;
mod list;
mod propose;
mod proposed;
mod queries;
mod remove;
mod summary;
#[cfg(test)]
mod tests;
mod waiting;
mod watch;

pub use error::InboxError;
pub use folder::InboxFolder;
pub use list::{InboxReader, list_inbox, remove_calls};
pub use propose::{Handle, Proposal, propose, withdraw};
pub use proposed::{Proposed, proposed};
pub use queries::{DecidedPlans, KeepPasted, RemoveFromInbox, WithdrawCalls};
pub use remove::remove_from_inbox;
pub use waiting::{Held, held};
pub use watch::InboxWatch;

/// The name of the file with the proposed bytes.
pub(super) const PLAN_NAME: &str = "plan";
/// The name of the file that describes a proposal.
const PROPOSAL_NAME: &str = "proposal.json";
/// The folder in the inbox with what was removed from it.
const REMOVED_NAME: &str = "removed";

/// The maximum number of things in the inbox. No proposal is accepted beyond it.
pub const MAX_PROPOSALS: usize = 2_000;
/// The maximum number of things that are listed. Files can be copied in beyond [`MAX_PROPOSALS`].
const MAX_LISTED: usize = 10_000;
/// The maximum number of names that are read of a folder.
const MAX_NAMES: usize = 100_000;
/// The maximum size of all plans in the inbox, in bytes: 1 GiB.
const MAX_BYTES: u64 = 1 << 30;
/// The maximum number of things in the folder of what was removed.
const MAX_REMOVED: usize = 10_000;
/// The maximum size of the description of a proposal, in bytes: 64 KiB.
const MAX_DESCRIPTION: u64 = 64 << 10;
/// The maximum size of the notes in it, in bytes as JSON.
const MAX_NOTES: usize = 24 << 10;
/// The maximum length of a name and of the words about who proposes, in characters.
const MAX_TEXT: usize = 300;
