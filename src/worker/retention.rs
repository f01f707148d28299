//! Queries about purges of old records (SPEC §14).

use super::{Query, QueryContext, QueryError};
use crate::engine::{Clock as _, SystemClock};
use crate::evidence::EvidenceError;
use crate::run::{Compacted, PurgePreview, PurgeReport, PurgeRule};

/// Says what a purge of this rule would take.
pub struct PreviewPurge(pub PurgeRule);

impl Query for PreviewPurge {
    type Answer = PurgePreview;
    const FAILURE: &str = "What would be purged could not be counted.";
    /// All records are read.
    const OWN_THREAD: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<PurgePreview, QueryError> {
        Ok(context.evidence.purge_preview(&self.0, SystemClock::default().now_ms())?)
    }
}

/// Purges the records of a rule, and gives their space back.
pub struct PurgeRecords {
    /// The rule.
    pub rule: PurgeRule,
    /// The person's reason; may be empty.
    pub reason: String,
}

/// What a purge took, and whether its space was given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgedRecords {
    /// What it took.
    pub report: PurgeReport,
    /// What was given back, or why nothing was.
    pub compacted: Result<Compacted, String>,
}

impl Query for PurgeRecords {
    type Answer = PurgedRecords;
    const FAILURE: &str = "Nothing was purged.";
    const OWN_THREAD: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<PurgedRecords, QueryError> {
        let mut store = context.store()?;
        let report = store.purge(&self.rule, &self.reason, SystemClock::default().now_ms())?;
        // The records are gone, whatever becomes of their space.
        let compacted = store.compact().map_err(|error| match &error {
            EvidenceError::Locked => "another window or command is recording".to_owned(),
            error => error.to_string(),
        });
        Ok(PurgedRecords { report, compacted })
    }
}
