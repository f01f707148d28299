//! What of the events of runs and loops is in the log of the program: ids, numbers, outcomes and codes. Names, arguments and
//! texts of plans, planners and programs are in the evidence alone.

use crate::run::{RunEvent, StepResult};

/// Logs this event, if it is one that the log has.
pub(super) fn log_event(event: &RunEvent) {
    match event {
        RunEvent::RunStarted { run_id, step_count, .. } => {
            log::info!("run begun run={run_id} steps={step_count}");
        }
        RunEvent::HostReached { .. } => log::info!("host of the run reached"),
        RunEvent::HostsKnown { hosts } => log::info!("run on hosts count={}", hosts.len()),
        RunEvent::StepStarted { step_index, .. } => log::debug!("step begun step={step_index}"),
        RunEvent::StepCompleted { result } | RunEvent::StepSkipped { result, .. } => {
            log::debug!("step ended {}", of_step(result));
        }
        RunEvent::StepFailed { result } => log::warn!("step ended {}", of_step(result)),
        RunEvent::LeftRunning { processes } => {
            log::warn!("processes ended with the run count={}", processes.len());
        }
        RunEvent::RunCompleted { step_count } => {
            log::info!("run ended status=completed steps={step_count}");
        }
        RunEvent::RunFailed { code, .. } => log::error!("run ended status=failed code={code}"),
        RunEvent::RunCancelled { completed_steps, .. } => {
            log::warn!("run ended status=cancelled steps={completed_steps}");
        }
        RunEvent::LoopStarted { loop_id, max_attempts, .. } => {
            log::info!("loop begun loop={loop_id} attempts={max_attempts}");
        }
        RunEvent::AttemptStarted { attempt, .. } => log::info!("attempt begun attempt={attempt}"),
        RunEvent::PlannerStarted { .. } => log::info!("planner started"),
        RunEvent::PlannerLooked { round, looks } => {
            log::info!("planner looked round={round} looks={}", looks.len());
        }
        RunEvent::PlannerAsked { attempt, .. } => log::info!("planner asked attempt={attempt}"),
        RunEvent::PlannerAnswered { report, plan_digest } => {
            let (actions, findings) = (report.action_count, report.findings.len());
            let has_plan = plan_digest.is_some();
            log::info!("planner ended plan={has_plan} actions={actions} findings={findings}");
        }
        RunEvent::AuthorizationDecided { approved, .. } => {
            log::info!("plan of the attempt decided approved={approved}");
        }
        RunEvent::AttemptEnded { record } => {
            log::info!("attempt ended attempt={}", record.attempt);
        }
        RunEvent::LoopEnded { stop_reason } => {
            log::info!("loop ended reason={}", stop_reason.code.as_str());
        }
        _ => {}
    }
}

fn of_step(result: &StepResult) -> String {
    let StepResult { step_index, outcome, duration_ms, .. } = result;
    let code = result.error_code.map_or_else(|| "none".to_owned(), |code| code.to_string());
    format!("step={step_index} outcome={} code={code} ms={duration_ms}", outcome.as_str())
}
