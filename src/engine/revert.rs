//! Reverts (SPEC §11): the plan that takes back the changes of a run or of one execution, and warnings about the
//! effects that it does not take back. Read-only.

use uuid::Uuid;

use super::continuation::{ended_run, plan_of};
use super::{FollowUpError, recorded_plan};
use crate::authorization::FileState;
use crate::evidence::{EvidenceReader, StoredContent};
use crate::plan::{Code, Finding, Severity, ToolClass, revert};
use crate::run::{CheckpointName, RunSummary, is_git_path, reversals};

/// The run, and the exact bytes of the plan that takes back its changes or those of one execution. `id` is the id of
/// the run or of the execution.
///
/// # Errors
/// When the id is unknown, the run is still under way, or the evidence cannot be read.
pub(super) fn revert_of(
    evidence: &mut EvidenceReader,
    id: Uuid,
) -> Result<(RunSummary, Vec<u8>), FollowUpError> {
    let (run, name) = run_and_checkpoint(evidence, id)?;
    let subject = match name {
        CheckpointName::Execution(_) => format!("step {id} of {}", run.plan_name),
        _ => run.plan_name.clone(),
    };
    Ok((run, revert(&name.to_string(), &subject)))
}

/// The run and the checkpoint that an id of a run or an execution stands for.
fn run_and_checkpoint(
    evidence: &mut EvidenceReader,
    id: Uuid,
) -> Result<(RunSummary, CheckpointName), FollowUpError> {
    let (run_id, name) = match evidence.run_of(id)? {
        Some(run_id) => (run_id, CheckpointName::Execution(id)),
        None => (id, CheckpointName::Run(id)),
    };
    let run = ended_run(evidence, run_id).map_err(|error| match error {
        FollowUpError::NoSuchRun { run_id } => FollowUpError::NoSuchId { id: run_id },
        error => error,
    })?;
    Ok((run, name))
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
    let (run, name) = run_and_checkpoint(evidence, id)?;
    let warning =
        |message| Finding::new(Severity::Warning, Code::FileNotFound, "/actions/0", message);
    let mut findings = Vec::new();
    for (step_index, headline) in program_steps(evidence, &run, id)? {
        findings.push(warning(format!(
            "Step {} ran a program: its effects beyond the files named here are not reverted: {headline}",
            step_index + 1
        )));
    }
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
            .push(warning(format!("the earlier content of {} is not available: {why}", way.path)));
    }
    Ok(findings)
}

/// The index and headline of each step of the run or execution `id` that ran a program of the plan or of the workspace.
/// Empty if the plan was purged.
fn program_steps(
    evidence: &mut EvidenceReader,
    run: &RunSummary,
    id: Uuid,
) -> Result<Vec<(usize, String)>, FollowUpError> {
    let (_, bytes) = match plan_of(evidence, run.run_id) {
        Err(FollowUpError::NoPlan { .. }) => return Ok(Vec::new()),
        plan => plan?,
    };
    let plan = recorded_plan(&bytes, run);
    let invoked = evidence.invoked_steps(run.run_id)?;
    let steps = plan.iter().flat_map(|plan| &plan.steps).filter_map(|step| {
        let call = step.call.as_ref()?;
        let is_included = |(index, execution_id): &(usize, Uuid)| {
            *index == step.step_index && (id == run.run_id || id == *execution_id)
        };
        let runs_program = matches!(call.class(), ToolClass::Command | ToolClass::Check);
        (runs_program && invoked.iter().any(is_included)).then(|| {
            let (verb, object) = call.headline();
            (step.step_index, format!("{verb} {object}"))
        })
    });
    Ok(steps.collect())
}
