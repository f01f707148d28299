//! Takes in what the worker and the desk say.

use super::file_dialog::Chosen;
use super::purpose::Purpose;
use super::session::PlanSession;
use super::{App, Prompt, RUNS};
use crate::plan::Code;
use crate::run::{Failure, RunEvent};
use crate::ui::evidence::Verification;
use crate::ui::plan::Approval;
use crate::ui::theme::Tone;
use crate::worker::{Event, Reply, Request, Ticket};

/// How much output is taken in for one frame: lines that make a few milliseconds' work.
const OUTPUT_BYTES: usize = 64 << 10;

impl App {
    /// Takes in what has arrived. True when there is more: then it is the next frame's.
    pub(super) fn drain(&mut self) -> bool {
        let mut room = OUTPUT_BYTES;
        while room > 0
            && let Some(event) = self.worker.try_recv()
        {
            if let Event::Run(RunEvent::StepOutput { chunk, .. }) = &event {
                room = room.saturating_sub(chunk.len());
            }
            self.take_event(event);
        }
        while let Some((ticket, reply)) = self.desk.try_recv() {
            self.take_reply(ticket, reply);
        }
        match self.picked.take() {
            Some(Ok(Chosen::Plan(path))) => self.open(path, None),
            Some(Ok(Chosen::SaveAs(file, what))) => {
                self.ask(Request::Save { file: file.clone(), what }, Purpose::Save(file));
            }
            Some(Ok(Chosen::Folder(folder, what))) => self.take_folder(&folder, what),
            Some(Err(error)) => {
                self.notify(Tone::Danger, "The tour cannot be copied.", error.to_string(), "");
            }
            None => {}
        }
        if let Some(text) = self.contents.take() {
            self.to_copy = Some(text);
        }
        self.ask_for_what_is_shown();
        self.keep_place();
        self.keep_diagnostics();
        room == 0
    }

    fn take_event(&mut self, event: Event) {
        match event {
            Event::Run(event) => {
                let now = self.now.ms;
                self.take_loop_event(&event);
                let asked = self.running_mut().is_some_and(|it| it.happened(&event, now));
                if matches!(event, RunEvent::RunStarted { .. }) {
                    self.ask(Request::Runs { limit: RUNS }, Purpose::Runs);
                }
                self.note_end_in_loop();
                if asked {
                    // A new question is a new identity, also when the last one is still in front.
                    let prompt = self.prompt;
                    self.show_prompt(prompt);
                }
            }
            Event::Finished(result) => self.take_end(result.map(|result| result.elapsed_ms)),
            Event::Proposed(proposed) => self.take_proposed(*proposed),
            Event::LoopFinished(outcome) => self.take_loop_end(outcome.map(|_| ())),
            Event::Panicked { message } => {
                self.notify(
                    Tone::Danger,
                    "The worker broke down; the run is interrupted.",
                    message,
                    "The outcome of a step that was under way is unknown: Reconcile compares it with the disk.",
                );
                let now = self.now.ms;
                if let Some(session) = self.running_mut() {
                    session.elapsed_ms = Some(now - session.run.started_at_ms);
                    session.run.interrupt();
                }
                self.after_run();
            }
        }
    }

    fn take_end(&mut self, result: Result<i64, Failure>) {
        // The events have ended the run already, unless nothing ran.
        let ended = [&mut self.shown, &mut self.live].into_iter().flatten().find(|session| {
            matches!(session.approval, Approval::Used { .. }) && session.elapsed_ms.is_none()
        });
        match result {
            Ok(elapsed_ms) => {
                if let Some(session) = ended {
                    session.elapsed_ms = Some(elapsed_ms);
                    session.run.interrupt();
                }
            }
            Err(failure) => {
                if let Some(session) = ended {
                    if session.run.run_id.is_some() {
                        session.run.interrupt();
                        session.elapsed_ms = Some(0);
                    } else {
                        session.run = crate::run::RunState::default();
                        session.approval = Approval::None;
                    }
                }
                if failure.code == Code::EvidenceStore {
                    self.evidence_trouble = Some("evidence not recorded".to_owned());
                }
                self.failed("The run ended.", &failure);
            }
        }
        self.after_run();
    }

    pub(super) fn after_run(&mut self) {
        if self.prompt == Some(Prompt::Close) {
            self.prompt = None;
        }
        if self.running().is_none() {
            self.live = None;
        }
        self.ask(Request::Runs { limit: RUNS }, Purpose::Runs);
        self.review_again(false);
        self.search();
    }

    fn take_reply(&mut self, ticket: Ticket, reply: Reply) {
        let Some((purpose, latest)) = self.purposes.take(ticket) else { return };
        match (purpose, reply) {
            (Purpose::Record(authorization), Reply::Recorded) => {
                if let Some(session) = &mut self.shown {
                    session.answered(*authorization);
                }
                let void = self.void_notice.take();
                self.notices.retain(|notice| Some(notice.id) != void);
            }
            (Purpose::Trust, Reply::Trusted) => {
                self.review_again(true);
                self.look_at_place(0);
            }
            (Purpose::Simulate(digest), Reply::Failed(failure)) => {
                self.take_simulation(digest, Err(failure));
            }
            // Stopped for a plan that was opened since; asked for again, should this one stay in front.
            (Purpose::Preview(..), Reply::Failed(Failure { code: Code::Cancelled, .. })) => {}
            (purpose, Reply::Failed(failure)) => {
                if self.misses(&purpose, latest) {
                    self.failed(&purpose.failure(), &failure);
                }
            }
            (purpose, Reply::Panicked { message }) => {
                if self.misses(&purpose, latest) {
                    let summary = format!("{} The reader broke down.", purpose.failure());
                    let next = "Try again; if it happens again, copy this and report it.";
                    self.notify(Tone::Danger, summary, message, next);
                }
            }
            (Purpose::Execution(_), Reply::Execution { detail, attempt }) => {
                let id = detail.row.execution_id;
                self.attempts.extend(attempt.map(|attempt| (detail.row.run_id, attempt)));
                if self.evidence.selected == Some(id) {
                    self.evidence.detail = Some(*detail.clone());
                }
                if let Some(session) = &mut self.shown {
                    session.executions.insert(id, *detail);
                }
            }
            (Purpose::Blob(digest, shape), Reply::Blob { content, .. }) => {
                if let Err(error) = self.contents.arrived((digest, shape), content) {
                    let summary = Purpose::Blob(digest, shape).failure();
                    self.notify(Tone::Danger, summary, error.to_string(), "Try again in a moment.");
                }
            }
            (Purpose::Save(file), Reply::Saved) => {
                self.notify(Tone::Safe, format!("Saved as {}.", file.display()), "", "");
            }
            (Purpose::Preview(digest, step), Reply::Preview { preview, .. }) => {
                if let Some(session) = &mut self.shown
                    && session.digest == digest
                {
                    session.previews.insert(step, *preview);
                }
            }
            (Purpose::Source(run_id, place), Reply::Source(lines)) => {
                self.take_source(run_id, place, lines);
            }
            (Purpose::Edit, Reply::Editing) => {}
            (Purpose::Ask(question), Reply::Answered(answer)) => {
                if self.evidence.question.as_ref() == Some(&question) {
                    self.evidence.answer = Some(*answer);
                }
            }
            (Purpose::Simulate(digest), Reply::Simulated(simulation)) => {
                self.take_simulation(digest, Ok(*simulation));
            }
            // What was asked before something newer of its kind is no longer wanted.
            (_, _) if !latest => {}
            (Purpose::Host, Reply::Target { destination, state }) => {
                self.take_host(&destination, &state);
            }
            (Purpose::Open { workspace, .. }, Reply::Opened(opened)) => {
                self.show_opened(*opened, workspace);
            }
            (Purpose::FollowUp, Reply::Opened(opened)) => self.show_opened(*opened, None),
            (Purpose::Review(_), Reply::Opened(opened)) => self.take_review(*opened),
            (Purpose::Reconcile, Reply::Reconciled { run_id, found }) => {
                self.take_reconciled(run_id, found);
            }
            (Purpose::Runs, Reply::Runs(runs)) => self.runs = runs,
            (Purpose::Replay, Reply::Replayed(replayed)) => {
                let run_id = replayed.summary.run_id;
                self.attempts.extend(replayed.attempt.map(|attempt| (run_id, attempt)));
                self.show_session(PlanSession::replayed(*replayed));
            }
            (Purpose::Search, Reply::Page(page)) => self.evidence.page = Some(*page),
            (Purpose::Verify, Reply::Verified(report)) => {
                self.evidence.verification = Verification::Done(report);
            }
            (Purpose::Settings, Reply::Kept) => {}
            (Purpose::Place, Reply::Place(seen)) => self.take_place(*seen),
            (Purpose::Loops, Reply::Loops(loops)) => self.looping.loops = loops,
            (Purpose::Loop, Reply::LoopReplayed(replayed)) => self.looping.show_recorded(*replayed),
            (Purpose::RevokeClass, Reply::ClassRevoked { .. }) => self.looping.class_was_revoked(),
            (purpose, _) => {
                self.notify(Tone::Danger, purpose.failure(), "The answer was of another kind.", "");
            }
        }
    }

    /// Leaves nothing waiting for an answer that will not come; whether anybody still wanted it.
    fn misses(&mut self, purpose: &Purpose, latest: bool) -> bool {
        match purpose {
            Purpose::Record(_) => {
                if let Some(session) = &mut self.shown
                    && session.approval == Approval::Recording
                {
                    session.approval = Approval::None;
                }
            }
            Purpose::Verify if latest => self.evidence.verification = Verification::NotAsked,
            Purpose::Open { .. } | Purpose::Review(_) | Purpose::FollowUp if latest => {
                self.to_authorize = None;
            }
            Purpose::Preview(digest, step) => {
                if let Some(session) = self.shown.as_mut().filter(|it| it.digest == *digest) {
                    session.without_preview.insert(*step);
                }
            }
            Purpose::Blob(digest, shape) => self.contents.forget(&(*digest, *shape)),
            Purpose::Host => return latest && self.tried(),
            Purpose::Loop if latest => self.looping.stop_reading(),
            Purpose::Simulate(digest) => {
                if let Some(session) = self.shown.as_mut().filter(|it| it.digest == *digest) {
                    session.simulation = None;
                    session.shows_simulation = false;
                }
            }
            Purpose::Execution(id) => {
                if let Some(session) = &mut self.shown {
                    session.without_record.insert(*id);
                }
            }
            _ => {}
        }
        latest || matches!(purpose, Purpose::Record(_) | Purpose::Blob(..) | Purpose::Save(_))
    }

    pub(super) fn failed(&mut self, summary: &str, failure: &Failure) {
        let details = format!("{} {}", failure.code, failure.message);
        let line = failure.message.lines().next().unwrap_or_default();
        let summary = format!("{summary} {} {line}", failure.code);
        self.notify(Tone::Danger, summary, details, &*failure.next);
    }
}
