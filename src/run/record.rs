//! Answers of the evidence (SPEC §8) as plain data.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::result::{Outcome, RunStatus};
use crate::authorization::StepWalls;
use crate::plan::{Code, Digest};
use crate::risk::RiskLevel;

/// What is known about the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunFate {
    /// A live process is working on it.
    Active,
    /// Its process ended without recording an end.
    Interrupted,
    /// It ended.
    #[serde(untagged)]
    Ended(RunStatus),
}

impl RunFate {
    /// The word for lists and data.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ended(status) => status.as_str(),
            Self::Active => "active",
            Self::Interrupted => "interrupted",
        }
    }
}

/// One run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunSummary {
    /// The run.
    pub run_id: Uuid,
    /// The plan it ran.
    pub plan_id: String,
    /// The plan's title, or its id.
    pub plan_name: String,
    /// The digest of the plan's exact bytes.
    pub plan_digest: Digest,
    /// The workspace folder.
    pub workspace: String,
    /// The destination on which its commands ran; none for this machine.
    pub target: Option<String>,
    /// The run that this one continues.
    pub parent_run: Option<Uuid>,
    /// How many steps the plan has.
    pub step_count: usize,
    /// How many of them have a record.
    pub steps_recorded: usize,
    /// When it started, in Unix milliseconds.
    pub started_at_ms: i64,
    /// When it ended, in Unix milliseconds.
    pub ended_at_ms: Option<i64>,
    /// What is known about its end.
    #[serde(rename = "status")]
    pub fate: RunFate,
}

/// How an execution ended, as far as the evidence knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// An intent without a record, in a run whose process is gone: outcome unknown.
    Interrupted,
    /// An intent without a record, in a run that is still alive.
    Running,
    /// It has a record.
    #[serde(untagged)]
    Outcome(Outcome),
}

impl Known {
    /// The word for lists and filters.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Outcome(outcome) => outcome.as_str(),
            Self::Interrupted => "interrupted",
            Self::Running => "running",
        }
    }
}

/// One execution in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Execution {
    /// The execution.
    pub execution_id: Uuid,
    /// The run it belongs to.
    pub run_id: Uuid,
    /// The plan of that run.
    pub plan_id: String,
    /// The step.
    pub step_id: String,
    /// The step's place, from 0.
    pub step_index: usize,
    /// The tool.
    pub tool_name: String,
    /// The arguments in one short line, for instance the path.
    pub about: String,
    /// Start of the step, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// How long the tool took, in milliseconds.
    pub duration_ms: Option<i64>,
    /// How it ended.
    #[serde(rename = "outcome")]
    pub known: Known,
    /// How dangerous it was judged.
    pub risk: Option<RiskLevel>,
    /// The walls it ran behind; null where they were not recorded.
    pub walls: Option<StepWalls>,
    /// Null where no process ran.
    pub exit_code: Option<i32>,
    /// The stable code of what went wrong.
    pub error_code: Option<Code>,
    /// What went wrong.
    pub error_message: Option<String>,
}

/// A search. Every field that is set narrows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[expect(missing_docs, reason = "the filters of SPEC §8 by their names")]
pub struct SearchQuery {
    /// Words that must all occur; empty finds everything.
    pub words: String,
    pub run_id: Option<Uuid>,
    pub loop_id: Option<Uuid>,
    pub plan_id: Option<String>,
    pub tool: Option<String>,
    pub outcome: Option<String>,
    pub risk: Option<String>,
    pub host: Option<String>,
    pub path: Option<String>,
    pub code: Option<String>,
    pub since_ms: Option<i64>,
    pub until_ms: Option<i64>,
    /// At most this many hits; 0 means the default of 200.
    pub limit: usize,
    /// Hits to leave out first.
    pub offset: usize,
}

/// One execution that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SearchHit {
    /// The execution.
    #[serde(flatten)]
    pub row: Execution,
    /// Where the words stand: `arguments`, `error`, `stdout`, …; empty without words.
    pub found_in: String,
    /// One line around the first match.
    pub excerpt: String,
    /// The bytes of `excerpt` that matched.
    pub marks: Vec<Range<usize>>,
    /// Whether what a list shows of the execution was changed after it was written.
    pub changed: bool,
}

/// How often each value of a facet occurs among all hits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[expect(missing_docs, reason = "the facets by their names; most frequent first")]
pub struct Facets {
    pub outcome: Vec<(String, u64)>,
    pub tool: Vec<(String, u64)>,
    pub risk: Vec<(String, u64)>,
}

/// One bar of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TimeBucket {
    /// Start of the bucket, in Unix milliseconds.
    pub from_ms: i64,
    /// End of the bucket, exclusive, in Unix milliseconds.
    pub to_ms: i64,
    /// Hits in it that did not fail.
    pub fine: u64,
    /// Hits in it that failed, were denied, or are interrupted.
    pub bad: u64,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SearchPage {
    /// The hits of this page, newest first, ties by id.
    pub hits: Vec<SearchHit>,
    /// How many there are in all.
    pub total: u64,
    /// How many executions the evidence holds.
    pub of: u64,
    /// Values among all hits.
    pub facets: Facets,
    /// All hits over time; empty when there are none.
    pub timeline: Vec<TimeBucket>,
    /// How long the search took, in microseconds.
    pub took_us: u64,
    /// Why this evidence is read-only, or `None`.
    pub read_only: Option<String>,
    /// A note about the kept heads that is no error.
    pub note: Option<String>,
}

/// One artifact of an execution.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArtifactRecord {
    /// `stdout`, `stderr`, `diagnostics`, `result`, `step_context`, `diff` or `preview`.
    pub artifact_type: String,
    /// The content as stored: the value itself, or `{"blob", "bytes", "head"}`.
    pub content: serde_json::Value,
    /// Size of the whole content in bytes.
    pub bytes: u64,
    /// Where the whole content is, when it is not inline.
    pub blob: Option<Digest>,
}

/// One link from an execution to a file, symbol or diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EdgeRecord {
    /// `EXECUTED_ON`, `AFFECTED`, `REFERENCED` or `PRODUCED`.
    pub edge_type: String,
    /// `file`, `symbol` or `diagnostic`.
    pub target_kind: String,
    /// The path, symbol or code.
    pub target: String,
}

/// One decision of a person, or of a flag they gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecisionRecord {
    /// `authorize`, `reject`, `approve`, `skip`, `cancel`, `pause`, `resume`, `cancel_after_step`,
    /// `stop_now` or `reconcile`.
    pub decision: String,
    /// Who.
    pub by: DecidedBy,
    /// Why, in the person's words; may be empty.
    pub note: String,
    /// When, in Unix milliseconds.
    pub timestamp_ms: i64,
}

/// Who decided; in data `window (ada)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedBy {
    /// Through which act: `window`, `terminal`, `command_line`, ….
    pub place: String,
    /// The user's name, where the system said it.
    pub user: Option<String>,
}

impl fmt::Display for DecidedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)?;
        self.user.iter().try_for_each(|user| write!(f, " ({user})"))
    }
}

impl Serialize for DecidedBy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl DecisionRecord {
    /// The decision as a phrase: `Approved in the window by ada`.
    pub fn sentence(&self) -> String {
        let decided = match self.decision.as_str() {
            "authorize" => "Authorized",
            "reject" => "Rejected",
            "approve" => "Approved",
            "skip" => "Skipped",
            "cancel" => "Denied",
            "done_by_hand" => "Marked as done by hand",
            "pause" => "Paused",
            "resume" => "Resumed",
            "go_on_guided" => "Went on guided",
            "cancel_after_step" => "Cancelled after the step under way",
            "stop_now" => "Stopped",
            "reconcile" => "Compared with the disk",
            other => other,
        };
        let place = match self.by.place.as_str() {
            "window" => "in the window",
            "terminal" => "at the terminal",
            "command_line" => "by the command line",
            "command_line_digest" => "by its digest on the command line",
            "command_line_yes" => "by --yes on the command line",
            "authorization_class" => "by an authorization class",
            other => other,
        };
        let user = self.by.user.as_ref().map(|user| format!(" by {user}")).unwrap_or_default();
        format!("{decided} {place}{user}")
    }
}

/// One execution in full (Q5).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExecutionDetail {
    /// The execution.
    #[serde(flatten)]
    pub row: Execution,
    /// The run it belongs to.
    pub run: RunSummary,
    /// The arguments exactly as they were, but for redacted secrets.
    pub arguments: BTreeMap<String, String>,
    /// Its artifacts, by type.
    pub artifacts: Vec<ArtifactRecord>,
    /// Its links.
    pub edges: Vec<EdgeRecord>,
    /// What people decided about it, by time.
    pub decisions: Vec<DecisionRecord>,
    /// When the intent was committed, in Unix milliseconds; none where the tool has no effect to get
    /// ahead of or was not invoked.
    pub intent_at_ms: Option<i64>,
    /// Its place in the ledger.
    pub ledger_seq: Option<i64>,
    /// The digest of its link in the ledger.
    pub ledger_digest: Option<Digest>,
    /// What was changed of its rows after they were written, one sentence each; empty where all is well.
    pub changed: Vec<String>,
}

/// What `evidence verify` found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Whether every row is what was written.
    pub ok: bool,
    /// How many rows were checked.
    pub rows: u64,
    /// The head of the chain; copied out, it shows a later truncation too.
    pub head: Digest,
    /// The first thing that is wrong, and how: a row that differs, else the schema, else the kept head.
    pub first_bad: Option<String>,
    /// What differs from the schema that this version makes, one sentence each.
    pub schema: Vec<String>,
    /// The head that is kept outside of the folder; null where it was not compared.
    pub kept: Option<HeadReport>,
}

/// Whether a database is the one that was here, and as long as it was.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct HeadReport {
    /// The last head that was kept outside of the evidence folder; null where none is kept.
    pub kept_head: Option<Digest>,
    /// How many records there were then.
    pub kept_rows: Option<u64>,
    /// What differs; null where the kept head is on the chain. Nothing is recorded until a person accepts it.
    pub difference: Option<String>,
    /// What is missing of what is kept, though the rest is enough; null where nothing is.
    pub note: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_said_in_words() {
        for (decision, (place, user), said) in [
            ("authorize", ("window", "ada"), "Authorized in the window by ada"),
            ("cancel", ("terminal", ""), "Denied at the terminal"),
            (
                "authorize",
                ("command_line_yes", "ci"),
                "Authorized by --yes on the command line by ci",
            ),
            ("later_word", ("elsewhere", "ada"), "later_word elsewhere by ada"),
        ] {
            let record = DecisionRecord {
                decision: decision.to_owned(),
                by: DecidedBy {
                    place: place.to_owned(),
                    user: (!user.is_empty()).then(|| user.to_owned()),
                },
                note: String::new(),
                timestamp_ms: 0,
            };
            assert_eq!(record.sentence(), said);
        }
    }
}
