//! Reviews and simulates a plan as it was read, valid or faulty, for the window and the command line. The sound steps
//! of a faulty plan are reviewed as usual, and the faulty ones are inserted between them.

use std::path::Path;
use std::sync::Arc;

use crate::engine::simulation::{Simulation, simulate};
use crate::evidence::{EvidenceLocation, Trust};
use crate::plan::{Plan, ShownPlan};
use crate::risk::{self, Policy};
use crate::run::StopSignal;
use crate::run::{PreconditionState, Preview, Review};
use crate::tools::ToolError;

/// As [`review_read`], with the trust of the workspace's commands. `trust` is called only if the plan would run such
/// commands, and its result is stored in `policy`.
///
/// # Errors
/// Errors of `review` and `trust`.
pub fn review_trusting<E: From<ToolError>>(
    plan: &Result<Plan, Option<ShownPlan>>,
    policy: &mut Policy,
    review: impl Fn(&Plan, &Policy) -> Result<Review, ToolError>,
    trust: impl FnOnce() -> Result<Trust, E>,
) -> Result<Option<Review>, E> {
    let before = review_read(plan, |plan| review(plan, policy))?;
    if before.as_ref().is_none_or(|review| review.workspace_commands.is_none()) {
        return Ok(before);
    }
    let trust = trust()?;
    policy.trusted_commands = trust.proven;
    policy.unproven_trust = trust.unproven;
    Ok(review_read(plan, |plan| review(plan, policy))?)
}

/// Reviews a plan as it was read; `None` if nothing of it can be shown.
///
/// # Errors
/// Errors of `review`.
pub fn review_read(
    plan: &Result<Plan, Option<ShownPlan>>,
    review: impl FnOnce(&Plan) -> Result<Review, ToolError>,
) -> Result<Option<Review>, ToolError> {
    let faulty = match plan {
        Ok(plan) => return review(plan).map(Some),
        Err(Some(faulty)) => faulty,
        Err(None) => return Ok(None),
    };
    let mut review = review(&faulty.sound())?;
    for (index, _) in faulty.steps.iter().enumerate().filter(|(_, step)| step.call.is_none()) {
        let risk = risk::of_faulty_step();
        review.impact.worst = review.impact.worst.max(Some(risk.level));
        review.impact.asks += 1;
        review.asks.insert(index, Some(format!("The step is {}.", risk.level.as_str())));
        review.risks.insert(index, risk);
        let reason = "the step is faulty".to_owned();
        review.preconditions.insert(index, PreconditionState::Later { reason });
        if let Some(walls) = &mut review.walls {
            walls.steps.insert(index, None);
        }
        if let Some(walls) = &mut review.binding.walls {
            walls.insert(index, None);
        }
    }
    Ok(Some(review))
}

/// Simulates all steps of a plan together. The simulation ends at a faulty step and at a step that would fail.
///
/// # Errors
/// As for a plan without faults.
pub fn simulate_shown(
    plan: &ShownPlan,
    workspace: &Path,
    policy: &Policy,
    evidence: Option<&EvidenceLocation>,
    stop: &Arc<StopSignal>,
) -> Result<Simulation, ToolError> {
    let faulty = plan.steps.iter().position(|step| step.call.is_none());
    let mut sound = plan.sound();
    sound.steps.truncate(faulty.unwrap_or(usize::MAX));
    let mut simulation = simulate(&sound, workspace, policy, evidence, stop)?;
    let mut steps = plan.steps.iter().skip(sound.steps.len());
    let fails = simulation.previews.iter().position(Preview::would_fail);
    let mut ends_at = fails.and_then(|at| plan.steps.get(at)).map(|step| step.step_index);
    if ends_at.is_none()
        && let Some(faulty) = steps.next()
    {
        simulation.previews.push(faulty_step());
        ends_at = Some(faulty.step_index);
    }
    if let Some(at) = ends_at {
        simulation.previews.extend(steps.map(|_| Preview::not_reached(at)));
    }
    Ok(simulation)
}

/// The preview of a faulty step.
pub(super) fn faulty_step() -> Preview {
    Preview::unpredictable("This step is faulty and cannot run.".to_owned(), Vec::new())
}
