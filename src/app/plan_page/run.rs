//! The run of a plan on the page, from its start to its end. The plan may be that of an attempt of a bounded loop.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::{PlanPage, PlanSession};
use crate::app::loop_page::CurrentAttempt;
use crate::app::shared::{Prompt, Shared};
use crate::app::tour::cut_off_in;
use crate::plan::drawable;
use crate::run::{ExecutionDetail, Failure, Phase, RunEvent, RunFate, RunState};
use crate::ui::Tone;
use crate::ui::loop_page::is_by_class;
use crate::ui::notice::Scope;
use crate::ui::plan::{Approval, fate_look};
use crate::worker::calls::CallRun;
use crate::worker::{Clock as _, Command, PlanProposal, SystemClock};

impl PlanPage {
    /// Sends the shown plan to the worker, if its approval is still valid.
    pub fn start_run(&mut self, shared: &mut Shared) {
        shared.evidence_error = None;
        let Some(session) = &mut self.shown else { return };
        if session.expire(shared.now.ms, &SystemClock::default().since_boot()).is_none() {
            return;
        }
        let Some(approved) = session.begin_run() else { return };
        let path = session.path().map(Path::to_path_buf);
        shared.end_notices(|scope| scope == Scope::Change);
        let call = path.as_ref().and_then(|path| self.orders.remove(path));
        let waited = call.as_ref().map(CallRun::watched);
        let secret_inputs = session.choices.secret_inputs.clone();
        let command = Command::Run {
            cut_off_in: cut_off_in(approved.plan.digest),
            approved: Box::new(approved),
            file: path.clone(),
            secret_inputs,
            call,
        };
        if let Err(refused) = shared.worker.send(command) {
            // The approval was not used and is still valid.
            session.run = RunState::default();
            if let Command::Run { approved, call, .. } = refused {
                session.apply_decision(approved.authorization);
                self.orders.extend(path.zip(call));
            }
            shared.notify_here(
                Tone::Caution,
                "Another run is still under way.",
                "",
                "Wait until it ends, then press Run.",
            );
        } else if let Some(path) = path {
            self.forget_secrets(&path);
            self.call_run = waited;
            // It runs before its turn.
            self.unqueue(&path);
        }
    }

    /// Applies an event to the run under way.
    pub fn apply_event(&mut self, event: &RunEvent, shared: &mut Shared) {
        let now = shared.now.ms;
        let needs_confirmation = self.running_mut().is_some_and(|it| it.apply_event(event, now));
        // What a person types for one step must not reach the next one.
        self.opened_terminal |= matches!(event, RunEvent::TerminalOpened { .. });
        if matches!(event, RunEvent::StepOutput { .. }) {
            self.answer_terminal_queries(shared);
        }
        if matches!(event, RunEvent::RunStarted { .. }) {
            shared.list_runs();
        }
        // No `Event::Finished` is sent for the run of an attempt, so its duration is set here.
        for session in self.sessions_mut() {
            let is_over = session.attempt.is_some() && session.run.is_over();
            if is_over && session.elapsed_ms.is_none() {
                session.elapsed_ms = Some(now - session.run.started_at_ms);
            }
        }
        if needs_confirmation {
            shared.ask_to_confirm();
        }
    }

    /// Applies an event of a bounded loop whose current attempt is `current`.
    pub fn apply_loop_event(
        &mut self,
        event: &RunEvent,
        current: CurrentAttempt,
        shared: &mut Shared,
    ) {
        let now = shared.now.ms;
        let CurrentAttempt { attempt, is_verifying } = current;
        let session = self.sessions_mut().find(|session| session.is_attempt(attempt));
        match (event, session) {
            (RunEvent::AuthorizationNeeded { .. }, Some(session)) => {
                session.set_awaits_decision(true);
            }
            (RunEvent::AuthorizationDecided { approved, how }, Some(session)) => {
                session.end_attempt(now);
                if *approved {
                    session.begin_attempt(is_by_class(how), now);
                } else {
                    session.approval = Approval::Rejected(how.clone());
                }
            }
            (RunEvent::RunStarted { .. }, _) if is_verifying => {
                self.live = Some(PlanSession::for_verification(now));
            }
            (RunEvent::AttemptEnded { .. }, _) => self.end_attempts(attempt.loop_id, shared),
            _ => {}
        }
    }

    /// Adds a session for the plan of an attempt. It is shown if the shown plan is a past plan of the same loop, the
    /// person has not selected a step of that plan and no dialog is open. Otherwise it is stored as `live`.
    pub fn take_proposal(&mut self, proposal: PlanProposal, shared: &mut Shared) {
        let loop_id = proposal.loop_id;
        let replaces_shown = shared.prompt.is_none()
            && self.shown.as_ref().is_some_and(|shown| {
                shown.belongs_to_loop(loop_id) && !shown.pane.is_pinned && !shown.is_live()
            });
        let session = PlanSession::from_proposal(proposal);
        if replaces_shown {
            self.shown = Some(session);
            self.watch_files(shared);
        } else {
            self.live = Some(session);
        }
    }

    /// Ends the sessions of a loop's attempts and of its verification. If the dialog about an awaited decision is open,
    /// it is closed with a notice.
    pub fn end_attempts(&mut self, loop_id: Uuid, shared: &mut Shared) {
        let mut was_awaited = false;
        for session in self.sessions_mut() {
            let verifies = session.opened.plan.is_none() && !session.runs_elsewhere();
            if session.belongs_to_loop(loop_id) || verifies {
                was_awaited |= session.awaits_decision();
                session.end_attempt(shared.now.ms);
            }
        }
        if was_awaited && shared.close_prompt(&Prompt::DECISIONS) {
            let summary = "The loop no longer waits for an answer to this plan.";
            shared.notify_here(Tone::Caution, summary, "", "");
        }
        self.live.take_if(|session| session.opened.plan.is_none());
        shared.list_runs();
    }

    /// Applies the result of the executor: the duration of the run, or a failure before or during the run. Returns the plan
    /// file if the run never began.
    pub fn end_run(&mut self, result: &Result<i64, Failure>) -> Option<PathBuf> {
        // The run may already be over by its events, so the session is found by its used approval.
        let ended = self.sessions_mut().find(|session| {
            matches!(session.approval, Approval::Used { .. }) && session.elapsed_ms.is_none()
        });
        let session = ended?;
        if result.is_err() && session.run.run_id.is_none() {
            session.run = RunState::default();
            session.approval = Approval::None;
            return session.path().map(Path::to_path_buf);
        }
        session.elapsed_ms = Some(result.as_ref().copied().unwrap_or_default());
        session.run.interrupt();
        None
    }

    /// Shows a notice about the end of a run whose plan is not on the page. The end of a loop has its own.
    pub fn notify_hidden_end(&self, shared: &mut Shared) {
        let over = self.live.as_ref().filter(|it| it.is_over() && it.attempt.is_none());
        let Some((session, run_id)) = over.and_then(|it| Some((it, it.run.run_id?))) else {
            return;
        };
        let fate = match session.run.phase {
            Phase::Ended(status) => RunFate::Ended(status),
            _ => RunFate::Interrupted,
        };
        let (_, word, tone) = fate_look(fate, session.run.tally());
        let step = session.run.steps.stopped_at();
        let step = step.map(|step| format!(" at step {}", step + 1)).unwrap_or_default();
        let summary = format!("“{}” has ended: {word}{step}.", drawable(session.name()));
        shared.notify_in(Scope::Run(run_id), tone, summary, "", "");
    }

    /// Marks the run under way as interrupted, after a panic of the executor thread.
    pub fn interrupt_run(&mut self, now_ms: i64) {
        if let Some(session) = self.running_mut() {
            session.elapsed_ms = Some(now_ms - session.run.started_at_ms);
            session.run.interrupt();
        }
    }

    /// Stores the record of an execution; `None` if it could not be read.
    pub fn take_execution(&mut self, id: Uuid, detail: Option<ExecutionDetail>) {
        if let Some(session) = &mut self.shown {
            session.pane.executions.store(id, detail);
        }
    }
}
