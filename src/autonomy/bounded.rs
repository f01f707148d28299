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
    AttemptEnd, Entry, EvidenceError, EvidenceLocation, LoopEnd, LoopStart, SecretHider,
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
    pub(super) class_id: Option<Uuid>,
    pub(super) toolbox: Toolbox,
    /// The file that says how the program is verified, as it was when the loop began.
    pub(super) commands: Option<FileState>,
    /// Whether there was anything to verify with.
    pub(super) verifiable: bool,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) control: ControlHandle,
    pub(super) authorizer: Box<dyn PlanAuthorizer>,
    pub(super) executor: Executor,
    /// The attempts that ended.
    pub(super) tried: Vec<PastAttempt>,
    /// The attempt under way, as far as it has come.
    pub(super) open: Option<CurrentAttempt>,
    /// Keeps secrets out of what planners are told.
    pub(super) hider: SecretHider,
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
            .keeping_out(setup.location.folders());
        // Only the planner is started by these tools; the runs have their own.
        let needs = needs_of(&setup.order.planner, &setup.policy);
        let (planner_walls, mut place) = planner_walls(&toolbox, &setup.policy, &needs)
            .map_err(|why| Unsupported { what: format!("the planner's walls: {why}") })?;
        // Behind walls a folder of temporary files is another one; what is named is there all the same.
        place.read_only.extend(setup.program.reads());
        let toolbox = toolbox.walled(place);
        let loop_id = Uuid::new_v4();
        let LoopDeps { clock, confirmation, progress, control, authorizer } = parts;
        let store = match setup.location.store() {
            Ok(store) => store,
            Err(error) => return Ok(never_begun(setup, loop_id, &error)),
        };
        let hider = store.secret_hider();
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
            class_id: None,
            commands: toolbox.digest_of(COMMANDS_FILE).ok(),
            verifiable: setup.order.verify.is_some_and(|scope| toolbox.can_verify(scope)),
            toolbox,
            clock,
            control,
            authorizer,
            executor,
            tried: Vec::new(),
            open: None,
            hider,
            planner_walls,
            lost: None,
        };
        if let Err(error) = this.begin() {
            return Ok(never_begun(setup, loop_id, &error));
        }
        let driven = catch_unwind(AssertUnwindSafe(|| this.drive()));
        Ok(match driven {
            Ok(Ok(stop_reason)) => this.finish(stop_reason, Ok(())),
            Ok(Err(error)) => this.fail(&error),
            Err(panic) => this.recover(&*panic),
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
            self.class_id = Some(class_id);
        }
        let workspace = self.toolbox.workspace().to_string_lossy().into_owned();
        let start = LoopStart {
            loop_id: self.loop_id,
            goal: &setup.order.goal,
            planner: &setup.order.planner,
            workspace: &workspace,
            max_attempts: setup.order.max_attempts,
            verify: setup.order.verify.map_or("none", VerifyScope::as_str),
            class_id: self.class_id,
            started_at_ms: now_ms,
        };
        self.journal().commit(&Entry::LoopStart(start))
    }

    pub(super) fn max_attempts(&self) -> u32 {
        self.setup.order.max_attempts.max(1)
    }

    /// Attempts until the table says that it is enough.
    fn drive(&mut self) -> Result<StopReason, EvidenceError> {
        let max_attempts = self.max_attempts();
        let mut attempt = 1;
        loop {
            let ended = self.attempt(attempt)?;
            match transition(ended.happened, attempt, max_attempts) {
                Transition::Stop(code) => {
                    let stop_reason = self.stop_reason(code, attempt, &ended);
                    self.end_attempt(&ended, Some(code))?;
                    return Ok(stop_reason);
                }
                Transition::Replan => self.end_attempt(&ended, None)?,
            }
            let attempts_left = max_attempts - attempt;
            if attempts_left == 1 {
                self.tell(&RunEvent::BudgetWarning { attempts_left });
            }
            attempt += 1;
        }
    }

    fn stop_reason(&self, code: StopCode, attempt: u32, ended: &AttemptEnding) -> StopReason {
        let failure_code =
            self.open.as_ref().and_then(|open| open.record.planner.failure_code.clone());
        StopReason {
            code,
            message: ended.message.clone(),
            detail: StopDetail {
                attempt: Some(attempt),
                action_index: ended.action_index,
                planner_failure_code: failure_code,
                verified: (code == StopCode::Completed).then_some(ended.verified),
            },
        }
    }

    fn end_attempt(
        &mut self,
        ended: &AttemptEnding,
        code: Option<StopCode>,
    ) -> Result<(), EvidenceError> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        open.record.stop_reason = code;
        let end = AttemptEnd {
            attempt_id: open.attempt_id,
            record: &open.record,
            trace: open.trace.as_ref(),
            ended_at_ms: self.clock.now_ms(),
        };
        let recorded = self.executor.journal_mut().store.commit(&Entry::AttemptEnd(end));
        for text in open.results.iter().flat_map(|result| [&result.stdout, &result.stderr]) {
            self.hider.learn(text.as_deref().unwrap_or_default());
        }
        // Only the evidence needs all that the planner printed.
        open.trace = None;
        let (happened, reason) = (ended.happened, ended.message.clone());
        self.tried.push(PastAttempt { attempt: open, happened, reason });
        recorded?.iter().for_each(|event| self.tell(event));
        Ok(())
    }

    fn finish(
        mut self,
        stop_reason: StopReason,
        attempt: Result<(), EvidenceError>,
    ) -> LoopOutcome {
        let recorded = self.end(&stop_reason, attempt);
        self.outcome(stop_reason, recorded.err().map(|error| error.failure()))
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
            end.told().iter().for_each(|event| self.tell(event));
        }
        recorded
    }

    fn outcome(self, stop_reason: StopReason, not_recorded: Option<Failure>) -> LoopOutcome {
        LoopOutcome {
            loop_id: self.loop_id,
            goal: self.setup.order.goal.clone(),
            stop_reason,
            attempts: self.tried.into_iter().map(|tried| tried.attempt.record).collect(),
            not_recorded: not_recorded.or(self.lost),
        }
    }

    /// The evidence could not be written: records the state of the loop as far as possible.
    fn fail(mut self, error: &EvidenceError) -> LoopOutcome {
        let stop_reason = self.internal_error(error.to_string());
        // Where that cannot be written either, the loop is one without an end.
        let closed = self.close_attempt(&stop_reason);
        let _ = self.end(&stop_reason, closed);
        self.outcome(stop_reason, Some(error.failure()))
    }

    /// Something panicked. The open run is dropped, which
    /// marks it as interrupted; the state of the loop is recorded on a new connection.
    fn recover(mut self, panic: &(dyn std::any::Any + Send)) -> LoopOutcome {
        let said = panic_message(panic);
        let stop_reason = self.internal_error(format!("the program failed: {said}"));
        let closed = self.reopen().and_then(|()| self.close_attempt(&stop_reason));
        self.finish(stop_reason, closed)
    }

    /// A fresh connection in place of the one that was in use; the locks of its runs are let go of.
    fn reopen(&mut self) -> Result<(), EvidenceError> {
        let store = self.setup.location.store()?;
        let loop_id = self.loop_id;
        let journal = self.journal();
        journal.store = store;
        journal.store.resume_lock(loop_id)
    }

    fn close_attempt(&mut self, stop_reason: &StopReason) -> Result<(), EvidenceError> {
        let Some(open) = &self.open else { return Ok(()) };
        let attempt_id = open.attempt_id;
        if self.journal().store.attempt_has_ended(attempt_id)? {
            return Ok(());
        }
        let happened = Happened::InternalError;
        let ended = AttemptEnding::new(happened, stop_reason.message.clone());
        self.end_attempt(&ended, Some(stop_reason.code))
    }

    fn internal_error(&self, message: String) -> StopReason {
        let attempt = self.open.as_ref().map(|open| open.record.attempt);
        StopReason {
            code: StopCode::RunnerInternalError,
            message,
            detail: StopDetail { attempt, ..StopDetail::default() },
        }
    }

    pub(super) fn journal(&mut self) -> &mut Journal {
        self.executor.journal_mut()
    }

    pub(super) fn tell(&self, event: &RunEvent) {
        self.executor.journal().tell(event);
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
