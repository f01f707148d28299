//! Applies the messages of the threads and of the file picker to the pages.

use super::App;
use super::file_dialog::PickerResult;
use super::pending::FailedQuery;
use super::plan_page::{Chosen, PlanSession};
use super::recent::RecentChange;
use super::shared::Prompt;
use crate::plan::Code;
use crate::run::{Failure, RunEvent, RunStatus, StopCode};
use crate::ui::action::FolderFor;
use crate::ui::format::counted;
use crate::ui::notice::Scope;
use crate::ui::plan::RecentPlan;
use crate::ui::{Page, Tone};
use crate::worker::{Event, OpenedPlan, UnsignedEnd};

/// The size of output, in bytes, after which a frame leaves the remaining events to the next one, so that a frame takes
/// only a few milliseconds.
const MAX_FRAME_OUTPUT: usize = 64 << 10;
/// What the end of a step on a host counts besides its output, in bytes.
const HOST_OVERHEAD: usize = 256;

/// What to do about the end of a run that is not signed.
const SIGN_LATER: &str = "Sign it later: countersign evidence sign RUN";

impl App {
    /// Applies the messages that have arrived. Returns true if the limit for output was reached, so that more events
    /// may be queued.
    pub(super) fn drain(&mut self) -> bool {
        let mut output_left = MAX_FRAME_OUTPUT;
        while output_left > 0
            && let Some(event) = self.shared.worker.try_recv()
        {
            if let Event::Run(RunEvent::StepOutput { chunk, .. }) = &event {
                output_left = output_left.saturating_sub(chunk.len());
            }
            if let Event::Run(RunEvent::HostEnded { result }) = &event {
                output_left = output_left.saturating_sub(result.output.len() + HOST_OVERHEAD);
            }
            self.apply_event(event);
        }
        while let Some(apply_answer) = self.shared.queries.try_recv() {
            apply_answer(self);
        }
        match self.file_picker.take_result() {
            Some(Ok(PickerResult::Plan(path))) => self.plan.open(path, None, &mut self.shared),
            Some(Ok(PickerResult::LoopExample(workspace))) => {
                self.show_page(Page::Loop);
                self.loop_page.fill_example(&workspace, &self.shared);
            }
            Some(Ok(PickerResult::SaveAs(file, source))) => self.shared.save(file, source),
            Some(Ok(PickerResult::Export(file, order))) => self.export(file, *order),
            Some(Ok(PickerResult::PlanFolder { folder, purpose, plan })) => {
                self.plan.choose_folder(&plan, folder, purpose, &mut self.shared);
            }
            Some(Ok(PickerResult::Folder(folder, field))) => match field {
                FolderFor::Agent => self.agent.set_folder(&folder),
                _ => self.loop_page.set_folder(&folder, field, &self.shared),
            },
            Some(Ok(PickerResult::Settings(picked))) => self.settings_page.picked = Some(picked),
            Some(Err(error)) => {
                let next = "Check that the temporary folder is writable.";
                self.shared.report_io(Err(error), "The example cannot be copied.", next);
            }
            None => {}
        }
        if let Some(text) = self.shared.contents.take_prepared() {
            self.shared.to_copy = Some(text);
        }
        self.take_inbox();
        self.take_calls();
        self.take_agent_news();
        self.plan.prefetch(&mut self.shared);
        self.loop_page.check_folders_when_due(&mut self.shared);
        self.update_lists();
        self.plan.note_other_runs();
        let is_shown = self.shared.page == Page::Plan;
        self.plan.with_shown(|session| {
            session.end_was_seen = session.run.is_over() && (session.end_was_seen || is_shown);
        });
        let own = self.plan.own_run();
        self.loop_page.note_other_runs(&self.plan.runs, own);
        self.end_outdated_notices();
        self.observe_tour();
        self.note_place(false);
        output_left == 0
    }

    pub(super) fn apply_event(&mut self, event: Event) {
        let shared = &mut self.shared;
        match event {
            Event::Run(event) => {
                if let Some(current) = self.loop_page.apply_event(&event, shared) {
                    self.plan.apply_loop_event(&event, current, shared);
                }
                self.plan.apply_event(&event, shared);
            }
            Event::Finished(result) => {
                let completed =
                    result.as_ref().is_ok_and(|result| result.status == RunStatus::Completed);
                let not_signed = result.as_ref().ok().and_then(|it| it.not_signed.clone());
                if let Some(why) = not_signed {
                    let summary = "The end of the run is not signed.";
                    shared.notify(Tone::Caution, summary, why, SIGN_LATER);
                }
                let result = result.map(|result| result.elapsed_ms);
                let not_begun = self.plan.end_run(&result);
                let call = not_begun.and_then(|file| self.agents.sessions.of_file_mut(&file));
                if let Some((call, failure)) = call.zip(result.as_ref().err()) {
                    call.note_not_run(format!("{} {}", failure.code, failure.message));
                }
                if let Err(failure) = result {
                    if failure.code == Code::EvidenceStore {
                        shared.evidence_error = Some("evidence not recorded");
                    }
                    shared.report_failure(Scope::Window, "The run ended.", &failure);
                }
                self.after_run(completed);
            }
            Event::Proposed(proposal) => {
                if self.loop_page.take_proposal(&proposal) {
                    self.plan.take_proposal(*proposal, shared);
                }
            }
            Event::LoopFinished(outcome) => {
                let is_complete = |code| code == StopCode::Completed;
                let completed = outcome.as_ref().is_ok_and(|it| is_complete(it.stop_reason.code));
                let not_signed = outcome.as_ref().map_or(&[][..], |it| &it.not_signed);
                if !not_signed.is_empty() {
                    let why: Vec<_> = not_signed.iter().map(UnsignedEnd::sentence).collect();
                    let summary = match not_signed.len() {
                        1 => "The end of a run of the loop is not signed.".to_owned(),
                        many => format!("The ends of {many} runs of the loop are not signed."),
                    };
                    shared.notify(Tone::Caution, summary, why.join("\n"), SIGN_LATER);
                }
                self.apply_loop_end(outcome.err(), completed);
            }
            Event::SecretNeeded { id, question } => {
                shared.ask_secret(id, question, self.plan.request());
            }
            Event::SecretSettled { id } => {
                shared.keep_secrets(self.plan.request(), |asked| asked != id);
            }
            Event::CutOff => {
                let shown = self.plan.shown.as_ref().and_then(|session| session.run.run_id);
                let scope = match self.plan.own_run() {
                    Some(run) if shown != Some(run) => Scope::Run(run),
                    _ => Scope::Plan,
                };
                shared.notify_in(
                    scope,
                    Tone::Caution,
                    "The tour has cut the run of its second plan off in the middle of a step, as a power cut would.",
                    "",
                    "The outcome of that step is unknown: Reconcile compares its file with what was to be written.",
                );
                self.plan.interrupt_run(shared.now.ms);
                self.after_run(false);
            }
            Event::Panicked { message } => {
                // The check of a host, or a signature, may still wait for its answer.
                let asked = shared.secrets.iter().map(|(id, _)| *id);
                let beside: Vec<_> = asked.filter(|id| shared.worker.is_beside_run(*id)).collect();
                shared.keep_secrets(self.plan.request(), |id| beside.contains(&id));
                shared.notify(
                    Tone::Danger,
                    "The worker thread crashed; the run is interrupted.",
                    message,
                    "The outcome of a step that was under way is unknown: Reconcile compares its files with the disk.",
                );
                self.plan.interrupt_run(shared.now.ms);
                self.after_run(false);
            }
        }
    }

    /// Applies the end of the loop, or the failure to start it.
    fn apply_loop_end(&mut self, failure: Option<Failure>, completed: bool) {
        let shared = &mut self.shared;
        if let Some(loop_id) = self.loop_page.end_loop(failure.as_ref(), shared.now.ms) {
            self.plan.end_attempts(loop_id, shared);
            self.loop_page.notify_end(loop_id, shared);
        }
        if let Some(failure) = failure {
            shared.report_failure(Scope::Window, "The loop ended.", &failure);
        }
        shared.list_loops();
        self.after_run(completed);
    }

    /// Updates the pages after a run or a loop has ended, and begins the next plan of the queue if it has completed.
    fn after_run(&mut self, completed: bool) {
        self.shared.close_prompt(&[Prompt::Close]);
        self.note_call_runs();
        if self.plan.running().is_none() {
            // A rule may answer any number of calls. The page of their session has them all.
            if !self.is_live_by_rule() {
                self.plan.notify_hidden_end(&mut self.shared);
            }
            self.plan.live = None;
        }
        self.shared.list_runs();
        self.note_decided();
        self.plan.review_again(false, &mut self.shared);
        self.evidence.refresh(&mut self.shared);
        // What an agent does next may depend on the failure, and it knows of it.
        let of_agent = self.plan.call_run.take().is_some();
        if !completed && !of_agent {
            self.plan.hold_queue("What ran before did not complete.");
        }
        self.start_next();
    }

    /// Removes the notices of a page that is not shown, and those that lead to what is shown.
    pub(super) fn end_outdated_notices(&mut self) {
        let page = self.shared.page;
        let session = self.plan.shown.as_ref().filter(|_| page == Page::Plan);
        let shown_loop = self.loop_page.shown_state().filter(|_| page == Page::Loop);
        self.shared.end_notices(|scope| match scope {
            Scope::Page(its) => its != page,
            Scope::Run(run_id) => session.is_some_and(|it| it.run.run_id == Some(run_id)),
            Scope::Loop(loop_id) => {
                shown_loop.is_some_and(|it| it.loop_id == Some(loop_id))
                    || session.is_some_and(|it| it.belongs_to_loop(loop_id))
            }
            Scope::Window | Scope::Plan | Scope::Change => false,
        });
    }

    /// Shows a plan that was opened, and adds it to the recent plans. A failure becomes a notice.
    pub(super) fn show_opened(&mut self, opened: Result<OpenedPlan, FailedQuery>, chosen: Chosen) {
        match opened {
            Ok(opened) => {
                self.note_opened(&opened);
                self.plan.show_opened(opened, chosen, &mut self.shared);
            }
            Err(failed) => self.plan.open_failed(failed, &mut self.shared),
        }
    }

    /// Adds a plan that was opened to the recent plans.
    pub(super) fn note_opened(&mut self, opened: &OpenedPlan) {
        let Some(plan) = &opened.plan else { return };
        // The file of an agent's call goes with the call. The inbox lists it.
        if opened.held.as_ref().is_some_and(|held| held.asked_until_ms.is_some()) {
            return;
        }
        let steps = counted(plan.steps.len(), "step");
        // The inbox names its own files all alike.
        let proposed = opened.held.as_ref().and_then(|held| held.name.as_ref());
        self.change_recent(RecentChange::Opened(RecentPlan {
            path: opened.path.clone(),
            name: plan.name().to_owned(),
            detail: match (&opened.revised, proposed) {
                (Some(revised), _) => {
                    let file = revised.base.file_name().unwrap_or_default().display().to_string();
                    format!("revised by you · {file} · {steps}")
                }
                (None, Some(name)) => format!("{name} · {steps}"),
                (None, None) => steps,
            },
            digest: Some(opened.digest),
            pinned: false,
            rejected: opened.rejected.is_some(),
        }));
    }

    /// Lists a recent plan as its file is now, if it was edited.
    pub(super) fn note_edited(&mut self, opened: &OpenedPlan) {
        let mut recent = self.plan.recent.iter().filter(|it| it.path == opened.path);
        if recent.any(|it| it.digest != Some(opened.digest)) {
            self.note_opened(opened);
        }
    }

    /// Reviews the plan and the folders of the loop form again after a decision about trust or remembered grants was
    /// recorded. A failure to record it becomes a notice.
    pub(super) fn after_trust_decision(&mut self, recorded: Result<(), FailedQuery>) {
        match recorded {
            Ok(()) => {
                self.plan.review_again(true, &mut self.shared);
                self.loop_page.schedule_folder_check(0, &self.shared);
            }
            Err(failed) => self.shared.report(failed),
        }
    }

    /// Updates the list of steps, and the diagnostics page if it is shown.
    pub(super) fn update_lists(&mut self) {
        self.plan.with_shown(PlanSession::update_step_list);
        if let Some(session) = &mut self.plan.shown
            && self.shared.page == Page::Diagnostics
        {
            let workspace = session.reviewed_workspace();
            let (run, plan) = (&session.run, session.opened.plan.as_deref());
            session.diagnostics.update(run, plan, workspace, &mut self.shared);
        }
    }
}
