//! Reviews and simulates a plan as it was read, valid or faulty, for the window and the command line. The sound steps
//! of a faulty plan are reviewed as usual; a review also has an entry for each faulty step.

use crate::evidence::Trust;
use crate::plan::{Plan, ShownPlan};
use crate::risk;
use crate::risk::Policy;
use crate::run::{PreconditionState, Preview, Review};
use crate::tools::ToolError;

/// As [`review_read`], with the person's trust in the workspace's commands. `trust` reads it. It is called only if the
/// plan would run such commands; its result is stored in `policy`, and the plan is reviewed again.
///
/// # Errors
/// Errors of `review` and `trust`.
pub fn review_trusting<E: From<ToolError>>(
    plan: &Result<Plan, Option<ShownPlan>>,
    policy: &mut Policy,
    review: impl Fn(&Plan, &Policy) -> Result<Review, ToolError>,
    trust: impl FnOnce() -> Result<Trust, E>,
) -> Result<Option<Review>, E> {
    let untrusted = review_read(plan, |plan| review(plan, policy))?;
    if untrusted.as_ref().is_none_or(|review| review.workspace_commands.is_none()) {
        return Ok(untrusted);
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
    let mut review = review(&faulty.valid_steps())?;
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

/// The preview of a faulty step.
pub(in crate::engine) fn faulty_preview() -> Preview {
    Preview::unpredictable("This step is faulty and cannot run.".to_owned(), Vec::new())
}
