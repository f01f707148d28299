//! Purges of evidence by a rule (SPEC §14): the rule, what it would take, and what it took. Pure.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use uuid::Uuid;

use crate::plan::Digest;

/// What stands in place of the goal of a purged loop, and of the message of its end.
pub const PURGED_TEXT: &str = "(purged)";

/// Which records are purged. What is set must hold together; a rule without anything takes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PurgeRule {
    /// Only runs and loops that ended before this time, in Unix milliseconds. A run without an end counts from its start, a
    /// loop from the last that was recorded of it.
    #[serde(rename = "before_ms", skip_serializing_if = "Option::is_none")]
    pub before_ms: Option<i64>,
    /// Only contents of at least this size, in bytes. Then nothing but contents is purged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub larger_than: Option<u64>,
    /// Only this run.
    #[serde(rename = "run_id", skip_serializing_if = "Option::is_none")]
    pub run: Option<Uuid>,
    /// Only this bounded loop and its runs.
    #[serde(rename = "loop_id", skip_serializing_if = "Option::is_none")]
    pub bounded_loop: Option<Uuid>,
    /// Only runs of the plan with this id or digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Only these steps, by their executions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub executions: Vec<Uuid>,
    /// Only this content, whatever names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Digest>,
    /// Whether the copies that migrations made of the database are deleted afterwards, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub with_old_backups: bool,
}

impl PurgeRule {
    /// Whether the rule names no records, and so would take all of them.
    pub fn is_empty(&self) -> bool {
        *self == Self { with_old_backups: self.with_old_backups, ..Self::default() }
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
    /// The number of bounded loops whose goals go; their start and end remain.
    pub loops: u64,
    /// The number of attempts of loops of which goes what the planner sent, got and looked at.
    pub attempts: u64,
    /// The number of rows that are deleted.
    pub rows: u64,
    /// The number of contents that are deleted.
    pub contents: u64,
    /// The size of all that is deleted, as it is stored, in bytes.
    pub bytes: u64,
    /// The start of the first of these runs and loops, in Unix milliseconds.
    pub first_ms: Option<i64>,
    /// The start of the last of these runs and loops, in Unix milliseconds.
    pub last_ms: Option<i64>,
    /// The number of runs that the rule names and that are kept, because they or their loops are under way.
    pub under_way: u64,
    /// The number of loops that the rule names and that are kept, because they are under way.
    pub loops_under_way: u64,
    /// The copies that migrations made of the database, by name, with their sizes in bytes. They still have what a purge
    /// takes, and are deleted only if the rule says so.
    pub old_backups: BTreeMap<String, u64>,
}

impl PurgePreview {
    /// Whether there are no records to purge.
    pub fn is_empty(&self) -> bool {
        (self.rows, self.runs, self.loops) == (0, 0, 0)
    }
}

/// A purge that was done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PurgeReport {
    /// The id of the purge; `None` if there was nothing to purge.
    pub purge_id: Option<Uuid>,
    /// What it took.
    #[serde(flatten)]
    pub taken: PurgePreview,
    /// The copies of the database that were deleted afterwards, by name, with their sizes in bytes.
    pub deleted_backups: BTreeMap<String, u64>,
    /// The copies of the database that could not be deleted, by name, and why.
    pub kept_backups: BTreeMap<String, String>,
}

/// A purge as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PurgeRecord {
    /// The id of the purge.
    pub purge_id: Uuid,
    /// The rule.
    pub rule: serde_json::Value,
    /// The person's reason.
    pub reason: String,
    /// The name of the user, from the environment.
    pub user: Option<String>,
    /// The number of rows that were deleted.
    pub rows: u64,
    /// The time of the purge, in Unix milliseconds.
    pub timestamp_ms: i64,
}

/// What a compaction of the database did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Compacted {
    /// The size of the database with its log before, in bytes.
    pub before_bytes: u64,
    /// The size afterwards, in bytes. It is as large as before while another process reads.
    pub after_bytes: u64,
    /// The space that was needed meanwhile, in bytes.
    pub needed_bytes: u64,
}

/// How large and how old the evidence is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct EvidenceSizes {
    /// The format of the database; 0 if there is none.
    pub format: u64,
    /// The size of the database, in bytes.
    pub database_bytes: u64,
    /// The size of its log, in bytes.
    pub log_bytes: u64,
    /// The size of the search index, in bytes. It can be deleted at any time.
    pub index_bytes: u64,
    /// The copies that migrations made of the database, by name, with their sizes in bytes.
    pub backups: BTreeMap<String, u64>,
    /// The space in the database that no row uses, in bytes: what `evidence compact` gives back, at least.
    pub reclaimable_bytes: u64,
    /// The free space on the disk, in bytes; `None` if the system does not tell.
    pub free_bytes: Option<u64>,
    /// The network file system of the folder; `None` if it is on this computer.
    pub network_file_system: Option<String>,
    /// The number of rows that were written, with those that were purged.
    pub rows: u64,
    /// The number of rows that were purged.
    pub purged_rows: u64,
    /// The number of purges.
    pub purges: u64,
    /// The number of runs.
    pub runs: u64,
    /// The number of executions.
    pub executions: u64,
    /// The number of contents: outputs and files that are stored apart from the rows that name them.
    pub contents: u64,
    /// The size of the contents, in bytes.
    pub contents_bytes: u64,
    /// Their size as they are stored, compressed, in bytes.
    pub contents_stored_bytes: u64,
    /// The start of the oldest run, in Unix milliseconds.
    pub oldest_run_ms: Option<i64>,
    /// The start of the newest run, in Unix milliseconds.
    pub newest_run_ms: Option<i64>,
}

/// The runs of a month or of a plan, with the size of what they recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SizeOfPart {
    /// The month, as `2026-01`, or the id of the plan.
    pub name: String,
    /// The number of runs.
    pub runs: u64,
    /// The number of steps that are recorded.
    pub steps: u64,
    /// What is recorded, as it is stored, in bytes.
    pub bytes: u64,
}

/// A backup that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackupReport {
    /// The file.
    pub file: PathBuf,
    /// Its size, in bytes.
    pub bytes: u64,
    /// The number of rows that were verified in it.
    pub rows: u64,
    /// The head of its chain.
    pub head: Digest,
    /// Whether the user's key is in it. It never is.
    pub has_key: bool,
}

/// A backup that was brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestoreReport {
    /// The number of rows of the backup.
    pub rows: u64,
    /// The head of its chain.
    pub head: Digest,
    /// Where the evidence is that was here before; `None` if there was none.
    pub moved_to: Option<PathBuf>,
    /// How the backup differs from the head that is kept outside of the folder; `None` if it does not.
    pub difference: Option<String>,
}

/// Secrets that a record has in clear, by the present rules. The secrets themselves are not in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ClearSecret {
    /// The table of the row.
    pub table: String,
    /// The number of the row.
    pub row: i64,
    /// The column; for a content, where it is named.
    pub column: String,
    /// The kind of the secret, such as `password`.
    pub kind: String,
    /// How many secrets of this kind the text has.
    pub count: u64,
    /// The step whose records have it, by its execution: a purge of the step removes it. `None` for rows that no purge
    /// of a step removes, such as plans and approvals.
    pub execution_id: Option<Uuid>,
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
    /// Whether all records of the run or loop were purged.
    pub whole: bool,
    /// The number of its steps whose records were purged.
    pub steps: u64,
}

impl PurgeNote {
    /// `records purged on 2026-05-03 by ada: REASON`, with the day in UTC.
    pub fn sentence(&self) -> String {
        let what = match (self.whole, self.steps) {
            (true, _) => "records purged".to_owned(),
            (false, 1) => "records of 1 step purged".to_owned(),
            (false, steps) => format!("records of {steps} steps purged"),
        };
        let day = jiff::Timestamp::from_millisecond(self.timestamp_ms)
            .map_or_else(|_| "an unknown day".to_owned(), |at| at.strftime("%Y-%m-%d").to_string());
        let by = self.user.as_ref().map(|user| format!(" by {user}")).unwrap_or_default();
        let reason = if self.reason.is_empty() { "no reason was given" } else { &self.reason };
        format!("{what} on {day}{by}: {reason}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_what_when_and_why() {
        let note = PurgeNote {
            timestamp_ms: 1_767_225_600_000,
            reason: "asked for".to_owned(),
            user: Some("ada".to_owned()),
            whole: true,
            steps: 3,
        };
        assert_eq!(note.sentence(), "records purged on 2026-01-01 by ada: asked for");
        let note = PurgeNote { whole: false, user: None, reason: String::new(), ..note };
        assert_eq!(note.sentence(), "records of 3 steps purged on 2026-01-01: no reason was given");
    }
}
