//! Converts the run of an attempt's plan into records (SPEC §10): actions, verification, and the ending of the
//! attempt.

use uuid::Uuid;

use super::attempts::AttemptEnding;
use crate::engine::ExecutionError;
use crate::plan::{Code, Plan, ToolCall, ToolClass, VerifyScope};
use crate::run::{
    ActionRecord, ExecutionResult, Happened, Outcome, RunStatus, StepResult, VerifyRecord,
    is_retryable,
};

/// The maximum number of diagnostics of a verification in the record of an attempt. The evidence of the execution has
/// all of them.
const MAX_DIAGNOSTICS: usize = 200;

/// Result of applying the plan of an attempt.
#[derive(Debug)]
pub(super) struct Applied {
    /// The run; `None` if nothing began.
    pub(super) run_id: Option<Uuid>,
    /// One record for each step of the plan.
    pub(super) actions: Vec<ActionRecord>,
    /// The results of the steps, for the next request.
    pub(super) results: Vec<StepResult>,
    /// The result of the last `verify` step of the plan that no change follows.
    pub(super) verify: Option<VerifyRecord>,
    /// The ending of the attempt, if nothing else is verified.
    pub(super) ending: AttemptEnding,
}

fn scope_of(plan: &Plan, index: usize) -> Option<VerifyScope> {
    match plan.steps.get(index)?.call {
        ToolCall::Verify { scope } => Some(scope),
        _ => None,
    }
}

/// The record of a `verify` step; `None` if it did not run.
pub(super) fn verification(scope: VerifyScope, result: &StepResult) -> Option<VerifyRecord> {
    let ran = matches!(result.outcome, Outcome::Succeeded | Outcome::Failed);
    ran.then(|| VerifyRecord {
        scope,
        passed: result.success,
        diagnostics: result.diagnostic_artifacts.iter().take(MAX_DIAGNOSTICS).cloned().collect(),
    })
}

/// One record for each step of the plan.
fn action_records(plan: &Plan, results: &[StepResult]) -> Vec<ActionRecord> {
    let record = |(index, step): (usize, &crate::plan::Step)| {
        let (verb, about) = step.call.headline();
        let about = format!("{verb} {about}").trim().to_owned();
        match results.get(index) {
            Some(result) => ActionRecord::of(result, &about),
            None => ActionRecord::skipped(index, &step.tool_name, format!("{about} (not reached)")),
        }
    };
    plan.steps.iter().enumerate().map(record).collect()
}

/// The result of a run that ended.
pub(super) fn from_run(plan: &Plan, result: ExecutionResult) -> Applied {
    let ExecutionResult { run_id, status, step_results, .. } = result;
    // A verification does not cover changes, or possible changes, after it.
    let changes = |result: &&StepResult| {
        let call = plan.steps.get(result.step_index).map(|step| &step.call);
        let may_change = |call: &ToolCall| match call {
            ToolCall::Verify { .. } => false,
            call => call.class() == ToolClass::Mutate || call.may_change_anything(),
        };
        call.is_some_and(may_change) && result.success
    };
    let verify = step_results
        .iter()
        .rev()
        .take_while(|result| !changes(result))
        .find_map(|result| verification(scope_of(plan, result.step_index)?, result));
    let last = step_results.last();
    let failed = last.filter(|last| !last.outcome.continues_run());
    let (happened, message) = match (status, failed) {
        (RunStatus::Completed, _) => (Happened::Succeeded, "every step succeeded".to_owned()),
        (RunStatus::Cancelled, _) => (Happened::Stopped, "a person stopped the run".to_owned()),
        (RunStatus::Failed, None) => (Happened::InternalError, "the run failed".to_owned()),
        (RunStatus::Failed, Some(step)) => {
            let is_verify = scope_of(plan, step.step_index).is_some();
            let of_verification = is_verify && step.outcome == Outcome::Failed;
            let happened = after_failure(step.error_code, of_verification);
            let action = format!("step {} ({})", step.step_index + 1, step.tool_name);
            let message = step.error_message.as_deref().unwrap_or_default();
            (happened, format!("{action}: {message}"))
        }
    };
    let action_index = failed.map(|step| step.step_index);
    Applied {
        run_id: Some(run_id),
        actions: action_records(plan, &step_results),
        results: step_results,
        verify,
        ending: AttemptEnding { action_index, ..AttemptEnding::new(happened, message) },
    }
}

/// How the attempt ends after a failure with this code. `of_verification`: the failed step is a verification.
fn after_failure(code: Option<Code>, of_verification: bool) -> Happened {
    match code {
        Some(Code::ConfirmationDenied | Code::Cancelled) => Happened::Stopped,
        Some(Code::EvidenceStore) | None => Happened::InternalError,
        _ if of_verification => Happened::VerifyFailed,
        Some(code) => Happened::ActionFailed { retryable: is_retryable(code) },
    }
}

/// The result of a plan that was refused, or whose run could not be recorded completely.
pub(super) fn from_refusal(plan: &Plan, error: &ExecutionError) -> Applied {
    let (mut run_id, mut results) = (None, Vec::new());
    let happened = match error {
        ExecutionError::EvidenceStore { run_id: id, step_results, .. } => {
            run_id = Some(*id).filter(|id| !id.is_nil());
            results.clone_from(step_results);
            Happened::InternalError
        }
        ExecutionError::PlanIdMismatch { .. } => Happened::InternalError,
        ExecutionError::NotAuthorized { .. } => Happened::NotAuthorized,
        ExecutionError::Refused { .. } => Happened::PlannerRejected { retryable: true },
        error => after_failure(Some(error.code()), false),
    };
    let ending = AttemptEnding::new(happened, error.to_string());
    let actions = action_records(plan, &results);
    Applied { run_id, actions, results, verify: None, ending }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_code_has_one_outcome() {
        for code in Code::ALL {
            let expected = match code.as_str() {
                "E106" | "E307" => Happened::Stopped,
                "E401" => Happened::InternalError,
                text => Happened::ActionFailed {
                    retryable: text != "E312"
                        && (text == "E004" || text.starts_with("E1") || text.starts_with("E3")),
                },
            };
            assert_eq!(after_failure(Some(*code), false), expected, "{code}");
            let of_verification = match expected {
                Happened::ActionFailed { .. } => Happened::VerifyFailed,
                other => other,
            };
            assert_eq!(after_failure(Some(*code), true), of_verification, "{code}");
        }
    }
}
