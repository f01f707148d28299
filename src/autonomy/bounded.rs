//! The loop from its first record to its last (SPEC §10).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use uuid::Uuid;

use super::attempts::{AttemptEnding, CurrentAttempt, PastAttempt};
use super::authorizer::PlanAuthorizer;
use super::planner::needs_of;
use crate::authorization::{AuthorizationClass, FileState, Method, StepWalls};
use crate::engine::{
    Clock, ConfirmationCallback, ControlHandle, Executor, ExecutorDeps, Journal, ProgressCallback,
    WorkspaceChoice, planner_walls,
};
use crate::evidence::{
    AttemptEnd, Entry, EvidenceError, EvidenceLocation, LoopEnd, LoopStart, Redactor,
};
use crate::plan::{COMMANDS_FILE, VerifyScope};
use crate::risk::Policy;
use crate::run::text::panic_message;
use crate::run::{
    AttemptRecord, Failure, Happened, RunEvent, StopCode, StopDetail, StopReason, Transition,
    transition,
};
use crate::tools::{PlannerProgram, ToolError, Toolbox, Unsupported};

/// A bounded loop that a person starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopOrder {
    /// The goal, in words for the planner.
    pub goal: String,
    /// The planner: a command, or the name of a built-in one.
    pub planner: String,
    /// How long the planner may take for one answer.
    pub planner_timeout: Duration,
    /// The limit of attempts, at least 1.
    pub max_attempts: u32,
    /// How much the loop verifies by itself; `None` to skip verification.
    pub verify: Option<VerifyScope>,
    /// Where the plans work; a relative folder of plans is resolved in it.
    pub workspace: WorkspaceChoice,
    /// The class of plans that the person authorizes in advance.
    pub class: Option<AuthorizationClass>,
}

/// What a loop is to do, and with what.
#[derive(Debug, Clone)]
pub struct LoopSetup {
    /// What the person wants.
    pub order: LoopOrder,
    /// The process that the planner stands for.
    pub program: PlannerProgram,
    /// Through which act the class was authorized, where there is one.
    pub method: Method,
    /// Where the evidence is.
    pub location: EvidenceLocation,
    /// What the person has settled in advance.
    pub policy: Policy,
}

/// Callbacks and controls of a loop.
pub struct LoopDeps {
    /// Source of wall-clock and monotonic time.
    pub clock: Arc<dyn Clock>,
    /// Asks a person before a step.
    pub confirmation: Box<dyn ConfirmationCallback>,
    /// Progress callback of the loop and its runs.
    pub progress: Arc<dyn ProgressCallback>,
    /// Pause, resume, cancel and stop. A stop and a cancel end the loop.
    pub control: ControlHandle,
    /// Authorizes each plan.
    pub authorizer: Box<dyn PlanAuthorizer>,
}

/// What became of a loop.
#[derive(Debug, Serialize)]
pub struct LoopOutcome {
    /// The loop.
    pub loop_id: Uuid,
    /// What it was to reach.
    pub goal: String,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// Its attempts, in order.
    pub attempts: Vec<AttemptRecord>,
    /// Why its end is not in the evidence, or not all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_recorded: Option<Failure>,
}

/// A loop under way.
pub struct BoundedLoop<'a> {
    pub(super) setup: &'a LoopSetup,
    pub(super) loop_id: Uuid,
    /// The class of the order, once it is recorded, and its number.
    pub(super) class: Option<(Uuid, &'a AuthorizationClass)>,
    /// The limit of attempts, at least 1.
    pub(super) max_attempts: u32,
    pub(super) toolbox: Toolbox,
    /// The file that says how the program is verified, as it was when the loop began; `None` if it could not be read.
    pub(super) commands: Option<FileState>,
    /// Whether there was anything to verify with.
    pub(super) verifiable: bool,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) control: ControlHandle,
    pub(super) authorizer: Box<dyn PlanAuthorizer>,
    pub(super) executor: Executor,
    /// The attempts that ended.
    pub(super) tried: Vec<PastAttempt>,
    /// Keeps secrets out of what planners are told.
    pub(super) redactor: Redactor,
    /// Behind which walls the planner is asked.
    pub(super) planner_walls: StepWalls,
    /// Why something of a run is not in the evidence.
    pub(super) lost: Option<Failure>,
}

impl<'a> BoundedLoop<'a> {
    /// Runs a loop to its end. Failures inside the loop are part of the outcome.
    ///
    /// # Errors
    /// A workspace that cannot be opened; nothing is recorded then.
    pub fn run(setup: &'a LoopSetup, parts: LoopDeps) -> Result<LoopOutcome, ToolError> {
        let toolbox = Toolbox::open(&setup.order.workspace.folder, &setup.policy)?
            .without_folders(setup.location.folders());
        // Only the planner is started by these tools; the runs have their own.
        let needs = needs_of(&setup.order.planner, &setup.policy);
        let (planner_walls, mut place) = planner_walls(&toolbox, &setup.policy, &needs)
            .map_err(|why| Unsupported { what: format!("the planner's walls: {why}") })?;
        // Behind walls a folder of temporary files is another one; what is named is there all the same.
        place.read_only.extend(setup.program.readable_paths());
        let toolbox = toolbox.with_walls(place);
        let loop_id = Uuid::new_v4();
        let LoopDeps { clock, confirmation, progress, control, authorizer } = parts;
        let store = match setup.location.store() {
            Ok(store) => store,
            Err(error) => return Ok(never_begun(setup, loop_id, &error)),
        };
        let redactor = store.redactor();
        let executor = Executor::new(
            store,
            ExecutorDeps {
                policy: setup.policy.clone(),
                clock: Arc::clone(&clock),
                confirmation,
                progress,
                control: control.clone(),
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
            clock,
            control,
            authorizer,
            executor,
            tried: Vec::new(),
            redactor,
            planner_walls,
            lost: None,
        };
        if let Err(error) = this.begin() {
            return Ok(never_begun(setup, loop_id, &error));
        }
        // Out here, because a panic must leave what is known of the attempt.
        let mut open = None;
        let driven = catch_unwind(AssertUnwindSafe(|| this.drive(&mut open)));
        Ok(match driven {
            Ok(Ok(stop_reason)) => this.finish(stop_reason, Ok(()), open),
            Ok(Err(error)) => this.fail(&error, open),
            Err(panic) => this.recover(&*panic, open),
        })
    }

    /// What the person has settled, with the workspace commands that they trust now: that may change while a
    /// planner thinks.
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
            started_at_ms: now_ms,
        };
        self.journal().commit(&Entry::LoopStart(start))
    }

    /// Attempts until the table says that it is enough.
    fn drive(&mut self, open: &mut Option<CurrentAttempt>) -> Result<StopReason, EvidenceError> {
        let max_attempts = self.max_attempts;
        let mut attempt = 1;
        loop {
            let ended = self.attempt(open, attempt)?;
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
        let told = self.executor.journal_mut().store.commit(&Entry::AttemptEnd(end))?;
        let Some(mut open) = current.take() else { return Ok(()) };
        for text in open.results.iter().flat_map(|result| [&result.stdout, &result.stderr]) {
            self.redactor.learn(text.as_deref().unwrap_or_default());
        }
        // Only the evidence needs all that the planner printed.
        open.trace = None;
        let (happened, reason) = (ended.happened, ended.message.clone());
        self.tried.push(PastAttempt { attempt: open, happened, reason });
        told.iter().for_each(|event| self.tell(event));
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

    /// Records the end, unless its last attempt could not be, and tells it in any case.
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

    /// With an attempt whose end is not recorded, if there is one.
    fn outcome(
        self,
        stop_reason: StopReason,
        not_recorded: Option<Failure>,
        open: Option<CurrentAttempt>,
    ) -> LoopOutcome {
        let attempts = self.tried.into_iter().map(|tried| tried.attempt).chain(open);
        LoopOutcome {
            loop_id: self.loop_id,
            goal: self.setup.order.goal.clone(),
            stop_reason,
            attempts: attempts.map(|attempt| attempt.record).collect(),
            not_recorded: not_recorded.or(self.lost),
        }
    }

    /// The evidence could not be written: records the state of the loop as far as possible.
    fn fail(mut self, error: &EvidenceError, mut open: Option<CurrentAttempt>) -> LoopOutcome {
        let stop_reason = internal_error(error.to_string(), open.as_ref());
        // Where that cannot be written either, the loop is one without an end.
        let closed = self.close_attempt(&mut open, &stop_reason);
        let _ = self.end(&stop_reason, closed);
        self.outcome(stop_reason, Some(error.failure()), open)
    }

    /// Something panicked. The open run is dropped, which
    /// marks it as interrupted; the state of the loop is recorded on a new connection.
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

    /// A fresh connection in place of the one that was in use; the locks of its runs are let go of.
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
        // A commit also fails if its rows were written and the head of the chain could not be kept.
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
        stop_reason: StopReason {
            code: StopCode::RunnerInternalError,
            message: error.to_string(),
            detail: StopDetail::default(),
        },
        attempts: Vec::new(),
        not_recorded: Some(error.failure()),
    }
}
