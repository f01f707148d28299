//! What the desk finds, and what it is handed to be saved.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use uuid::Uuid;

use crate::plan::{Digest, Finding, ShownPlan};
use crate::run::{Attempt, LoopDetail, Review, RunEvent, RunSummary};

/// A content that is to be written to a file.
#[derive(Debug, Clone)]
pub enum ToSave {
    /// This text.
    Text(Arc<str>),
    /// These bytes.
    Bytes(Arc<[u8]>),
    /// What the evidence keeps.
    Kept {
        /// Under this digest.
        digest: Digest,
        /// Whether a text is kept as a JSON string, and is to be written as text.
        unquoted: bool,
    },
}

/// What the evidence has under a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Nothing: it was purged, or never stored.
    Gone,
    /// It is encrypted, and the key is another one.
    Sealed,
    /// It has so many bytes, more than a window shows.
    TooLarge(u64),
}

/// A plan file that was opened.
#[derive(Debug, Clone)]
pub struct OpenedPlan {
    /// The file.
    pub path: PathBuf,
    /// The plan, where enough of it could be read to show it.
    pub plan: Option<Arc<ShownPlan>>,
    /// The digest of its bytes.
    pub digest: Digest,
    /// The plan's own findings and those of the review.
    pub findings: Vec<Finding>,
    /// The review; `None` when there is no plan to review.
    pub review: Option<Arc<Review>>,
    /// The run that it continues, where it is exactly the rest of one.
    pub continues: Option<Uuid>,
}

/// A recorded run that was reopened.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// The run.
    pub summary: RunSummary,
    /// The plan it ran, from its recorded bytes; `None` where they are not available.
    pub plan: Option<Arc<ShownPlan>>,
    /// Its events, in order.
    pub events: Vec<RunEvent>,
    /// The attempt of a bounded loop that it is of.
    pub attempt: Option<Attempt>,
}

/// A recorded loop that was reopened.
#[derive(Debug, Clone)]
pub struct LoopReplayed {
    /// The loop.
    pub detail: LoopDetail,
    /// Its events and those of its runs, in order; [`crate::run::LoopState`] takes them in.
    pub events: Vec<RunEvent>,
    /// The latest of what its planner printed beside its answers, by attempt.
    pub printed: BTreeMap<u32, String>,
}
