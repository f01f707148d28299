//! Questions about files, symbols and diagnostics (SPEC §8), and their answers as data.

use serde::Serialize;
use uuid::Uuid;

use super::{
    DecidedBy, DecisionRecord, EdgeType, Execution, FileHistory, Judgement, ListedExecution,
    OverTime, Playback, RunComparison, RunSummary, StepDurations, TargetKind, Waterfall,
};
use crate::plan::Digest;

/// The maximum number of rows in an answer. A query on the command line can set a limit of its own.
pub const MAX_ROWS: usize = 10_000;

/// A question to the evidence about one file, symbol or diagnostic, or about all recurring diagnostics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Q3: the executions with a diagnostic of this code.
    WithCode(String),
    /// Q4: the executions that touched a file or symbol, and how they touched it.
    Touched {
        /// The kind of the target.
        kind: TargetKind,
        /// The path or the symbol.
        target: String,
    },
    /// Q6: the latest outcome for this file.
    Latest(String),
    /// Q7: the diagnostics that were seen several times.
    Recurring,
    /// The plans that a person rejected, and why.
    Rejected {
        /// Words of the reason or the plan; empty for all of them.
        words: String,
    },
    /// The runs whose process ended without recording an end.
    InterruptedRuns,
    /// Q8: the later changes of files in which a diagnostic of this code was seen.
    ChangesAfter {
        /// The code of the diagnostic.
        code: String,
        /// Restricts the answer to this file.
        file: Option<String>,
    },
    /// When the steps of this run waited and worked.
    Times(Uuid),
    /// The other runs of the plan of this run, one of which is to be compared with it.
    RunsToCompare(Uuid),
    /// What differs between two runs.
    Compare {
        /// The first run.
        before: Uuid,
        /// The second run.
        after: Uuid,
    },
    /// This run, played back.
    Replay(Uuid),
    /// How long the step of this execution took in each run.
    Durations(Uuid),
    /// The past commands whose risk is another one by the present rules.
    JudgedAgain,
    /// Every recorded change of a file.
    FileHistory {
        /// The file, by its canonical path.
        path: String,
        /// The workspace of the file.
        workspace: String,
    },
}

impl Question {
    /// The question as a heading. It contains unescaped text from outside; the caller makes hidden characters
    /// visible.
    pub fn title(&self) -> String {
        match self {
            Self::WithCode(code) => format!("Executions with {code}"),
            Self::Touched { target, .. } => format!("Everything that touched {target}"),
            Self::Latest(file) => format!("Latest outcome for {file}"),
            Self::Recurring => "Recurring diagnostics".to_owned(),
            Self::Rejected { words } if words.trim().is_empty() => "Rejected plans".to_owned(),
            Self::Rejected { words } => format!("Rejected plans with {words}"),
            Self::InterruptedRuns => "Interrupted runs".to_owned(),
            Self::ChangesAfter { code, file: None } => format!("Changes after {code}"),
            Self::ChangesAfter { code, file: Some(file) } => {
                format!("Changes of {file} after {code}")
            }
            Self::Times(_) => "Times of a run".to_owned(),
            Self::RunsToCompare(_) => "Compare a run with another".to_owned(),
            Self::Compare { .. } => "Two runs compared".to_owned(),
            Self::Replay(_) => "A run played back".to_owned(),
            Self::Durations(_) => "Durations of a step".to_owned(),
            Self::JudgedAgain => "Commands judged again".to_owned(),
            Self::FileHistory { path, .. } => format!("History of {path}"),
        }
    }
}

/// An execution that touched a file or symbol (Q4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileExecution {
    /// The execution.
    #[serde(flatten)]
    pub listed: ListedExecution,
    /// How the execution touched the target, sorted by word.
    pub edge_types: Vec<EdgeType>,
}

/// A diagnostic that was seen several times (Q7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecurringDiagnostic {
    /// The code.
    pub code: String,
    /// The file; empty if the diagnostic has no location.
    pub file_name: String,
    /// The workspace of the file.
    pub workspace: String,
    /// The number of times it was seen.
    pub count: u64,
    /// The time when it was first seen, in Unix milliseconds.
    pub first_seen_ms: i64,
    /// The time when it was last seen, in Unix milliseconds.
    pub last_seen_ms: i64,
    /// The executions that reported it, by time.
    pub execution_ids: Vec<Uuid>,
    /// How often it was seen over the time in which any of the diagnostics was seen. A planner does not get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_time: Option<OverTime>,
}

/// A rejection of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanRejection {
    /// The answered authorization.
    pub authorization_id: Uuid,
    /// The digest of the plan's exact bytes.
    pub plan_digest: Digest,
    /// The plan.
    pub plan_id: String,
    /// The plan's title, or its id.
    pub plan_name: String,
    /// The workspace folder.
    pub workspace: String,
    /// The person's reason; may be empty.
    pub reason: String,
    /// Who rejected the plan.
    pub by: DecidedBy,
    /// The time of the rejection, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// Whether the record was changed after it was written.
    pub changed: bool,
}

impl PlanRejection {
    /// The rejection as a phrase: `Rejected in the window by ada`.
    pub fn sentence(&self) -> String {
        let Self { by, timestamp_ms, .. } = self;
        let (decision, note) = ("reject".to_owned(), String::new());
        DecisionRecord { decision, by: by.clone(), note, timestamp_ms: *timestamp_ms }.sentence()
    }
}

/// A change of a file after a diagnostic in it (Q8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LaterMutation {
    /// The execution that changed the file.
    #[serde(flatten)]
    pub listed: ListedExecution,
    /// The execution that produced the diagnostic.
    pub diagnostic_execution_id: Uuid,
    /// The file.
    pub file_name: String,
    /// The time between the two starts, in milliseconds.
    pub after_ms: i64,
}

/// The answer to a [`Question`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvidenceAnswer {
    /// Executions without further data: Q3 and Q6.
    Executions(Vec<ListedExecution>),
    /// Executions with the way in which each touched the target: Q4.
    Touched(Vec<FileExecution>),
    /// Recurring diagnostics: Q7.
    Recurring(Vec<RecurringDiagnostic>),
    /// Rejections of plans.
    Rejections(Vec<PlanRejection>),
    /// Runs.
    Runs(Vec<RunSummary>),
    /// Later changes of files: Q8.
    Changes(Vec<LaterMutation>),
    /// The times of a run; `None` if there is no such run.
    Times(Option<Box<Waterfall>>),
    /// What differs between two runs; `None` if one of them does not exist.
    Compared(Option<Box<RunComparison>>),
    /// A run that can be played back; `None` if there is no such run.
    Replay(Option<Box<Playback>>),
    /// How long a step took in each run; `None` if there is no such step.
    Durations(Option<Box<StepDurations>>),
    /// Past commands, judged by the present rules.
    Judged(Judgement),
    /// The recorded changes of a file.
    FileHistory(FileHistory),
}

impl EvidenceAnswer {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Executions(rows) => rows.len(),
            Self::Touched(rows) => rows.len(),
            Self::Recurring(rows) => rows.len(),
            Self::Rejections(rows) => rows.len(),
            Self::Runs(rows) => rows.len(),
            Self::Changes(rows) => rows.len(),
            Self::Times(times) => times.as_ref().map_or(0, |it| it.steps.len()),
            Self::Compared(compared) => compared.as_ref().map_or(0, |it| it.steps.len()),
            Self::Replay(playback) => playback.as_ref().map_or(0, |it| it.times.steps.len()),
            Self::Durations(found) => found.as_ref().map_or(0, |it| it.executions.len()),
            Self::Judged(judgement) => judgement.found.len(),
            Self::FileHistory(history) => history.changes.len(),
        }
    }

    /// Whether the answer has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The execution of a row; `None` for a recurring diagnostic, which belongs to several, for a rejection and for a run.
    pub fn execution(&self, at: usize) -> Option<&Execution> {
        self.listed(at).map(|listed| &listed.row)
    }

    /// The same, and whether it was changed after it was written.
    pub fn listed(&self, at: usize) -> Option<&ListedExecution> {
        match self {
            Self::Executions(rows) => rows.get(at),
            Self::Touched(rows) => rows.get(at).map(|it| &it.listed),
            Self::Changes(rows) => rows.get(at).map(|it| &it.listed),
            Self::Times(times) => times.as_ref()?.steps.get(at).map(|it| &it.listed),
            Self::Compared(compared) => {
                compared.as_ref()?.steps.get(at)?.latest().map(|it| &it.listed)
            }
            Self::Durations(found) => found.as_ref()?.executions.get(at),
            Self::Replay(_) => None,
            Self::Judged(judgement) => judgement.found.get(at).map(|it| &it.latest),
            Self::FileHistory(history) => history.changes.get(at).map(|it| &it.listed),
            Self::Recurring(_) | Self::Rejections(_) | Self::Runs(_) => None,
        }
    }
}
