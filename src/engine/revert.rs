//! Reverts (SPEC §11): the plan that takes back the changes of a run, of one execution or of a whole loop, and warnings
//! about the effects that it does not take back. Read-only.

use uuid::Uuid;

use super::continuation::{ended_run, plan_of, with_all_records};
use super::{FollowUpError, recorded_plan};
use crate::authorization::FileState;
use crate::evidence::{EvidenceReader, StoredContent};
use crate::plan::{Code, Finding, Severity, ToolClass, revert};
use crate::run::{CheckpointName, LoopFate, RunSummary, is_git_path, reversals};

/// What a revert takes back.
struct Subject {
    name: CheckpointName,
    /// The runs, the latest last: one, or all of a loop. There is at least one.
    runs: Vec<RunSummary>,
    /// The subject for a person.
    title: String,
}

/// The run, and the exact bytes of the plan that takes back its changes, those of one execution, or those of all runs
/// of a loop. `id` is the id of the run, the execution or the loop. For a loop, the run is its last one.
///
/// # Errors
/// When the id is unknown, the run or loop is still under way, the loop has no run, or the evidence cannot be read.
pub(super) fn revert_of(
    evidence: &mut EvidenceReader,
    id: Uuid,
) -> Result<(RunSummary, Vec<u8>), FollowUpError> {
    let Subject { name, mut runs, title } = subject(evidence, id)?;
    let run = runs.pop().ok_or(FollowUpError::NoSuchId { id })?;
    Ok((run, revert(&name.to_string(), &title)))
}

/// What an id of a run, an execution or a loop stands for.
fn subject(evidence: &mut EvidenceReader, id: Uuid) -> Result<Subject, FollowUpError> {
    if let Some(run_id) = evidence.run_of(id)? {
        let run = ended_run(evidence, run_id)?;
        let title = step_title(evidence, &run, id)?;
        return Ok(Subject { name: CheckpointName::Execution(id), runs: vec![run], title });
    }
    match ended_run(evidence, id) {
        Ok(run) => {
            let run = with_all_records(run)?;
            let title = run.plan_name.clone();
            Ok(Subject { name: CheckpointName::Run(id), runs: vec![run], title })
        }
        Err(FollowUpError::NoSuchRun { .. }) => {
            let Some(found) = evidence.bounded_loop(id)? else {
                return Err(match evidence.purge_of_step(id)? {
                    Some((run_id, note)) => FollowUpError::Purged { run_id, note: note.sentence() },
                    None => FollowUpError::NoSuchId { id },
                });
            };
            if found.summary.fate == LoopFate::Active {
                return Err(FollowUpError::ActiveLoop { loop_id: id });
            }
            let runs = found.attempts.into_iter().flat_map(|it| it.runs);
            let runs = runs.map(with_all_records).collect::<Result<Vec<_>, _>>()?;
            if runs.is_empty() {
                return Err(FollowUpError::LoopWithoutRun { loop_id: id });
            }
            let title = format!("all attempts of the loop {}", found.summary.goal);
            Ok(Subject { name: CheckpointName::Loop(id), runs, title })
        }
        Err(error) => Err(error),
    }
}

/// One execution of a run for a person: `step 2 of Tidy the nest: Write src/lib.rs`.
fn step_title(
    evidence: &mut EvidenceReader,
    run: &RunSummary,
    id: Uuid,
) -> Result<String, FollowUpError> {
    let invoked = evidence.invoked_steps(run.run_id)?;
    let Some((index, _)) = invoked.into_iter().find(|(_, execution)| *execution == id) else {
        return Ok(format!("a step of {}", run.plan_name));
    };
    let plan = match plan_of(evidence, run.run_id) {
        Err(FollowUpError::NoPlan { .. } | FollowUpError::Purged { .. }) => None,
        plan => recorded_plan(&plan?.1, run),
    };
    let call = plan.as_ref().and_then(|plan| plan.steps.get(index)?.call.as_ref());
    let headline = call.map(|call| call.headline());
    let headline = headline.map_or_else(String::new, |(verb, object)| format!(": {verb} {object}"));
    Ok(format!("step {} of {}{headline}", index + 1, run.plan_name))
}

/// A warning for each effect that the plan of [`revert_of`] does not take back: steps that ran programs, files in
/// `.git`, and files whose earlier contents are not available.
///
/// # Errors
/// As [`revert_of`].
pub(super) fn irreversible_effects(
    evidence: &mut EvidenceReader,
    id: Uuid,
) -> Result<Vec<Finding>, FollowUpError> {
    let Subject { name, runs, .. } = subject(evidence, id)?;
    // About the whole plan, which has only one step.
    let warning = |message| Finding::new(Severity::Warning, Code::FileNotFound, "", message);
    let mut findings = Vec::new();
    for run in &runs {
        let of_run = match name {
            CheckpointName::Loop(_) => format!(" of {}", run.plan_name),
            _ => String::new(),
        };
        for (step_index, headline) in program_steps(evidence, run, name)? {
            findings.push(warning(format!(
                "Step {}{of_run} ran a program: its effects beyond the files named here are not reverted: {headline}",
                step_index + 1
            )));
        }
    }
    let Some(run) = runs.last() else { return Ok(findings) };
    let history = evidence.history(&run.workspace, None)?.1;
    let Ok(entries) = history.to_undo(Some(&name)) else { return Ok(findings) };
    for way in reversals(&entries) {
        if is_git_path(&way.path) {
            findings
                .push(warning(format!("{} stays as it is: a revert never touches .git", way.path)));
            continue;
        }
        let FileState::Content(digest) = way.target else { continue };
        if way.left == [way.target] {
            continue;
        }
        let why = match evidence.stored_content(&digest)? {
            StoredContent::Content(_) => continue,
            StoredContent::Purged => "it was purged",
            StoredContent::NoKey => {
                "it holds a secret, and the key that it was encrypted under is not here"
            }
            StoredContent::NotStored => "it was never kept",
        };
        findings
            .push(warning(format!("The earlier content of {} is not available: {why}", way.path)));
    }
    Ok(findings)
}

/// The index and headline of each step of the run that ran a program of the plan or of the workspace; if `name` is one
/// execution, only that step. Empty if the plan was purged.
fn program_steps(
    evidence: &mut EvidenceReader,
    run: &RunSummary,
    name: CheckpointName,
) -> Result<Vec<(usize, String)>, FollowUpError> {
    let (_, bytes) = match plan_of(evidence, run.run_id) {
        Err(FollowUpError::NoPlan { .. } | FollowUpError::Purged { .. }) => return Ok(Vec::new()),
        plan => plan?,
    };
    let plan = recorded_plan(&bytes, run);
    let invoked = evidence.invoked_steps(run.run_id)?;
    let steps = plan.iter().flat_map(|plan| &plan.steps).filter_map(|step| {
        let call = step.call.as_ref()?;
        let is_included = |(index, execution_id): &(usize, Uuid)| {
            let is_named = match name {
                CheckpointName::Execution(id) => id == *execution_id,
                _ => true,
            };
            *index == step.step_index && is_named
        };
        let runs_program = matches!(call.class(), ToolClass::Command | ToolClass::Check);
        (runs_program && invoked.iter().any(is_included)).then(|| {
            let (verb, object) = call.headline();
            (step.step_index, format!("{verb} {object}"))
        })
    });
    Ok(steps.collect())
}
