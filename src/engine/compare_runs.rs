//! Compares two recorded runs (SPEC §8): reads them, and parses the plans that they ran.

use uuid::Uuid;

use super::recorded_plan;
use crate::evidence::{EvidenceError, EvidenceReader};
use crate::plan::ShownPlan;
use crate::run::{PlanDifference, RunComparison, RunSummary};

/// What differs between two recorded runs; `None` if one of them does not exist.
///
/// # Errors
/// The evidence cannot be read.
pub fn compare_runs(
    evidence: &mut EvidenceReader,
    before: Uuid,
    after: Uuid,
) -> Result<Option<RunComparison>, EvidenceError> {
    let old = evidence.recorded_steps(before)?;
    let Some((old, new)) = old.zip(evidence.recorded_steps(after)?) else { return Ok(None) };
    let plan = plan_difference(evidence, &old.waterfall.run, &new.waterfall.run)?;
    let mut read = |digest: &_| evidence.output_to_compare(digest);
    RunComparison::between(old, new, plan, &mut read).map(Some)
}

/// The difference between the plans of two runs without their secrets; `None` if one of the plans is not available or
/// has a step that cannot be read, or both are the same bytes.
fn plan_difference(
    evidence: &mut EvidenceReader,
    before: &RunSummary,
    after: &RunSummary,
) -> Result<Option<PlanDifference>, EvidenceError> {
    if before.plan_digest == after.plan_digest {
        return Ok(None);
    }
    let old = plan_of(evidence, before)?;
    let new = plan_of(evidence, after)?.and_then(ShownPlan::complete);
    let Some((old, new)) = old.zip(new) else { return Ok(None) };
    Ok(match evidence.redactor()? {
        Some(mut redactor) => Some(redactor.plan_difference(&old, &new)),
        // Without the key only plans without secrets can be read.
        None => Some(PlanDifference::between(&old, &new, &Clone::clone)),
    })
}

fn plan_of(
    evidence: &mut EvidenceReader,
    run: &RunSummary,
) -> Result<Option<ShownPlan>, EvidenceError> {
    match evidence.blob(&run.plan_digest) {
        Ok(bytes) => Ok(bytes.and_then(|bytes| recorded_plan(&bytes, run))),
        Err(EvidenceError::NotAvailable { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
