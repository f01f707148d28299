//! Runs a plan on several hosts (SPEC §14): all questions first, then one intent for each step, then ansible, and one
//! execution for each step on each host.
//!
//! The steps cannot be run one after the other, because a batch of hosts goes through all of them before the next begins.
//! So the questions are asked before anything runs. The execution of a step itself has the summary of its hosts, and is
//! recorded when all batches have ended.

mod ending;
mod receiver;

use uuid::Uuid;

use self::ending::{HostError, record_hosts_without_result, summary};
use self::receiver::{HostsOfStep, Receiver};
use super::StepRun;
use super::context::StepProgress;
use crate::engine::ExecutionError;
use crate::engine::run::Run;
use crate::evidence::EvidenceError;
use crate::plan::Step;
use crate::process::Cause;
use crate::remote::RemoteError;
use crate::remote::fleet;
use crate::risk::Verdict;
use crate::run::{Control, Failure, FleetReview, Outcome, RunEnding};
use crate::tools::CallResult;

/// A step of the plan, after the questions.
struct Prepared<'a> {
    step: &'a Step,
    verdict: Verdict,
    progress: StepProgress,
    /// How the step ended without running, if it did.
    end: Option<(Outcome, Option<ExecutionError>)>,
}

/// Runs the steps of the plan on its hosts.
///
/// # Errors
/// Only when the evidence cannot be written.
pub(in crate::engine) fn run_on_fleet(
    run: &mut Run<'_>,
    fleet: &FleetReview,
) -> Result<RunEnding, EvidenceError> {
    let mut steps = match prepare(run)? {
        Ok(steps) => steps,
        Err(ending) => return Ok(ending),
    };
    for prepared in steps.iter_mut().filter(|prepared| prepared.end.is_none()) {
        let Prepared { step, verdict, progress, .. } = prepared;
        StepRun { run, step, walls: None }.commit_intent(verdict, progress)?;
    }
    let skipped: Vec<usize> =
        steps.iter().filter(|it| it.end.is_some()).map(|it| it.step.step_index).collect();
    let (plan, stop) = (&run.runnable.plan, run.deps.control.stop_signal());
    let verdicts = steps.iter().map(|prepared| prepared.verdict.clone()).collect();
    let receiver = Receiver::new(run, fleet, verdicts);
    // Nothing is left to run if a person has skipped every step.
    let ended = match skipped.len() == plan.steps.len() {
        true => None,
        false => Some(fleet::run(plan, fleet, &skipped, stop, &receiver)),
    };
    let mut received = receiver.into_received()?;
    let is_stopped = matches!(&ended, Some(Ok(end)) if end.cause == Some(Cause::Stopped))
        || received.control == Some(Control::StopNow);
    let fault = match ended {
        None => None,
        Some(Err(error)) => Some(error),
        Some(Ok(end)) => {
            let fault = end.fault.map(|fault| format!("a report is not understood: {fault}"));
            // ansible ends before the first step if it cannot read what it was given.
            let silent = !received.has_begun() && !is_stopped && received.control.is_none();
            let fault = fault.or(received.fault.take()).or(silent.then_some(end.messages));
            fault.map(|messages| RemoteError::Ansible { messages })
        }
    };
    let why = match () {
        () if is_stopped => HostError::Stopped,
        () if received.control.is_some() => HostError::Ended,
        () if fault.is_some() => HostError::Broken,
        () => HostError::Limit,
    };
    record_hosts_without_result(run, fleet, &mut received, &steps_of(&steps), why)?;
    run.host_results.append(&mut received.results);
    let failure = record(run, fleet, steps, &received.steps, fault, is_stopped)?;
    run.record_controls()?;
    Ok(match (received.control, failure) {
        _ if is_stopped => RunEnding::Cancelled(Control::StopNow),
        (Some(control), _) => RunEnding::Cancelled(control),
        (None, Some(failure)) => RunEnding::Failed(failure),
        (None, None) => RunEnding::Completed,
    })
}

/// The steps with the ids and risks that records of hosts need.
fn steps_of<'a>(steps: &[Prepared<'a>]) -> Vec<(&'a Step, Verdict)> {
    steps.iter().map(|prepared| (prepared.step, prepared.verdict.clone())).collect()
}

/// Checks all steps and asks a person where needed. Returns how the run ends if it does not begin on any host.
fn prepare<'a>(run: &mut Run<'a>) -> Result<Result<Vec<Prepared<'a>>, RunEnding>, EvidenceError> {
    let mut steps: Vec<Prepared<'a>> = Vec::new();
    let plan = &run.runnable.plan;
    let mut ending = None;
    for step in &plan.steps {
        if let Some(control) = run.wait_at_boundary()? {
            ending = Some(RunEnding::Cancelled(control));
            break;
        }
        let timestamp_ms = run.clock.now_ms();
        let mut progress =
            StepProgress { execution_id: Uuid::new_v4(), timestamp_ms, ..StepProgress::default() };
        let mut step_run = StepRun { run, step, walls: None };
        let verdict = step_run.verdict();
        let end = step_run.check(&verdict, &mut progress, true)?;
        if let Some((outcome, error)) = &end {
            run.outcomes.insert(step.step_id.clone(), *outcome);
            let failure = error.as_ref().map(ExecutionError::failure);
            ending = match failure {
                _ if *outcome == Outcome::Cancelled => Some(RunEnding::Cancelled(Control::StopNow)),
                failure => failure.map(RunEnding::Failed),
            };
        }
        steps.push(Prepared { step, verdict, progress, end });
        if ending.is_some() {
            break;
        }
    }
    let Some(ending) = ending else { return Ok(Ok(steps)) };
    // The answers so far are recorded with steps that did not run.
    for prepared in steps {
        let Prepared { step, verdict, progress, end } = prepared;
        let (outcome, error) = end.unwrap_or((Outcome::Cancelled, None));
        let step_run = StepRun { run, step, walls: None };
        let (result, _) = step_run.record(&verdict, progress, outcome, error)?;
        run.results.push(result);
    }
    run.record_controls()?;
    Ok(Err(ending))
}

/// Records the steps themselves. Returns the first failure.
fn record(
    run: &mut Run<'_>,
    fleet: &FleetReview,
    steps: Vec<Prepared<'_>>,
    hosts: &[HostsOfStep],
    mut fault: Option<RemoteError>,
    is_stopped: bool,
) -> Result<Option<Failure>, EvidenceError> {
    let mut first_failure = None;
    for (prepared, of_step) in steps.into_iter().zip(hosts) {
        let Prepared { step, verdict, mut progress, end } = prepared;
        let (outcome, error) = match end {
            Some(end) => end,
            None => {
                let results = run.host_results.iter();
                let results = results.filter(|it| it.step_index == step.step_index);
                let summary = summary(results, fleet);
                progress.timestamp_ms = of_step.started_at_ms.unwrap_or(progress.timestamp_ms);
                progress.duration_ms = of_step.duration_ms();
                if of_step.has_begun() {
                    progress.invocation = Some(CallResult {
                        stdout: Some(summary.text.into_bytes()),
                        result: summary.result,
                        ..CallResult::default()
                    });
                }
                match summary.failure {
                    // ansible broke before any step: the first one says why.
                    _ if fault.is_some() => (
                        Outcome::Failed,
                        fault.take().map(|error| ExecutionError::Tool(error.into())),
                    ),
                    _ if !of_step.has_begun() => (Outcome::Cancelled, None),
                    None => (Outcome::Succeeded, None),
                    Some(_) if is_stopped && summary.is_incomplete => {
                        (Outcome::Cancelled, Some(ExecutionError::Cancelled))
                    }
                    Some((code, message)) => {
                        let error = RemoteError::OnHosts { code, message };
                        (Outcome::Failed, Some(ExecutionError::Tool(error.into())))
                    }
                }
            }
        };
        run.outcomes.insert(step.step_id.clone(), outcome);
        let step_run = StepRun { run, step, walls: None };
        let (result, failure) = step_run.record(&verdict, progress, outcome, error)?;
        run.results.push(result);
        if outcome == Outcome::Failed && first_failure.is_none() {
            first_failure = failure;
        }
    }
    Ok(first_failure)
}
