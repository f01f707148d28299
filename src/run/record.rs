//! Answers of the evidence (SPEC §8) as plain data.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::{Edge, Outcome, PurgeNote, RunStatus, RunTally, SignatureRecord};
use crate::authorization::StepWalls;
use crate::plan::{Code, Digest, Mode};
use crate::risk::RiskLevel;

/// What is known about the end of a run or a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate<E> {
    /// A process that still runs holds the lock of the run or loop.
    Active,
    /// The process ended without recording an end. A loop will not resume by itself.
    Interrupted,
    /// The run or loop ended in this way.
    #[serde(untagged)]
    Ended(E),
}

/// What is known about the end of a run.
pub type RunFate = Fate<RunStatus>;

impl RunFate {
    /// The value as it is written in lists and in `--json`.
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
    /// The SSH destination on which its commands ran; `None` for this computer.
    pub target: Option<String>,
    /// Whether its steps were to start automatically or one by one. It may have become guided meanwhile.
    pub mode: Mode,
    /// The run that this one continues.
    pub parent_run: Option<Uuid>,
    /// The number of steps in the plan.
    pub step_count: usize,
    /// The number of steps that have a record.
    pub steps_recorded: usize,
    /// The time of the start, in Unix milliseconds.
    pub started_at_ms: i64,
    /// The time of the end, in Unix milliseconds.
    pub ended_at_ms: Option<i64>,
    /// What is known about the end.
    #[serde(rename = "status")]
    pub fate: RunFate,
    /// How many steps ended in which way, with those whose records were purged.
    #[serde(skip)]
    pub tally: RunTally,
    /// Whether records of it were purged, when and why: of the whole run, or the last purge of one of its steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purged: Option<PurgeNote>,
}

/// The outcome of an execution, as far as the evidence contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// The execution has an intent and no record, and the process of its run is gone: the outcome is unknown.
    Interrupted,
    /// The execution has an intent and no record, and its run is still active.
    Running,
    /// The execution has a record.
    #[serde(untagged)]
    Outcome(Outcome),
}

impl Known {
    /// Every value, as it is written in lists and filters.
    pub fn words() -> impl Iterator<Item = &'static str> {
        let open = [Self::Interrupted, Self::Running].map(Self::as_str);
        Outcome::WORDS.iter().map(|(word, _)| *word).chain(open)
    }

    /// The value as it is written in lists and filters.
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
    /// The index of the step, from 0.
    pub step_index: usize,
    /// The tool.
    pub tool_name: String,
    /// The arguments in one short line, for instance the path.
    pub about: String,
    /// Start of the step, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// How long the tool took, in milliseconds.
    pub duration_ms: Option<i64>,
    /// The outcome.
    #[serde(rename = "outcome")]
    pub known: Known,
    /// The risk of the step.
    pub risk: Option<RiskLevel>,
    /// The walls of the step; null if they were not recorded.
    pub walls: Option<StepWalls>,
    /// The exit code; null if no process ran.
    pub exit_code: Option<i32>,
    /// The stable code of the error.
    pub error_code: Option<Code>,
    /// The error message.
    pub error_message: Option<String>,
}

/// An execution in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedExecution {
    /// The execution.
    #[serde(flatten)]
    pub row: Execution,
    /// Whether the row of the execution, or of its intent, was changed after it was written.
    pub changed: bool,
}

/// One artifact of an execution.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArtifactRecord {
    /// `stdout`, `stderr`, `diagnostics`, `result`, `step_context`, `diff` or `preview`.
    pub artifact_type: String,
    /// The content as stored: the value itself, or `{"blob", "bytes", "head"}`.
    pub content: serde_json::Value,
    /// Size of the complete content in bytes.
    pub bytes: u64,
    /// The digest of the blob with the complete content, if the content is not inline.
    pub blob: Option<Digest>,
}

/// A recorded decision of a person, or of a flag that they gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecisionRecord {
    /// `authorize`, `reject`, `revise`, `approve`, `skip`, `done_by_hand`, `cancel`, `pause`, `resume`, `go_on_guided`,
    /// `cancel_after_step`, `stop_now` or `reconcile`.
    pub decision: String,
    /// Who decided.
    pub by: DecidedBy,
    /// The person's reason; may be empty.
    pub note: String,
    /// The time of the decision, in Unix milliseconds.
    pub timestamp_ms: i64,
}

/// Who decided, and by which means; serialized as `window (ada)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedBy {
    /// How the person decided: `window`, `terminal`, `command_line`, ….
    pub place: String,
    /// The user's name, if the system provided it.
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

/// Where a person decides, as records have it, with a phrase for people.
pub const PLACES: &[(&str, &str)] = &[
    ("window", "in the window"),
    ("terminal", "at the terminal"),
    ("command_line", "by the command line"),
    ("command_line_digest", "by its digest on the command line"),
    ("command_line_yes", "by --yes on the command line"),
    ("authorization_class", "by an authorization class"),
    ("agent_call", "in the window, for an agent that makes the call itself,"),
    ("session_rule", "by a rule for identical calls of an agent's session, made in the window"),
];

impl DecisionRecord {
    /// The decision as a phrase: `Approved in the window by ada`.
    pub fn sentence(&self) -> String {
        let decided = match self.decision.as_str() {
            "authorize" => "Authorized",
            "reject" => "Rejected",
            "revise" => "Revised",
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
        let place = self.by.place.as_str();
        let origin = PLACES.iter().find(|it| it.0 == place).map_or(place, |it| it.1);
        let user = self.by.user.as_ref().map(|user| format!(" by {user}")).unwrap_or_default();
        format!("{decided} {origin}{user}")
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
    /// The rule that decided the risk; null if it was not recorded.
    pub risk_rule: Option<String>,
    /// The reason for the risk; null if it was not recorded.
    pub risk_reason: Option<String>,
    /// The arguments as they were, except for redacted secrets.
    pub arguments: BTreeMap<String, String>,
    /// The artifacts, by type.
    pub artifacts: Vec<ArtifactRecord>,
    /// The links to files, symbols and diagnostics.
    pub edges: Vec<Edge>,
    /// The decisions about the execution, by time.
    pub decisions: Vec<DecisionRecord>,
    /// The signatures of the authorization and of the end of its run.
    #[serde(skip)]
    pub signatures: Vec<SignatureRecord>,
    /// When the intent was committed, in Unix milliseconds; `None` if the tool has no effect that must be recorded
    /// first, or was not called.
    pub intent_at_ms: Option<i64>,
    /// Whether changes of files are recorded that can be reverted: those that it made or, if it was interrupted, those
    /// that were predicted.
    #[serde(skip)]
    pub has_changes: bool,
    /// The position in the ledger.
    pub ledger_seq: Option<i64>,
    /// The digest of the link in the ledger.
    pub ledger_digest: Option<Digest>,
    /// What was altered in its rows after they were written, one sentence each; empty if nothing was.
    pub changed: Vec<String>,
}

/// Result of `evidence verify`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Whether no check found a difference.
    pub ok: bool,
    /// The number of rows that were checked, with those that were purged.
    pub rows: u64,
    /// The number of rows that are missing because a person purged them. Their links are checked.
    pub purged: u64,
    /// The head of the chain. A copy of it reveals a later truncation.
    pub head: Digest,
    /// The first difference: in a row, else from the schema, else from the head outside the evidence folder.
    pub first_bad: Option<String>,
    /// The differences from the schema of this version, one sentence each.
    pub schema: Vec<String>,
    /// The comparison with the head that is kept outside the evidence folder; null if there was none.
    pub kept: Option<HeadReport>,
}

/// Whether a database continues the chain whose head was kept outside the evidence folder.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct HeadReport {
    /// The last head that was kept outside the evidence folder; null if none is kept.
    pub kept_head: Option<Digest>,
    /// The number of records at that head.
    pub kept_rows: Option<u64>,
    /// What differs; null if the kept head is on the chain. Nothing is recorded until a person accepts the
    /// difference.
    pub difference: Option<String>,
    /// Which of the kept copies is missing although the others suffice; null if none is.
    pub note: Option<String>,
}

/// A kind of record that has an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKind {
    /// One execution of a step.
    Execution,
    /// A run.
    Run,
    /// A bounded loop.
    Loop,
}

impl RecordKind {
    /// The word for a person.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Execution => "execution",
            Self::Run => "run",
            Self::Loop => "loop",
        }
    }
}

#[cfg(test)]
mod tests;
