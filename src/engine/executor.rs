//! The synchronous step runner (SPEC §3). It runs steps in plan order, one at a time, and stops at the first failure.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::control::Boundary;
use super::run::Run;
use super::runnable::Runnable;
use super::step::{StepRun, run_on_fleet};
use super::{
    ControlHandle, ExecutionError, ExecutorDeps, ExecutorState, Journal, NotRecorded,
    ProgressCallback, Signer,
};
use crate::authorization::{ApprovedPlan, PlanAuthorization};
use crate::evidence::{
    ControlRecord, Entry, EvidenceError, EvidenceStore, RevisionRecord, RunEnd, RunStart,
};
use crate::plan::{Mode, Plan};
use crate::run::{Control, ExecutionResult, Outcome, RunEnding, RunEvent, StopSignal};

/// Runs approved plans, one at a time, on the caller's thread.
pub struct Executor {
    journal: Journal,
    deps: ExecutorDeps,
    plan_file: Option<PathBuf>,
    cut_off_in: Option<usize>,
}

impl Executor {
    /// An executor that writes to this evidence.
    pub fn new(store: EvidenceStore, deps: ExecutorDeps) -> Self {
        let (control, progress) = (deps.control.clone(), Arc::clone(&deps.progress));
        let journal = Journal::new(store, Arc::new(FollowState { control, progress }));
        Self { journal, deps, plan_file: None, cut_off_in: None }
    }

    /// Sets the file from which the plan was read. No step of the run may write that file from behind walls (SPEC
    /// §7.5).
    #[must_use]
    pub fn with_plan_file(self, file: Option<PathBuf>) -> Self {
        Self { plan_file: file, ..self }
    }

    /// Cuts the run off in this step, counted from 0, as a power cut would: [`super::CutOff`] unwinds when the tool has returned
    /// and before anything of that is recorded. The evidence then has a step whose outcome nobody knows. For the tour,
    /// which shows what to do about that.
    #[must_use]
    pub fn cut_off_in(self, step_index: Option<usize>) -> Self {
        Self { cut_off_in: step_index, ..self }
    }

    /// The journal, for events that callers send between runs.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The journal, for entries that callers record between runs.
    pub fn journal_mut(&mut self) -> &mut Journal {
        &mut self.journal
    }

    /// Returns the evidence store.
    pub fn into_store(self) -> EvidenceStore {
        self.journal.store
    }

    /// Records a decision about a plan; an approval with its signature, if the settings ask for one.
    ///
    /// # Errors
    /// When it is not signed or cannot be recorded. Then nothing of it is recorded.
    pub fn record_authorization(
        &mut self,
        authorization: &PlanAuthorization,
        plan: &Plan,
        revision: Option<&RevisionRecord<'_>>,
    ) -> Result<(), NotRecorded> {
        let workspace = PathBuf::from(&authorization.binding.workspace);
        let signer = signer(&self.deps, &workspace, self.deps.control.stop_signal());
        signer.record(&mut self.journal.store, authorization, plan, revision)
    }

    /// Runs an approved plan to its end.
    ///
    /// # Errors
    /// When the plan is refused or its host cannot be used, so that nothing ran; E401 when the evidence could not be
    /// read or written.
    pub fn execute(&mut self, approved: ApprovedPlan) -> Result<ExecutionResult, ExecutionError> {
        self.deps.control.change_state(|state| *state = ExecutorState::PlanLoaded);
        let runnable = self.prepare(approved).inspect_err(|_| {
            self.deps.control.end_guided_mode();
            self.deps.control.change_state(|state| *state = ExecutorState::Idle);
        })?;
        let mut outcome = self.run(&runnable);
        if let Ok(result) = &mut outcome {
            // A run that was stopped has an end to sign, too.
            let stop = StopSignal::default();
            let signer = signer(&self.deps, runnable.toolbox.workspace(), &stop);
            let signed = signer.record_end(&mut self.journal.store, result.run_id);
            result.not_signed = signed.err().map(|error| error.failure().message);
        }
        self.deps.control.end_guided_mode();
        outcome.inspect_err(|error| {
            // This event is sent but not recorded: the evidence cannot be written, or nothing ran.
            let (code, message) = (error.code(), error.to_string());
            self.journal.send(&RunEvent::RunFailed { code, message });
        })
    }

    /// Checks the plan and connects to its host.
    fn prepare(&mut self, approved: ApprovedPlan) -> Result<Runnable, ExecutionError> {
        // A person may have revoked trust since the plan was approved.
        let policy = &mut self.deps.policy;
        policy.trusted_commands =
            self.journal.store.trusted_commands().map_err(ExecutionError::before_run)?;
        // The approval contains the grants and the choices. The walls that follow from them are compared with the
        // approved walls.
        policy.grants = approved.authorization.binding.grants.clone();
        policy.choices = approved.authorization.binding.choices;
        let mut runnable = Runnable::new(approved, policy, &self.journal.store, &*self.deps.clock)?;
        runnable.toolbox = runnable.toolbox.for_plan(self.plan_file.clone());
        runnable.connect(policy, self.deps.secrets.clone(), self.deps.control.stop_signal())?;
        Ok(runnable)
    }

    fn run(&mut self, runnable: &Runnable) -> Result<ExecutionResult, ExecutionError> {
        let mut run = Run::new(runnable, &self.deps, &mut self.journal);
        run.cut_off_in = self.cut_off_in;
        let started_ms = run.deps.clock.monotonic_ms();
        run.begin().map_err(|error| match error {
            // Another process consumed the authorization; nothing ran here.
            EvidenceError::AuthorizationUsed { .. } => {
                ExecutionError::NotAuthorized { reason: error.to_string() }
            }
            error => run.store_error(error),
        })?;
        let ending = match &runnable.fleet {
            Some(fleet) => run_on_fleet(&mut run, fleet),
            None => run.steps(),
        };
        let ended = ending.and_then(|ending| run.end(&ending, started_ms));
        ended.map_err(|error| run.store_error(error))
    }
}

/// What the executor signs with.
fn signer<'a>(deps: &'a ExecutorDeps, workspace: &'a Path, stop: &'a StopSignal) -> Signer<'a> {
    Signer {
        signing: deps.policy.signing.as_ref(),
        workspace: Some(workspace),
        ask: deps.passphrase.as_ref(),
        stop,
        clock: &*deps.clock,
        reviews: &deps.policy.review_signatures,
    }
}

/// Follows the events of an executor before it passes them on, so that whoever gets an event finds the state after it.
struct FollowState {
    control: ControlHandle,
    progress: Arc<dyn ProgressCallback>,
}

impl ProgressCallback for FollowState {
    fn on_event(&self, event: &RunEvent) {
        self.control.change_state(|state| state.apply(event));
        self.progress.on_event(event);
    }
}

impl Run<'_> {
    /// Records the start of the run, which consumes the authorization.
    fn begin(&mut self) -> Result<(), EvidenceError> {
        let started_at_ms = self.clock.now_ms();
        self.journal.commit(&Entry::RunStart(RunStart {
            run_id: self.run_id,
            plan: &self.runnable.plan,
            secret_inputs: &self.deps.policy.secret_inputs,
            authorization: &self.runnable.authorization,
            reached: self.runnable.toolbox.host(),
            fleet: self.runnable.fleet.as_ref(),
            started_at_ms,
        }))
    }

    /// Runs the steps until the last one, a failure, or a request to end the run.
    fn steps(&mut self) -> Result<RunEnding, EvidenceError> {
        let runnable = self.runnable;
        for (step, walls) in runnable.plan.steps.iter().zip(&runnable.walls) {
            if let Some(control) = self.wait_at_boundary()? {
                return Ok(RunEnding::Cancelled(control));
            }
            let (result, failure) = StepRun { run: self, step, walls: walls.as_ref() }.execute()?;
            let outcome = result.outcome;
            self.outcomes.insert(step.step_id.clone(), outcome);
            self.results.push(result);
            let ending = match failure {
                _ if outcome == Outcome::Cancelled => RunEnding::Cancelled(Control::StopNow),
                Some(failure) => RunEnding::Failed(failure),
                None => continue,
            };
            self.record_controls()?;
            return Ok(ending);
        }
        self.record_controls()?;
        // A request during the last step still determines how the run is recorded as ended.
        Ok(match self.deps.control.boundary() {
            Boundary::End(control) => RunEnding::Cancelled(control),
            Boundary::Pause | Boundary::Continue => RunEnding::Completed,
        })
    }

    /// Records the requested controls and waits while the run is paused. Returns the control by which the run ends,
    /// if any.
    pub(super) fn wait_at_boundary(&mut self) -> Result<Option<Control>, EvidenceError> {
        let mut paused = false;
        loop {
            self.record_controls()?;
            match self.deps.control.boundary() {
                Boundary::End(control) => return Ok(Some(control)),
                Boundary::Continue => {
                    if paused {
                        self.journal.send(&RunEvent::Resumed);
                    }
                    if self.deps.control.is_guided() {
                        self.mode = Mode::Guided;
                    }
                    return Ok(None);
                }
                Boundary::Pause => {
                    if !paused {
                        self.journal.flush()?;
                        self.journal.send(&RunEvent::Paused);
                        paused = true;
                    }
                    self.deps.control.wait_for_request();
                }
            }
        }
    }

    pub(super) fn record_controls(&mut self) -> Result<(), EvidenceError> {
        for (control, by) in self.deps.control.take_unrecorded() {
            let (run_id, timestamp_ms) = (self.run_id, self.clock.now_ms());
            let control = ControlRecord { run_id, control, by, timestamp_ms };
            self.journal.commit(&Entry::Control(control))?;
        }
        Ok(())
    }

    /// Ends the processes that steps left running, and records the end of the run.
    fn end(
        &mut self,
        ending: &RunEnding,
        started_ms: i64,
    ) -> Result<ExecutionResult, EvidenceError> {
        let total_duration_ms = self.results.iter().map(|result| result.duration_ms).sum();
        let elapsed_ms = self.deps.clock.monotonic_ms() - started_ms;
        let left_running = self.runnable.toolbox.walls().end();
        let timestamp_ms = self.clock.now_ms();
        self.journal.commit(&Entry::RunEnd(RunEnd {
            run_id: self.run_id,
            ending,
            completed_steps: self.results.len(),
            total_duration_ms,
            elapsed_ms,
            left_running: &left_running,
            clock_set_back: self.clock.set_back,
            timestamp_ms,
        }))?;
        Ok(ExecutionResult {
            run_id: self.run_id,
            plan_id: self.runnable.plan.plan_id.clone(),
            status: ending.status(),
            step_results: std::mem::take(&mut self.results),
            host_results: std::mem::take(&mut self.host_results),
            total_duration_ms,
            elapsed_ms,
            not_signed: None,
        })
    }
}

#[cfg(test)]
mod tests;
