//! Records what hosts report, while they report it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use uuid::Uuid;

use super::super::super::run::Run;
use crate::evidence::{Entry, EvidenceError, ExecutionRecord};
use crate::plan::Step;
use crate::remote::fleet::{FleetEvent, FleetReceiver, HostEnded, timeout_of};
use crate::risk::Verdict;
use crate::run::{Control, FleetReview, HostResult, Outcome, RunEvent, StepResult, StreamExcerpt};

/// What is known of the hosts of one step.
#[derive(Debug, Default, Clone)]
pub(super) struct HostsOfStep {
    pub(super) started_at_ms: Option<i64>,
    began_ms: i64,
    ended_ms: i64,
    /// The hosts on which the step has begun and not ended.
    pub(super) under_way: BTreeSet<usize>,
    /// The hosts with a result.
    pub(super) done: BTreeSet<usize>,
}

impl HostsOfStep {
    /// Whether the step has begun on any host.
    pub(super) const fn has_begun(&self) -> bool {
        self.started_at_ms.is_some()
    }

    /// The time from the first begin to the last end.
    pub(super) const fn duration_ms(&self) -> i64 {
        self.ended_ms.saturating_sub(self.began_ms)
    }
}

/// Everything that was received.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) steps: Vec<HostsOfStep>,
    pub(super) results: Vec<HostResult>,
    /// The hosts on which a step failed.
    pub(super) failed: BTreeSet<usize>,
    /// The control by which the run ends.
    pub(super) control: Option<Control>,
    /// What is wrong with ansible itself.
    pub(super) fault: Option<String>,
}

impl Received {
    pub(super) fn has_begun(&self) -> bool {
        self.steps.iter().any(HostsOfStep::has_begun)
    }
}

struct State<'r, 'a> {
    run: &'r mut Run<'a>,
    received: Received,
    error: Option<EvidenceError>,
}

/// Receives the events of a run.
pub(super) struct Receiver<'r, 'a> {
    fleet: &'r FleetReview,
    verdicts: Vec<Verdict>,
    state: RefCell<State<'r, 'a>>,
}

impl<'r, 'a> Receiver<'r, 'a> {
    pub(super) fn new(
        run: &'r mut Run<'a>,
        fleet: &'r FleetReview,
        verdicts: Vec<Verdict>,
    ) -> Self {
        let received = Received {
            steps: vec![HostsOfStep::default(); run.runnable.plan.steps.len()],
            results: Vec::new(),
            failed: BTreeSet::new(),
            control: None,
            fault: None,
        };
        Self { fleet, verdicts, state: RefCell::new(State { run, received, error: None }) }
    }

    /// What was received.
    ///
    /// # Errors
    /// The evidence could not be written.
    pub(super) fn into_received(self) -> Result<Received, EvidenceError> {
        let State { received, error, .. } = self.state.into_inner();
        error.map_or(Ok(received), Err)
    }
}

impl FleetReceiver for Receiver<'_, '_> {
    fn on_event(&self, event: FleetEvent) -> bool {
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        match self.take(event, state) {
            Ok(goes_on) => goes_on,
            Err(error) => {
                state.error = Some(error);
                false
            }
        }
    }
}

impl Receiver<'_, '_> {
    fn take(&self, event: FleetEvent, state: &mut State<'_, '_>) -> Result<bool, EvidenceError> {
        let State { run, received, .. } = state;
        let runnable = run.runnable;
        let now_ms = run.deps.clock.monotonic_ms();
        match event {
            FleetEvent::Began { ansible } => {
                let is_same = ansible == self.fleet.ansible_version;
                received.fault = (!is_same).then(|| {
                    let approved = &self.fleet.ansible_version;
                    format!("ansible-core {ansible} runs, and {approved} was authorized")
                });
                Ok(is_same)
            }
            FleetEvent::Task { step_index } => {
                if let Some(control) = run.wait_at_boundary()? {
                    received.control = Some(control);
                    return Ok(false);
                }
                let (Some(step), Some(of_step)) =
                    (runnable.plan.steps.get(step_index), received.steps.get_mut(step_index))
                else {
                    return Ok(false);
                };
                if of_step.started_at_ms.is_none() {
                    let timestamp_ms = run.clock.now_ms();
                    of_step.started_at_ms = Some(timestamp_ms);
                    of_step.began_ms = now_ms;
                    of_step.ended_ms = now_ms;
                    run.journal.send(&RunEvent::StepStarted {
                        step_id: step.step_id.clone(),
                        step_index,
                        tool_name: step.tool_name.clone(),
                        about: step.call.headline().1,
                        timestamp_ms,
                    });
                }
                Ok(true)
            }
            FleetEvent::Started { host, step_index } => {
                if let (Some(name), Some(of_step)) =
                    (self.fleet.hosts.get(host), received.steps.get_mut(step_index))
                {
                    of_step.under_way.insert(host);
                    run.journal.send(&RunEvent::HostStarted { host: name.to_string(), step_index });
                }
                Ok(true)
            }
            FleetEvent::Ended(ended) => {
                if let Some(of_step) = received.steps.get_mut(ended.step_index) {
                    of_step.under_way.remove(&ended.host);
                    of_step.done.insert(ended.host);
                    of_step.ended_ms = now_ms;
                }
                self.ended(&ended, run, received)?;
                Ok(true)
            }
        }
    }

    fn ended(
        &self,
        ended: &HostEnded,
        run: &mut Run<'_>,
        received: &mut Received,
    ) -> Result<(), EvidenceError> {
        let steps = &run.runnable.plan.steps;
        let (Some(host), Some(step), Some(verdict)) = (
            self.fleet.hosts.get(ended.host),
            steps.get(ended.step_index),
            self.verdicts.get(ended.step_index),
        ) else {
            return Ok(());
        };
        let error = ended.end.error(timeout_of(&step.call));
        if error.is_some() {
            received.failed.insert(ended.host);
        }
        let outcome = if error.is_some() { Outcome::Failed } else { Outcome::Succeeded };
        let (error_code, error_message) = error.unzip();
        let result = HostResult {
            host: host.to_string(),
            step_id: step.step_id.clone(),
            step_index: step.step_index,
            execution_id: Uuid::new_v4(),
            outcome,
            may_have_run: ended.end.may_have_run(),
            exit_code: ended.end.exit_code(),
            error_code,
            error_message,
            output: String::new(),
            output_bytes: 0,
            group: String::new(),
            timestamp_ms: run.clock.now_ms() - ended.duration_ms,
            duration_ms: ended.duration_ms,
        };
        let outputs = [ended.stdout.as_slice(), &ended.stderr];
        let [stdout, stderr] = outputs.map(|it| StreamExcerpt::of(&step.tool_name, it));
        let result = result.printing(&stdout, &stderr);
        record_host(run, (step, verdict), &result, Some(outputs))?;
        received.results.push(result);
        Ok(())
    }
}

/// Records the execution of a step on one host.
pub(super) fn record_host(
    run: &mut Run<'_>,
    (step, verdict): (&Step, &Verdict),
    host: &HostResult,
    outputs: Option<[&[u8]; 2]>,
) -> Result<(), EvidenceError> {
    let [stdout, stderr] = match outputs {
        Some([stdout, stderr]) => [Some(stdout), Some(stderr)],
        None => [None, None],
    };
    let result = StepResult {
        step_id: step.step_id.clone(),
        step_index: step.step_index,
        tool_name: step.tool_name.clone(),
        success: host.outcome == Outcome::Succeeded,
        outcome: host.outcome,
        execution_id: host.execution_id,
        exit_code: host.exit_code,
        terminal: false,
        stdout: None,
        stdout_bytes: 0,
        stdout_truncated: false,
        stderr: None,
        stderr_bytes: 0,
        stderr_truncated: false,
        error_message: host.error_message.clone(),
        error_code: host.error_code,
        refused: false,
        next: None,
        note: String::new(),
        timestamp_ms: host.timestamp_ms,
        duration_ms: host.duration_ms,
        diagnostic_artifacts: Vec::new(),
        needs: None,
        walls: None,
        wall_notes: Vec::new(),
        refused_write: None,
    };
    let record = ExecutionRecord {
        result: &result,
        run_id: run.run_id,
        plan: &run.runnable.plan,
        step,
        risk: verdict,
        policy: run.runnable.authorization.binding.policy,
        host: Some(&host.host),
        walls: None,
        invoked: host.may_have_run,
        stdout,
        stderr,
        captured: None,
        result_json: &serde_json::Value::Null,
        artifacts: &[],
        files: &[],
        predicted: &[],
        edges: &[],
        decision: None,
    };
    run.journal.commit(&Entry::HostExecution(record, host))
}
