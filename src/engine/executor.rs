//! The synchronous step runner (SPEC §3): steps in plan order, one at a time, stop at the first
//! failure.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use uuid::Uuid;

use super::callbacks::{ConfirmationCallback, ProgressCallback};
use super::clock::{Clock, RunClock};
use super::control::{Boundary, ControlHandle};
use super::error::ExecutionError;
use super::finish;
use super::machine::ExecutorState;
use super::runnable::Runnable;
use super::step::{Ended, StepRun};
use crate::authorization::{ApprovedPlan, FileState};
use crate::evidence::{Decided, EvidenceError, EvidenceStore, NewDecision, RunStart};
use crate::plan::Mode;
use crate::risk::Policy;
use crate::run::{AnsweredBy, Control, ExecutionResult, Outcome, RunEvent, RunStatus, StepResult};

/// What an executor is made of.
pub struct Parts {
    /// What the person has settled in advance.
    pub policy: Policy,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Asks a person.
    pub confirmation: Box<dyn ConfirmationCallback>,
    /// Hears what happens.
    pub progress: Box<dyn ProgressCallback>,
    /// Pause, resume, cancel and stop.
    pub control: ControlHandle,
}

/// Runs approved plans, one at a time, on the caller's thread.
pub struct Executor {
    pub(super) store: EvidenceStore,
    pub(super) parts: Parts,
    state: ExecutorState,
    plan_file: Option<PathBuf>,
}

/// What stays true through one run.
pub(super) struct Run<'a> {
    pub(super) run_id: Uuid,
    pub(super) runnable: &'a Runnable,
    pub(super) clock: RunClock<'a>,
    /// What each input file must be: its approved state, or what an earlier step recorded.
    pub(super) expected: BTreeMap<String, FileState>,
    /// What commands of this run made of those files, which nobody has looked at since.
    pub(super) changed: BTreeMap<String, FileState>,
    pub(super) outcomes: HashMap<String, Outcome>,
    /// As approved, or guided since a step boundary at which a person wanted it so.
    pub(super) mode: Mode,
    /// What a tool did and the evidence did not take in.
    pub(super) not_recorded: Option<Box<StepResult>>,
}

impl<'a> Run<'a> {
    fn new(runnable: &'a Runnable, clock: &'a dyn Clock) -> Self {
        Self {
            run_id: Uuid::new_v4(),
            runnable,
            clock: RunClock::start(clock),
            expected: runnable.authorization.binding.inputs.clone(),
            changed: BTreeMap::new(),
            outcomes: HashMap::new(),
            mode: runnable.authorization.binding.mode,
            not_recorded: None,
        }
    }
}

impl Executor {
    /// An executor that writes to this evidence.
    pub fn new(store: EvidenceStore, parts: Parts) -> Self {
        Self { store, parts, state: ExecutorState::Idle, plan_file: None }
    }

    /// The same executor for a plan that was read from this file, which nothing of its run writes behind walls
    /// (SPEC §7.5).
    #[must_use]
    pub fn of_plan(self, file: Option<PathBuf>) -> Self {
        Self { plan_file: file, ..self }
    }

    /// Where it stands.
    pub fn state(&self) -> &ExecutorState {
        &self.state
    }

    /// The evidence that it writes to, for who records around its runs.
    pub fn store(&mut self) -> &mut EvidenceStore {
        &mut self.store
    }

    /// Who hears what happens, for who tells what happens around its runs.
    pub fn progress(&self) -> &dyn ProgressCallback {
        &*self.parts.progress
    }

    /// Gives the evidence back.
    pub fn into_store(self) -> EvidenceStore {
        self.store
    }

    /// Runs an approved plan to its end.
    ///
    /// # Errors
    /// E001–E004 and E201–E204 when nothing ran; E401 when the evidence could not be written.
    pub fn execute(&mut self, approved: ApprovedPlan) -> Result<ExecutionResult, ExecutionError> {
        self.state = ExecutorState::PlanLoaded { plan_id: approved.plan.plan_id.clone() };
        let clock = Arc::clone(&self.parts.clock);
        // What is trusted may have been taken back since the plan was approved.
        self.parts.policy.trusted_commands = self.store.trusted_commands().map_err(|source| {
            self.state = ExecutorState::Idle;
            unreadable(source)
        })?;
        // What was granted stands in the approval, and what comes of it is compared with what was shown.
        self.parts.policy.grants = approved.authorization.binding.grants.clone();
        let policy = &self.parts.policy;
        let runnable = Runnable::new(approved, policy, &self.store, &*clock);
        let connected = runnable.and_then(|mut runnable| {
            runnable.toolbox = runnable.toolbox.of_plan(self.plan_file.clone());
            runnable.connect(policy, self.parts.control.stop_signal())?;
            Ok(runnable)
        });
        let runnable = connected.inspect_err(|_| self.state = ExecutorState::Idle)?;
        let mut run = Run::new(&runnable, &*clock);
        let mut results = Vec::with_capacity(runnable.plan.steps.len());
        let outcome = self.run(&mut run, &mut results);
        self.parts.control.forget_guidance();
        if let Err(error) = &outcome {
            self.emit(&RunEvent::RunFailed { code: error.code(), message: error.to_string() });
            self.state = ExecutorState::Ended { status: RunStatus::Failed, completed: results };
        }
        outcome
    }

    fn run(
        &mut self,
        run: &mut Run<'_>,
        results: &mut Vec<StepResult>,
    ) -> Result<ExecutionResult, ExecutionError> {
        let started_at_ms = run.clock.now_ms();
        let started_ms = run.clock.monotonic_ms();
        let begun = self.store.begin_run(&RunStart {
            run_id: run.run_id,
            plan: &run.runnable.plan,
            authorization: &run.runnable.authorization,
            started_at_ms,
            parent_run: run.runnable.authorization.parent_run,
        });
        match begun {
            Ok(()) => {}
            // Another program was faster; nothing ran here.
            Err(error @ EvidenceError::AuthorizationUsed { .. }) => {
                return Err(ExecutionError::NotAuthorized { reason: error.to_string() });
            }
            Err(error) => return Err(store_failed(run, results, error)),
        }
        self.emit(&RunEvent::RunStarted {
            run_id: run.run_id,
            plan_id: run.runnable.plan.plan_id.clone(),
            step_count: run.runnable.plan.steps.len(),
            timestamp_ms: started_at_ms,
        });
        if let Some(host) = run.runnable.toolbox.host() {
            self.emit(&RunEvent::HostReached { host: Box::new(host.clone()) });
        }
        let end = self.steps(run, results).map_err(|error| store_failed(run, results, error))?;
        let finished = finish::finish(self, run, &end, results, started_ms)
            .map_err(|error| store_failed(run, results, error))?;
        self.state =
            ExecutorState::Ended { status: finished.status, completed: std::mem::take(results) };
        Ok(finished)
    }

    /// Runs steps until the plan, a failure or a person ends it.
    fn steps(
        &mut self,
        run: &mut Run<'_>,
        results: &mut Vec<StepResult>,
    ) -> Result<Ended, EvidenceError> {
        let runnable = run.runnable;
        for step in &runnable.plan.steps {
            if let Some(control) = self.wait_at_boundary(run)? {
                return Ok(Ended::ByPerson(control));
            }
            // Moved there and back, because copying all earlier results at each step would make a
            // long plan take the square of its length.
            self.state = ExecutorState::StepInProgress {
                current_step: step.step_index,
                completed: std::mem::take(results),
            };
            let ran = StepRun { executor: self, run, step }.execute();
            if let ExecutorState::StepInProgress { completed, .. } = &mut self.state {
                *results = std::mem::take(completed);
            }
            let (result, failure) = ran?;
            run.outcomes.insert(step.step_id.clone(), result.outcome);
            let outcome = result.outcome;
            results.push(result);
            match (outcome, failure) {
                (Outcome::Cancelled, _) => {
                    self.record_controls(run)?;
                    return Ok(Ended::ByPerson(Control::StopNow));
                }
                (_, Some(failure)) => {
                    self.record_controls(run)?;
                    return Ok(Ended::Failed(failure));
                }
                _ => {}
            }
        }
        self.record_controls(run)?;
        // Asked for during the last step, it still is what the person wanted to be told.
        Ok(match self.parts.control.boundary() {
            Boundary::End(control) => Ended::ByPerson(control),
            Boundary::Pause | Boundary::GoOn => Ended::Completed,
        })
    }

    /// Records what was asked for, waits while paused, and says when the run is to end.
    fn wait_at_boundary(&mut self, run: &mut Run<'_>) -> Result<Option<Control>, EvidenceError> {
        let mut paused = false;
        loop {
            self.record_controls(run)?;
            match self.parts.control.boundary() {
                Boundary::End(control) => return Ok(Some(control)),
                Boundary::GoOn => {
                    if paused {
                        self.emit(&RunEvent::Resumed);
                    }
                    if self.parts.control.is_guided() {
                        run.mode = Mode::Guided;
                    }
                    return Ok(None);
                }
                Boundary::Pause => {
                    if !paused {
                        self.emit(&RunEvent::Paused);
                        paused = true;
                    }
                    self.parts.control.wait_for_request();
                }
            }
        }
    }

    fn record_controls(&mut self, run: &mut Run<'_>) -> Result<(), EvidenceError> {
        for (control, by) in self.parts.control.take_unrecorded() {
            self.record_control(run, control, by)?;
        }
        Ok(())
    }

    fn record_control(
        &mut self,
        run: &mut Run<'_>,
        control: Control,
        by: AnsweredBy,
    ) -> Result<(), EvidenceError> {
        let decision = NewDecision {
            decided: Decided::Control(control),
            by,
            note: "",
            timestamp_ms: run.clock.now_ms(),
            request: None,
        };
        self.store.record_decision(run.run_id, &decision)?;
        self.emit(&RunEvent::ControlRequested { control });
        Ok(())
    }

    pub(super) fn emit(&self, event: &RunEvent) {
        self.parts.progress.on_event(event);
    }
}

/// The evidence could not be read before anything ran.
fn unreadable(source: EvidenceError) -> ExecutionError {
    ExecutionError::EvidenceStore {
        run_id: Uuid::nil(),
        step_results: Vec::new(),
        not_recorded: None,
        source: Box::new(source),
    }
}

fn store_failed(
    run: &mut Run<'_>,
    results: &[StepResult],
    source: EvidenceError,
) -> ExecutionError {
    ExecutionError::EvidenceStore {
        run_id: run.run_id,
        step_results: results.to_vec(),
        not_recorded: run.not_recorded.take(),
        source: Box::new(source),
    }
}

#[cfg(test)]
mod tests;
