//! The run of a plan on the page, from its start to its end, also as an attempt of a bounded loop.

use std::path::Path;

use uuid::Uuid;

use super::{PlanPage, PlanSession};
use crate::app::loop_page::CurrentAttempt;
use crate::app::shared::{Prompt, Shared};
use crate::run::{ExecutionDetail, Failure, RunEvent, RunState};
use crate::ui::plan::Approval;
use crate::ui::theme::Tone;
use crate::worker::{Clock as _, Command, PlanProposal, SystemClock};

impl PlanPage {
    /// Sends the authorized plan to the worker.
    pub fn start_run(&mut self, shared: &mut Shared) {
        shared.evidence_trouble = None;
        let Some(session) = &mut self.shown else { return };
        if session.expire(shared.now.ms, &SystemClock::default().since_boot()).is_none() {
            return;
        }
        let Some(approved) = session.start() else { return };
        let command = Command::Run {
            approved: Box::new(approved),
            file: session.path().map(Path::to_path_buf),
        };
        if let Err(back) = shared.worker.send(command) {
            // The approval was not used and is still valid.
            session.run = RunState::default();
            if let Command::Run { approved, .. } = back {
                session.answered(approved.authorization);
            }
            shared.notify(
                Tone::Caution,
                "Another run is still under way.",
                "",
                "Wait until it ends, then press Run.",
            );
        }
    }

    /// Applies an event of the run under way.
    pub fn happened(&mut self, event: &RunEvent, shared: &mut Shared) {
        let now = shared.now.ms;
        let asked = self.running_mut().is_some_and(|it| it.happened(event, now));
        if matches!(event, RunEvent::RunStarted { .. }) {
            shared.list_runs();
        }
        // No `Event::Finished` is sent for the run of an attempt, so its duration is set here.
        for session in self.sessions_mut() {
            let over = session.attempt.is_some() && session.run.is_over();
            if over && session.elapsed_ms.is_none() {
                session.elapsed_ms = Some(now - session.run.started_at_ms);
            }
        }
        if asked {
            // Every confirmation gets a new identity, even if the last one is still in front.
            shared.show_prompt(shared.prompt);
        }
    }

    /// Applies an event of a bounded loop.
    pub fn happened_in_loop(
        &mut self,
        event: &RunEvent,
        current: CurrentAttempt,
        shared: &mut Shared,
    ) {
        let now = shared.now.ms;
        let CurrentAttempt { attempt, verifies } = current;
        let session = self.sessions_mut().find(|session| session.is_attempt(attempt));
        match (event, session) {
            (RunEvent::AuthorizationNeeded { .. }, Some(session)) => session.set_waits(true),
            (RunEvent::AuthorizationDecided { approved, how }, Some(session)) => {
                session.end_attempt(now);
                if *approved {
                    session.begin_attempt(now);
                } else {
                    session.approval = Approval::Rejected(how.clone());
                }
            }
            (RunEvent::RunStarted { .. }, _) if verifies => {
                self.live = Some(PlanSession::verification(now));
            }
            (RunEvent::AttemptEnded { .. }, _) => self.end_attempts(attempt.loop_id, shared),
            _ => {}
        }
    }

    /// Adds the plan of an attempt. It replaces the shown plan only if that one is a past plan of the same loop, no
    /// step of it was picked and no dialog is open. Otherwise it is kept as `live`.
    pub fn take_proposal(&mut self, proposal: PlanProposal, shared: &mut Shared) {
        let loop_id = proposal.loop_id;
        let follows = shared.prompt.is_none()
            && self.shown.as_ref().is_some_and(|shown| {
                shown.is_of_loop(loop_id) && !shown.pane.is_pinned && !shown.is_kept()
            });
        let session = PlanSession::proposed(proposal);
        if follows {
            self.shown = Some(session);
            self.watch_files(shared);
        } else {
            self.live = Some(session);
        }
    }

    /// Notes that the loop waits for no decision any more.
    pub fn end_attempts(&mut self, loop_id: Uuid, shared: &mut Shared) {
        let mut was_asked = false;
        for session in self.sessions_mut() {
            if session.is_of_loop(loop_id) || session.opened.plan.is_none() {
                was_asked |= session.waits();
                session.end_attempt(shared.now.ms);
            }
        }
        if was_asked && shared.close_prompt(&Prompt::DECISIONS) {
            let summary = "The loop no longer waits for an answer to this plan.";
            shared.notify(Tone::Caution, summary, "", "");
        }
        self.live.take_if(|session| session.opened.plan.is_none());
        shared.list_runs();
    }

    /// Notes the result of the executor: the duration of the run, or a failure before or during the run.
    pub fn ended(&mut self, result: &Result<i64, Failure>) {
        // The events may have ended the run already, so the session is found by its used approval.
        let ended = self.sessions_mut().find(|session| {
            matches!(session.approval, Approval::Used { .. }) && session.elapsed_ms.is_none()
        });
        let Some(session) = ended else { return };
        if result.is_err() && session.run.run_id.is_none() {
            session.run = RunState::default();
            session.approval = Approval::None;
            return;
        }
        session.elapsed_ms = Some(result.as_ref().copied().unwrap_or_default());
        session.run.interrupt();
    }

    /// Notes that the worker panicked.
    pub fn interrupted(&mut self, now_ms: i64) {
        if let Some(session) = self.running_mut() {
            session.elapsed_ms = Some(now_ms - session.run.started_at_ms);
            session.run.interrupt();
        }
    }

    /// Stores the record of an execution, or notes that it could not be read.
    pub fn take_execution(&mut self, id: Uuid, detail: Option<ExecutionDetail>) {
        if let Some(session) = &mut self.shown {
            session.pane.executions.arrived(id, detail);
        }
    }
}
