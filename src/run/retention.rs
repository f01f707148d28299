//! Purges of evidence by a rule (SPEC §14): the rule, what it would take, and what it took. Pure.

use serde::Serialize;
use uuid::Uuid;

use crate::plan::Digest;

/// Which records are purged. What is set must hold together; a rule without anything takes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PurgeRule {
    /// Only runs that ended before this time, in Unix milliseconds. A run without an end counts from its start.
    #[serde(rename = "before_ms", skip_serializing_if = "Option::is_none")]
    pub before_ms: Option<i64>,
    /// Only contents of at least this size, in bytes. Then nothing but contents is purged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub larger_than: Option<u64>,
    /// Only this run.
    #[serde(rename = "run_id", skip_serializing_if = "Option::is_none")]
    pub run: Option<Uuid>,
    /// Only runs of the plan with this id or digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Only these steps, by their executions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub executions: Vec<Uuid>,
    /// Only this content, whatever names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Digest>,
}

impl PurgeRule {
    /// Whether the rule sets nothing, and so would take everything.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether only contents are purged.
    pub fn takes_contents_only(&self) -> bool {
        self.larger_than.is_some() || self.content.is_some()
    }

    /// Whether the records of whole runs are purged.
    pub fn takes_whole_runs(&self) -> bool {
        !self.takes_contents_only() && self.executions.is_empty()
    }
}

/// What a purge takes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PurgePreview {
    /// The number of runs whose records go; their start, end and approval remain.
    pub runs: u64,
    /// The number of steps whose records go.
    pub steps: u64,
    /// The number of rows that are deleted.
    pub rows: u64,
    /// The number of contents that are deleted.
    pub contents: u64,
    /// The size of all that is deleted, as it is stored, in bytes.
    pub bytes: u64,
    /// The start of the first of these runs, in Unix milliseconds.
    pub first_ms: Option<i64>,
    /// The start of the last of these runs, in Unix milliseconds.
    pub last_ms: Option<i64>,
    /// The number of runs that the rule names and that are kept, because they or their loops are under way.
    pub under_way: u64,
}

/// A purge that was done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PurgeReport {
    /// The id of the purge; `None` if there was nothing to purge.
    pub purge_id: Option<Uuid>,
    /// What it took.
    #[serde(flatten)]
    pub taken: PurgePreview,
}

/// Why and when records were purged, for whoever looks for them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PurgeNote {
    /// The time of the purge, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// The person's reason.
    pub reason: String,
    /// The name of the user, from the environment.
    pub user: Option<String>,
    /// Whether all records of the run were purged.
    pub whole: bool,
    /// The number of its steps whose records were purged.
    pub steps: u64,
}

impl PurgeNote {
    /// `records purged on 3 May 2026 by ada: REASON`, with this text of the time.
    pub fn sentence(&self, on: &str) -> String {
        let what = match (self.whole, self.steps) {
            (true, _) => "records purged".to_owned(),
            (false, 1) => "records of 1 step purged".to_owned(),
            (false, steps) => format!("records of {steps} steps purged"),
        };
        let by = self.user.as_ref().map(|user| format!(" by {user}")).unwrap_or_default();
        let reason = if self.reason.is_empty() { "no reason given" } else { &self.reason };
        format!("{what} on {on}{by}: {reason}")
    }
}
