//! Takes in what the worker and the desk say.

use std::collections::BTreeSet;
use std::path::PathBuf;

use uuid::Uuid;

use super::file_dialog::Chosen;
use super::purpose::Purpose;
use super::session::PlanSession;
use super::{App, Prompt, RUNS};
use crate::plan::{Code, Digest};
use crate::run::{Failure, Reconciled, RunEvent};
use crate::ui::action::Page;
use crate::ui::evidence::Verification;
use crate::ui::plan::{Approval, RecentPlan};
use crate::ui::theme::Tone;
use crate::worker::{Event, OpenedPlan, Reply, Request, Ticket};

/// How many plans the list of recent ones keeps.
const RECENT: usize = 12;
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
            Some(Err(error)) => {
                self.notify(Tone::Danger, "The tour cannot be copied.", error.to_string(), "");
            }
            None => {}
        }
        if let Some(text) = self.contents.take() {
            self.to_copy = Some(text);
        }
        self.ask_for_what_is_shown();
        self.keep_diagnostics();
        room == 0
    }

    fn take_event(&mut self, event: Event) {
        match event {
            Event::Run(event) => {
                let now = self.now.ms;
                let asked = self.running_mut().is_some_and(|it| it.happened(&event, now));
                if matches!(event, RunEvent::RunStarted { .. }) {
                    self.ask(Request::Runs { limit: RUNS }, Purpose::Runs);
                }
                if asked {
                    // A new question is a new identity, also when the last one is still in front.
                    let prompt = self.prompt;
                    self.show_prompt(prompt);
                }
            }
            Event::Finished(result) => self.take_end(result.map(|result| result.elapsed_ms)),
            // Of a loop, which only its page starts.
            Event::Proposed(_) | Event::LoopFinished(_) => {}
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

    fn after_run(&mut self) {
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
            (Purpose::Trust, Reply::Trusted) => self.review_again(true),
            (Purpose::Simulate(digest), Reply::Failed(failure)) => {
                self.take_simulation(digest, Err(failure));
            }
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
            (Purpose::Execution(_), Reply::Execution(detail)) => {
                let id = detail.row.execution_id;
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
                self.show_session(PlanSession::replayed(*replayed));
            }
            (Purpose::Search, Reply::Page(page)) => self.evidence.page = Some(*page),
            (Purpose::Verify, Reply::Verified(report)) => {
                self.evidence.verification = Verification::Done(report);
            }
            (Purpose::Settings, Reply::Kept) => {}
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

    fn failed(&mut self, summary: &str, failure: &Failure) {
        let details = format!("{} {}", failure.code, failure.message);
        let line = failure.message.lines().next().unwrap_or_default();
        let summary = format!("{summary} {} {line}", failure.code);
        self.notify(Tone::Danger, summary, details, &*failure.next);
    }

    fn show_opened(&mut self, opened: OpenedPlan, workspace: Option<PathBuf>) {
        if let Some(plan) = &opened.plan {
            let detail = crate::ui::format::counted(plan.steps.len(), "step");
            let recent =
                RecentPlan { path: opened.path.clone(), name: plan.name().to_owned(), detail };
            self.recent.retain(|other| other.path != recent.path);
            self.recent.insert(0, recent);
            self.recent.truncate(RECENT);
            self.save_settings();
        }
        let wanted = self.to_authorize.take();
        self.show_session(PlanSession::opened(opened, workspace));
        self.authorize_if(wanted);
    }

    /// Opens the question about the plan that is shown, when it is the one that was wanted.
    fn authorize_if(&mut self, wanted: Option<Digest>) {
        let Some((wanted, session)) = wanted.zip(self.shown.as_ref()) else { return };
        if session.digest != wanted {
            self.notify(
                Tone::Caution,
                "The plan file is no longer the one of that run.",
                format!("It was {wanted} and is {} now.", session.digest),
                "Look at the steps as they are now, then authorize them.",
            );
        } else if session.not_authorizable().is_none() {
            self.show_prompt(Some(Prompt::Authorize));
        }
    }

    fn take_reconciled(&mut self, run_id: Uuid, found: Vec<Reconciled>) {
        if found.is_empty() {
            self.notify(
                Tone::Accent,
                "No step of this run was interrupted.",
                "Every step that had begun has a record.",
                "",
            );
        }
        self.reconciled.insert(run_id, found);
        // What was found is a decision in the record that may be open.
        if let Some(detail) = self.evidence.detail.as_ref().filter(|it| it.row.run_id == run_id) {
            let id = detail.row.execution_id;
            self.ask(Request::Execution(id), Purpose::Execution(id));
        }
    }

    /// Puts a session on the page; one whose run is under way stays behind it.
    pub(super) fn show_session(&mut self, session: PlanSession) {
        self.to_authorize = None;
        self.try_again();
        let before = self.shown.replace(session);
        if let Some(before) = before.filter(|before| before.run.is_active()) {
            self.live = Some(before);
        }
        self.page = Page::Plan;
        if self.prompt != Some(Prompt::Close) {
            self.prompt = None;
        }
        self.watch_files();
    }

    fn take_review(&mut self, opened: OpenedPlan) {
        let Some(session) = &mut self.shown else { return };
        if session.path.as_ref() != Some(&opened.path) || session.run.is_active() {
            return;
        }
        let ran = session.run.is_over() && session.digest != opened.digest;
        let was_approved = matches!(session.approval, Approval::Approved { .. });
        let changes = session.reviewed(opened);
        let first = changes.first().map(|change| change.what.clone());
        let all: Vec<_> = changes.iter().map(ToString::to_string).collect();
        if ran {
            self.notify(
                Tone::Caution,
                "The plan file has changed since its run.",
                all.join("\n"),
                "The page shows the file as it is now. What ran stands in the list of runs.",
            );
        } else if let Some(first) = first {
            if matches!(self.prompt, Some(Prompt::Authorize | Prompt::Reject | Prompt::Trust)) {
                self.prompt = None;
                self.notify(
                    Tone::Caution,
                    format!("Changed while you were reading: {first}."),
                    all.join("\n"),
                    "Look at the steps again, then answer.",
                );
            } else if was_approved {
                let id = self.notify(
                    Tone::Caution,
                    format!("The approval is void. Changed since: {first}."),
                    all.join("\n"),
                    "Look at the steps again, then authorize again.",
                );
                self.void_notice = Some(id);
            }
        }
        let wanted = self.to_authorize.take();
        self.authorize_if(wanted);
        self.watch_files();
    }

    fn watch_files(&mut self) {
        let mut files = BTreeSet::new();
        if let Some(session) = &self.shown {
            files.extend(session.path.clone());
            if let Some(review) = &session.review {
                let inputs = review.binding.inputs.keys();
                files.extend(inputs.map(|path| review.workspace.join(path)));
            }
        }
        let files: BTreeSet<PathBuf> =
            files.into_iter().map(|file| std::path::absolute(&file).unwrap_or(file)).collect();
        if let Err(error) = self.watch.files(files) {
            self.notify(
                Tone::Caution,
                "Changes on disk are not noticed at once.",
                error.to_string(),
                "They are still found before anything runs.",
            );
        }
    }
}
