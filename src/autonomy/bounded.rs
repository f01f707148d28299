//! The loop from its first record to its last (SPEC §10).

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use uuid::Uuid;

use super::attempts::{AttemptEnding, CurrentAttempt, PastAttempt};
use super::planner::needs_with_looks;
use super::words::{DenialWords, KeepsWords};
use super::{LoopDeps, LoopOutcome, LoopSetup, PlanAuthorizer, UnsignedEnd};
use crate::authorization::{AuthorizationClass, FileState, StepWalls};
use crate::engine::{
    Clock, ControlHandle, Executor, ExecutorDeps, HostFacts, Journal, planner_walls,
};
use crate::evidence::{AttemptEnd, Entry, EvidenceError, LoopEnd, LoopStart, Redactor};
use crate::plan::{COMMANDS_FILE, VerifyScope};
use crate::risk::Policy;
use crate::run::text::panic_message;
use crate::run::{
    Failure, Happened, RunEvent, StopCode, StopDetail, StopReason, Transition, transition,
};
use crate::tools::{ToolError, Toolbox, Unsupported};

/// A running loop.
pub struct BoundedLoop<'a> {
    pub(super) setup: &'a LoopSetup,
    pub(super) loop_id: Uuid,
    /// The class of the order with its id, once it is recorded.
    pub(super) class: Option<(Uuid, &'a AuthorizationClass)>,
    /// The limit of attempts, at least 1.
    pub(super) max_attempts: u32,
    pub(super) toolbox: Toolbox,
    /// The tools with which a planner looks.
    pub(super) look_toolbox: Toolbox,
    /// The state of the commands file when the loop began; `None` if it could not be read.
    pub(super) commands: Option<FileState>,
    /// Whether the workspace could be verified when the loop began.
    pub(super) verifiable: bool,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) control: ControlHandle,
    pub(super) authorizer: Box<dyn PlanAuthorizer>,
    pub(super) executor: Executor,
    /// The attempts that ended.
    pub(super) past_attempts: Vec<PastAttempt>,
    /// Whether a plan that may have changed something ran, and no verification has passed since.
    pub(super) has_unverified_changes: bool,
    /// Redacts secrets in the requests to the planner.
    pub(super) redactor: Redactor,
    /// The walls of the planner's process.
    pub(super) planner_walls: StepWalls,
    /// The facts of the goal's host.
    pub(super) host: Option<HostFacts>,
    /// The person's words when they last denied a step.
    pub(super) denial: DenialWords,
    /// Why a run is not completely recorded in the evidence.
    pub(super) not_recorded: Option<Failure>,
    /// The runs whose end could not be signed.
    pub(super) not_signed: Vec<UnsignedEnd>,
}

impl<'a> BoundedLoop<'a> {
    /// Runs a loop to its end. Failures inside the loop are part of the outcome.
    ///
    /// # Errors
    /// A workspace that cannot be opened, or a host of the goal that cannot be reached; nothing is recorded then.
    pub fn run(setup: &'a LoopSetup, deps: LoopDeps) -> Result<LoopOutcome, ToolError> {
        let toolbox = Toolbox::open(&setup.order.workspace.folder, &setup.policy)?
            .without_folders(setup.location.folders());
        // This toolbox starts only the planner; the executor opens one for each run.
        let order = &setup.order;
        let needs = needs_with_looks(&order.planner, order.looks, &setup.policy);
        let (planner_walls, mut place) = planner_walls(&toolbox, &setup.policy, &needs)
            .map_err(|why| Unsupported { what: format!("the planner's walls: {why}") })?;
        // Walls may hide the folder of temporary files, so the planner's own files are made visible explicitly.
        place.read_only.extend(setup.program.readable_paths(&setup.order.workspace.folder));
        let toolbox = toolbox.with_walls(place);
        let host = order.target.as_deref().map(|target| {
            let (secrets, stop) = (deps.secrets.clone(), deps.control.stop_signal());
            HostFacts::read(target, &toolbox, &setup.policy, secrets, stop)
        });
        let host = host.transpose()?;
        let loop_id = Uuid::new_v4();
        let LoopDeps { clock, confirmation, progress, control, authorizer, terminal, .. } = deps;
        let (secrets, passphrase) = (deps.secrets, deps.passphrase);
        let store = match setup.location.store() {
            Ok(store) => store,
            Err(error) => return Ok(never_begun(setup, loop_id, &error)),
        };
        let redactor = store.redactor();
        let hiding = store.redactor();
        let stopping = control.clone();
        let look_toolbox = Toolbox::open(&setup.order.workspace.folder, &setup.policy)?
            .without_folders(setup.location.folders())
            // After a stop, the answer of a look is not sent.
            .for_looks(Arc::new(move |text| {
                let redacted = hiding.redact_lines(text, stopping.stop_signal());
                redacted.map_or_else(String::new, Cow::into_owned)
            }));
        let denial = DenialWords::default();
        let confirmation = Box::new(KeepsWords { inner: confirmation, words: denial.clone() });
        let executor = Executor::new(
            store,
            ExecutorDeps {
                policy: setup.policy.clone(),
                clock: Arc::clone(&clock),
                confirmation,
                progress,
                control: control.clone(),
                terminal,
                secrets,
                passphrase,
            },
        );
        let mut this = Self {
            setup,
            loop_id,
            class: None,
            max_attempts: setup.order.max_attempts.max(1),
            commands: toolbox.digest_of(COMMANDS_FILE).ok(),
            verifiable: setup.order.verify.is_some_and(|scope| toolbox.can_verify(scope)),
            toolbox,
            look_toolbox,
            clock,
            control,
            authorizer,
            executor,
            past_attempts: Vec::new(),
            has_unverified_changes: false,
            redactor,
            planner_walls,
            host,
            denial,
            not_recorded: None,
            not_signed: Vec::new(),
        };
        if let Err(error) = this.begin() {
            return Ok(never_begun(setup, loop_id, &error));
        }
        // Declared here, so that a panic does not lose the state of the attempt.
        let mut open = None;
        let driven = catch_unwind(AssertUnwindSafe(|| this.drive(&mut open)));
        Ok(match driven {
            Ok(Ok(stop_reason)) => this.finish(stop_reason, Ok(()), open),
            Ok(Err(error)) => this.fail(&error, open),
            Err(panic) => this.recover(&*panic, open),
        })
    }

    /// The person's policy, with the workspace commands that are trusted now, which may have changed while a planner
    /// was running.
    pub(super) fn policy(&mut self) -> Result<Policy, EvidenceError> {
        let trusted_commands = self.journal().store.trusted_commands()?;
        Ok(Policy { trusted_commands, ..self.setup.policy.clone() })
    }

    fn begin(&mut self) -> Result<(), EvidenceError> {
        let now_ms = self.clock.now_ms();
        let setup = self.setup;
        if let Some(class) = &setup.order.class {
            let class_id = Uuid::new_v4();
            self.journal().store.record_class(class_id, class, setup.method, now_ms)?;
            self.class = Some((class_id, class));
        }
        let workspace = self.toolbox.workspace().to_string_lossy().into_owned();
        let start = LoopStart {
            loop_id: self.loop_id,
            goal: &setup.order.goal,
            planner: &setup.order.planner,
            workspace: &workspace,
            max_attempts: self.max_attempts,
            verify: setup.order.verify.map_or("none", VerifyScope::as_str),
            class_id: self.class.map(|(class_id, _)| class_id),
            looks: setup.order.looks,
            target: setup.order.target.as_deref(),
            started_at_ms: now_ms,
        };
        self.journal().commit(&Entry::LoopStart(start))
    }

    /// Runs attempts until the transition table ends the loop.
    fn drive(&mut self, open: &mut Option<CurrentAttempt>) -> Result<StopReason, EvidenceError> {
        let max_attempts = self.max_attempts;
        let mut attempt = 1;
        loop {
            let ended = self.run_attempt(open, attempt)?;
            match transition(ended.happened, attempt, max_attempts) {
                Transition::Stop(code) => {
                    let stop_reason = stop_reason(code, attempt, &ended, open.as_ref());
                    self.end_attempt(open, &ended, Some(code))?;
                    return Ok(stop_reason);
                }
                Transition::Replan => self.end_attempt(open, &ended, None)?,
            }
            let attempts_left = max_attempts - attempt;
            if attempts_left == 1 {
                self.tell(&RunEvent::BudgetWarning { attempts_left });
            }
            attempt += 1;
        }
    }

    /// Records the end of the attempt. If that fails, it stays open.
    fn end_attempt(
        &mut self,
        current: &mut Option<CurrentAttempt>,
        ended: &AttemptEnding,
        code: Option<StopCode>,
    ) -> Result<(), EvidenceError> {
        let Some(open) = current else { return Ok(()) };
        open.record.stop_reason = code;
        let end = AttemptEnd {
            attempt_id: open.attempt_id,
            record: &open.record,
            trace: open.trace.as_ref(),
            ended_at_ms: self.clock.now_ms(),
        };
        let events = self.executor.journal_mut().store.commit(&Entry::AttemptEnd(end))?;
        let Some(mut open) = current.take() else { return Ok(()) };
        for text in open.results.iter().flat_map(|result| [&result.stdout, &result.stderr]) {
            self.redactor.learn(text.as_deref().unwrap_or_default());
        }
        // The trace is in the evidence, and nothing else needs it.
        open.trace = None;
        let (happened, reason) = (ended.happened, ended.message.clone());
        self.past_attempts.push(PastAttempt { attempt: open, happened, reason });
        events.iter().for_each(|event| self.tell(event));
        Ok(())
    }

    fn finish(
        mut self,
        stop_reason: StopReason,
        attempt: Result<(), EvidenceError>,
        open: Option<CurrentAttempt>,
    ) -> LoopOutcome {
        let recorded = self.end(&stop_reason, attempt);
        self.outcome(stop_reason, recorded.err().map(|error| error.failure()), open)
    }

    /// Records the end of the loop, unless `attempt` is the failure to record its last attempt. Emits the end anyway.
    fn end(
        &mut self,
        reason: &StopReason,
        attempt: Result<(), EvidenceError>,
    ) -> Result<(), EvidenceError> {
        let ended_at_ms = self.clock.now_ms();
        let end = Entry::LoopEnd(LoopEnd { loop_id: self.loop_id, reason, ended_at_ms });
        let recorded = attempt.and_then(|()| self.journal().commit(&end));
        if recorded.is_err() {
            end.events().iter().for_each(|event| self.tell(event));
        }
        recorded
    }

    /// The outcome; `open` is the attempt whose end is not recorded, if there is one.
    fn outcome(
        self,
        stop_reason: StopReason,
        not_recorded: Option<Failure>,
        open: Option<CurrentAttempt>,
    ) -> LoopOutcome {
        let mut attempts: Vec<_> =
            self.past_attempts.into_iter().map(|past| past.attempt).chain(open).collect();
        let plan = attempts.last_mut().and_then(|attempt| attempt.plan.take());
        LoopOutcome {
            loop_id: self.loop_id,
            goal: self.setup.order.goal.clone(),
            stop_reason,
            attempts: attempts.into_iter().map(|attempt| attempt.record).collect(),
            plan,
            not_recorded: not_recorded.or(self.not_recorded),
            not_signed: self.not_signed,
        }
    }

    /// Ends the loop after the evidence could not be written, and records its state as far as possible.
    fn fail(mut self, error: &EvidenceError, mut open: Option<CurrentAttempt>) -> LoopOutcome {
        let stop_reason = internal_error(error.to_string(), open.as_ref());
        // If this cannot be written either, the loop has no recorded end and counts as interrupted.
        let closed = self.close_attempt(&mut open, &stop_reason);
        let _ = self.end(&stop_reason, closed);
        self.outcome(stop_reason, Some(error.failure()), open)
    }

    /// Ends the loop after a panic. The open run is dropped, which marks it as interrupted; the state of the loop is
    /// recorded on a new connection.
    fn recover(
        mut self,
        panic: &(dyn std::any::Any + Send),
        mut open: Option<CurrentAttempt>,
    ) -> LoopOutcome {
        let message = format!("the program failed: {}", panic_message(panic));
        let stop_reason = internal_error(message, open.as_ref());
        let closed = self.reopen().and_then(|()| self.close_attempt(&mut open, &stop_reason));
        self.finish(stop_reason, closed, open)
    }

    /// Replaces the connection by a new one. Dropping the old one releases the locks of its runs.
    fn reopen(&mut self) -> Result<(), EvidenceError> {
        let store = self.setup.location.store()?;
        let loop_id = self.loop_id;
        let journal = self.journal();
        journal.store = store;
        journal.store.resume_lock(loop_id)
    }

    fn close_attempt(
        &mut self,
        current: &mut Option<CurrentAttempt>,
        stop_reason: &StopReason,
    ) -> Result<(), EvidenceError> {
        let Some(open) = current else { return Ok(()) };
        // A commit also fails if its rows were written but the copy of the chain's head was not.
        if self.journal().store.attempt_has_ended(open.attempt_id)? {
            return Ok(());
        }
        let happened = Happened::InternalError;
        let ended = AttemptEnding::new(happened, stop_reason.message.clone());
        self.end_attempt(current, &ended, Some(stop_reason.code))
    }

    pub(super) fn journal(&mut self) -> &mut Journal {
        self.executor.journal_mut()
    }

    pub(super) fn tell(&self, event: &RunEvent) {
        self.executor.journal().send(event);
    }
}

fn stop_reason(
    code: StopCode,
    attempt: u32,
    ended: &AttemptEnding,
    open: Option<&CurrentAttempt>,
) -> StopReason {
    StopReason {
        code,
        message: ended.message.clone(),
        detail: StopDetail {
            attempt: Some(attempt),
            action_index: ended.action_index,
            planner_failure_code: open.and_then(|open| open.record.planner.failure_code.clone()),
            verified: (code == StopCode::Completed).then_some(ended.verified),
        },
    }
}

fn internal_error(message: String, open: Option<&CurrentAttempt>) -> StopReason {
    let attempt = open.map(|open| open.record.attempt);
    StopReason {
        code: StopCode::RunnerInternalError,
        message,
        detail: StopDetail { attempt, ..StopDetail::default() },
    }
}

fn never_begun(setup: &LoopSetup, loop_id: Uuid, error: &EvidenceError) -> LoopOutcome {
    LoopOutcome {
        loop_id,
        goal: setup.order.goal.clone(),
        stop_reason: internal_error(error.to_string(), None),
        attempts: Vec::new(),
        plan: None,
        not_recorded: Some(error.failure()),
        not_signed: Vec::new(),
    }
}
