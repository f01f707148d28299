//! Continues an old run (SPEC §3 *Continue from here*, §8 *Reconcile*): the plan of the steps that did not succeed,
//! the changes of files since the run, and the state of interrupted steps. Read-only.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use uuid::Uuid;

use crate::authorization::FileState;
use crate::evidence::{EvidenceError, EvidenceReader, OpenIntent};
use crate::plan::{
    Code, Continuation, Finding, Severity, ShownPlan, Tool, continuation, limits, parse, rollback,
};
use crate::risk::Policy;
use crate::run::{
    DiskState, Failure, FileForecast, Reconciled, RunFate, RunStatus, RunSummary,
    hosts_to_roll_back,
};
use crate::tools::{ToolError, Toolbox};

/// Why no follow-up of an old run can be made.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum FollowUpError {
    #[error("the evidence has no run {run_id}")]
    NoSuchRun { run_id: Uuid },
    #[error("the evidence has no run, execution or loop {id}")]
    NoSuchId { id: Uuid },
    #[error("run {run_id} is still under way")]
    Active { run_id: Uuid },
    #[error("loop {loop_id} is still under way")]
    ActiveLoop { loop_id: Uuid },
    #[error("loop {loop_id} ran no plan; there is nothing to revert")]
    LoopWithoutRun { loop_id: Uuid },
    #[error("run {run_id} completed; there is nothing to continue")]
    Completed { run_id: Uuid },
    #[error("every step of run {run_id} succeeded; there is nothing to continue")]
    NothingLeft { run_id: Uuid },
    #[error("the plan of run {run_id} has no rollback commands")]
    NoRollback { run_id: Uuid },
    #[error(
        "the steps of run {run_id} ended in different ways on its hosts, so no plan of the remaining steps fits all of them"
    )]
    OnHosts { run_id: Uuid },
    #[error("run {run_id} cannot be rolled back or finished: {why}")]
    NothingToSettle { run_id: Uuid, why: String },
    #[error("run {run_id} cannot be continued or reverted as a whole: {note}")]
    Purged { run_id: Uuid, note: String },
    #[error("the plan of run {run_id} is no longer in the evidence, or cannot be read")]
    NoPlan { run_id: Uuid },
    #[error(
        "the follow-up plan of run {run_id} would be larger than {} bytes, the limit for a plan",
        limits::PLAN_BYTES
    )]
    TooLarge { run_id: Uuid },
    #[error("{0}")]
    Evidence(#[from] EvidenceError),
    #[error("{0}")]
    Tool(#[from] ToolError),
}

impl FollowUpError {
    /// The error in the form in which screens show it.
    pub fn failure(&self) -> Failure {
        let next = match self {
            Self::NoSuchRun { .. } => "Look the run up with a search of the evidence.",
            Self::NoSuchId { .. } => "Look it up with a search of the evidence.",
            Self::LoopWithoutRun { .. } => "Look at its attempts: none of them changed a file.",
            Self::Active { .. } | Self::ActiveLoop { .. } => "Wait for its end, or stop it.",
            Self::Completed { .. } | Self::NothingLeft { .. } => {
                "Run its plan again if you want it done once more."
            }
            Self::NoRollback { .. } => "Write a plan that undoes what the run did.",
            Self::OnHosts { .. } => {
                "Look at the results of the hosts, and write a plan for those that need one."
            }
            Self::NothingToSettle { .. } => {
                "Compare the run with the disk again, or take back what it changed with revert."
            }
            Self::NoPlan { .. } | Self::TooLarge { .. } | Self::Purged { .. } => {
                "Write a plan of the remaining steps."
            }
            Self::Evidence(error) => return error.failure(),
            Self::Tool(error) => return error.failure(),
        };
        Failure { code: Code::BadValue, message: self.to_string(), next: next.to_owned() }
    }
}

/// A run that has ended or was interrupted.
///
/// # Errors
/// When there is no such run, it is still under way, or the evidence cannot be read.
pub(super) fn ended_run(
    evidence: &mut EvidenceReader,
    run_id: Uuid,
) -> Result<RunSummary, FollowUpError> {
    let run = evidence.run(run_id)?.ok_or(FollowUpError::NoSuchRun { run_id })?;
    if run.fate == RunFate::Active {
        return Err(FollowUpError::Active { run_id });
    }
    Ok(run)
}

/// A run of which every record is left, because the records say which steps are done.
///
/// # Errors
/// [`FollowUpError::Purged`].
pub(super) fn with_all_records(run: RunSummary) -> Result<RunSummary, FollowUpError> {
    match &run.purged {
        Some(note) => Err(FollowUpError::Purged { run_id: run.run_id, note: note.sentence() }),
        None => Ok(run),
    }
}

/// A run, and the exact bytes of its plan.
///
/// # Errors
/// When the run is unknown or under way, its plan was purged, or the evidence cannot be read.
pub(super) fn plan_of(
    evidence: &mut EvidenceReader,
    run_id: Uuid,
) -> Result<(RunSummary, Vec<u8>), FollowUpError> {
    let run = ended_run(evidence, run_id)?;
    match evidence.plan_of_run(run_id)? {
        Some(bytes) => Ok((run, bytes)),
        None => {
            with_all_records(run)?;
            Err(FollowUpError::NoPlan { run_id })
        }
    }
}

/// A run, and its plan. The plan gets the target of the run, which may differ from the one in the plan's file.
///
/// # Errors
/// As [`plan_of`]; and when the bytes cannot be shown as a plan.
fn shown_plan_of(
    evidence: &mut EvidenceReader,
    run_id: Uuid,
) -> Result<(RunSummary, ShownPlan), FollowUpError> {
    let (run, bytes) = plan_of(evidence, run_id)?;
    let plan = recorded_plan(&bytes, &run).ok_or(FollowUpError::NoPlan { run_id })?;
    Ok((run, plan))
}

/// The plan of a run from its recorded bytes, with the target and the mode of the run; `None` if the bytes cannot be
/// shown as a plan.
pub fn recorded_plan(bytes: &[u8], run: &RunSummary) -> Option<ShownPlan> {
    Some(parse(bytes).into_shown()?.on_target(run.target.as_deref()).in_mode(run.mode))
}

/// A run, and the exact bytes of a plan with the steps that did not succeed.
///
/// # Errors
/// As [`plan_of`]; and when no step is left, or the plan is too large.
pub(super) fn continuation_of(
    evidence: &mut EvidenceReader,
    run_id: Uuid,
) -> Result<(RunSummary, Vec<u8>), FollowUpError> {
    let (run, plan) = shown_plan_of(evidence, run_id)?;
    let run = with_all_records(run)?;
    if run.fate == RunFate::Ended(RunStatus::Completed) {
        return Err(FollowUpError::Completed { run_id });
    }
    if plan.fleet.is_some() {
        return Err(FollowUpError::OnHosts { run_id });
    }
    match continuation(&plan, run_id, &evidence.succeeded_steps(run_id)?) {
        Continuation::Plan(bytes) => Ok((run, bytes)),
        Continuation::NothingLeft => Err(FollowUpError::NothingLeft { run_id }),
        Continuation::TooLarge => Err(FollowUpError::TooLarge { run_id }),
    }
}

/// A run, and the exact bytes of a plan of the rollback commands that the run's plan names.
///
/// # Errors
/// As [`plan_of`]; and when the plan names no rollback.
pub(super) fn rollback_of(
    evidence: &mut EvidenceReader,
    run_id: Uuid,
) -> Result<(RunSummary, Vec<u8>), FollowUpError> {
    let (run, plan) = shown_plan_of(evidence, run_id)?;
    let results = if plan.fleet.is_some() { evidence.host_results(run_id)? } else { Vec::new() };
    let hosts = hosts_to_roll_back(&results);
    let bytes = rollback(&plan, run_id, &hosts).ok_or(FollowUpError::NoRollback { run_id })?;
    Ok((run, bytes))
}

/// A warning for each file that differs from its state at the end of the run or cannot be compared with it, and for
/// each file of an interrupted step.
///
/// # Errors
/// When the evidence cannot be read, or the workspace cannot be opened.
pub(super) fn changes_since(
    evidence: &mut EvidenceReader,
    run_id: Uuid,
    workspace: &Path,
    policy: &Policy,
) -> Result<Vec<Finding>, FollowUpError> {
    let toolbox = Toolbox::open(workspace, policy)?;
    let warning = |message| Finding::new(Severity::Warning, Code::Stale, "", message);
    let interrupted = compare_with_disk(&evidence.open_intents(run_id)?, &toolbox);
    let mut findings: Vec<_> = interrupted.iter().map(|file| warning(file.sentence())).collect();
    let interrupted: BTreeSet<_> =
        interrupted.iter().filter_map(|file| file.path.as_deref()).collect();
    for (path, then) in evidence.files_after(run_id)? {
        if interrupted.contains(path.as_str()) {
            continue;
        }
        match toolbox.digest_of(&path) {
            Ok(now) if now == then => {}
            Ok(now) => findings.push(warning(format!(
                "{path} has changed since the run: it was {} and is {} now",
                short_state(then),
                short_state(now)
            ))),
            Err(error) => findings.push(warning(format!(
                "whether {path} has changed since the run is not known: {error}"
            ))),
        }
    }
    Ok(findings)
}

/// A short form of a state, for messages only: two states can have the same.
fn short_state(state: FileState) -> String {
    match state {
        FileState::Absent => "absent".to_owned(),
        FileState::Content(digest) => format!("sha256:{}…", digest.short(12)),
    }
}

/// Compares each file of a run's interrupted steps with the disk. Empty if no step was interrupted.
///
/// # Errors
/// When the run is unknown or under way, its workspace cannot be opened, or the evidence cannot be read.
pub fn reconcile(
    evidence: &mut EvidenceReader,
    run_id: Uuid,
    policy: &Policy,
) -> Result<Vec<Reconciled>, FollowUpError> {
    let run = ended_run(evidence, run_id)?;
    let intents = evidence.open_intents(run_id)?;
    if intents.is_empty() {
        return Ok(Vec::new());
    }
    Ok(compare_with_disk(&intents, &Toolbox::open(run.workspace.as_ref(), policy)?))
}

/// One row for each file of each intent, and one row without a file for an intent that predicted no change.
fn compare_with_disk(intents: &[OpenIntent], toolbox: &Toolbox) -> Vec<Reconciled> {
    let mut rows = Vec::new();
    for intent in intents {
        let splice_tools = [Tool::SplicePatch, Tool::SplicePlan].map(Tool::name);
        let is_splice = splice_tools.contains(&intent.tool_name.as_str());
        let row = |files: &[FileForecast], now: Option<FileState>| Reconciled {
            execution_id: intent.execution_id,
            step_id: intent.step_id.clone(),
            step_index: intent.step_index,
            tool_name: intent.tool_name.clone(),
            path: files.first().map(|file| file.path.clone()),
            before: files.first().map(|file| file.before),
            after: files.last().map(|file| file.after),
            now,
            finding: match files {
                [file] if !is_splice => DiskState::of(file, now),
                files => DiskState::of_checked(files, now),
            },
            leftover: files.first().and_then(|file| {
                let own =
                    toolbox.leftover_file(&file.path, intent.execution_id).unwrap_or_default();
                let by_splice = || toolbox.splice_leftovers(&file.path).unwrap_or_default();
                own.or_else(|| by_splice().into_iter().next().filter(|_| is_splice))
            }),
        };
        if intent.files.is_empty() {
            rows.push(row(&[], None));
        }
        // A splice plan may write a file several times.
        let mut files: Vec<Vec<FileForecast>> = Vec::new();
        let mut indices: HashMap<&str, usize> = HashMap::new();
        for file in &intent.files {
            let index = *indices.entry(&file.path).or_insert(files.len());
            match files.get_mut(index) {
                Some(writes) => writes.push(file.clone()),
                None => files.push(vec![file.clone()]),
            }
        }
        let now = |files: &[FileForecast]| toolbox.digest_of(&files.first()?.path).ok();
        rows.extend(files.iter().map(|files| row(files, now(files))));
    }
    rows
}
