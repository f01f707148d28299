//! The end of a run: its record, its event, its result.

use super::executor::{Executor, Run};
use super::step::Ended;
use crate::evidence::{EvidenceError, RunEnd};
use crate::run::{Control, ExecutionResult, Failure, RunEvent, RunStatus, StepResult};

/// Records the end and tells it.
pub(super) fn finish(
    executor: &mut Executor,
    run: &mut Run<'_>,
    end: &Ended,
    results: &[StepResult],
    started_ms: i64,
) -> Result<ExecutionResult, EvidenceError> {
    let (status, failure, cancelled_by): (_, Option<&Failure>, Option<Control>) = match end {
        Ended::Completed => (RunStatus::Completed, None, None),
        Ended::Failed(failure) => (RunStatus::Failed, Some(failure), None),
        Ended::ByPerson(control) => (RunStatus::Cancelled, None, Some(*control)),
    };
    let result = ExecutionResult {
        run_id: run.run_id,
        plan_id: run.runnable.plan.plan_id.clone(),
        status,
        step_results: results.to_vec(),
        total_duration_ms: results.iter().map(|result| result.duration_ms).sum(),
        elapsed_ms: run.clock.monotonic_ms() - started_ms,
    };
    let left_running = run.runnable.toolbox.walls().end();
    let timestamp_ms = run.clock.now_ms();
    executor.store.end_run(&RunEnd {
        result: &result,
        timestamp_ms,
        failure,
        cancelled_by,
        left_running: &left_running,
        clock_set_back: run.clock.set_back,
    })?;
    if !left_running.is_empty() {
        executor.emit(&RunEvent::LeftRunning { processes: left_running });
    }
    executor.emit(&match end {
        Ended::Completed => RunEvent::RunCompleted { step_count: results.len() },
        Ended::Failed(failure) => {
            RunEvent::RunFailed { code: failure.code, message: failure.message.clone() }
        }
        Ended::ByPerson(control) => {
            RunEvent::RunCancelled { reason: *control, completed_steps: results.len() }
        }
    });
    Ok(result)
}
