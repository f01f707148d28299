//! The text and the steps of a plan that is revised.

use super::error::RevisionError;
use crate::plan::{ShownPlan, ShownStep};

/// The text of a plan.
pub(super) fn text_of(plan: &ShownPlan) -> Result<&str, RevisionError> {
    std::str::from_utf8(&plan.source).map_err(|_| RevisionError::NotJson)
}

/// The step of a plan with this index.
pub(super) fn step_of(plan: &ShownPlan, index: usize) -> Result<&ShownStep, RevisionError> {
    let found = plan.steps.binary_search_by_key(&index, |step| step.step_index);
    let step = found.ok().and_then(|position| plan.steps.get(position));
    step.ok_or(RevisionError::NoStep { number: index + 1 })
}
