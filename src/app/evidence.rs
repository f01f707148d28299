//! What the evidence page remembers.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::plan::Digest;
use crate::run::{ExecutionDetail, SearchPage};
use crate::ui::evidence::Verification;

/// What the evidence page remembers.
#[derive(Debug, Default)]
pub(super) struct EvidenceSession {
    pub(super) text: String,
    pub(super) problems: Vec<String>,
    pub(super) page: Option<SearchPage>,
    pub(super) selected: Option<Uuid>,
    pub(super) detail: Option<ExecutionDetail>,
    pub(super) blobs: BTreeMap<Digest, String>,
    pub(super) verification: Verification,
    pub(super) focus_search: bool,
    pub(super) scroll_to_selected: bool,
    /// When to search for what was typed, in Unix milliseconds.
    pub(super) search_at_ms: Option<i64>,
}
