//! Applies what the threads and the file picker have sent, and passes it on to the pages.

use std::path::PathBuf;

use super::App;
use super::file_dialog::Chosen;
use super::pending::Unanswered;
use super::plan_page::PlanPage;
use super::shared::Prompt;
use crate::plan::Code;
use crate::run::{Failure, RunEvent};
use crate::ui::action::Page;
use crate::ui::theme::Tone;
use crate::worker::{Event, OpenedPlan};

/// The maximum output applied in one frame, in bytes, so that a frame takes a few milliseconds. The rest waits for
/// the next frame.
const OUTPUT_BYTES: usize = 64 << 10;

impl App {
    /// Applies what has arrived. Returns true if the limit for output was reached, so that more may be waiting.
    pub(super) fn drain(&mut self) -> bool {
        let mut room = OUTPUT_BYTES;
        while room > 0
            && let Some(event) = self.shared.worker.try_recv()
        {
            if let Event::Run(RunEvent::StepOutput { chunk, .. }) = &event {
                room = room.saturating_sub(chunk.len());
            }
            self.take_event(event);
        }
        while let Some(apply_answer) = self.shared.queries.try_recv() {
            apply_answer(self);
        }
        match self.picked.take() {
            Some(Ok(Chosen::Plan(path))) => PlanPage::open(path, None, &mut self.shared),
            Some(Ok(Chosen::SaveAs(file, what))) => self.shared.save(file, what),
            Some(Ok(Chosen::Folder(folder, what))) => {
                self.loops.take_folder(&folder, what, &self.shared);
            }
            Some(Err(error)) => {
                self.shared.report_io(Err(error), "The tour cannot be copied.", "");
            }
            None => {}
        }
        if let Some(text) = self.shared.contents.take() {
            self.shared.to_copy = Some(text);
        }
        self.plan.prefetch(&mut self.shared);
        self.loops.look_when_due(&mut self.shared);
        self.update_diagnostics();
        room == 0
    }

    fn take_event(&mut self, event: Event) {
        let shared = &mut self.shared;
        match event {
            Event::Run(event) => {
                if let Some(current) = self.loops.happened(&event, shared) {
                    self.plan.happened_in_loop(&event, current, shared);
                }
                self.plan.happened(&event, shared);
            }
            Event::Finished(result) => {
                let result = result.map(|result| result.elapsed_ms);
                self.plan.ended(&result);
                if let Err(failure) = result {
                    if failure.code == Code::EvidenceStore {
                        shared.evidence_trouble = Some("evidence not recorded");
                    }
                    shared.failed("The run ended.", &failure);
                }
                self.after_run();
            }
            Event::Proposed(proposal) => {
                if self.loops.take_proposal(&proposal) {
                    self.plan.take_proposal(*proposal, shared);
                }
            }
            Event::LoopFinished(outcome) => self.take_loop_end(outcome.err()),
            Event::Panicked { message } => {
                shared.notify(
                    Tone::Danger,
                    "The worker thread crashed; the run is interrupted.",
                    message,
                    "The outcome of a step that was under way is unknown: Reconcile compares its files with the disk.",
                );
                self.plan.interrupted(shared.now.ms);
                self.after_run();
            }
        }
    }

    /// Notes that the loop ended, or that it could not begin.
    fn take_loop_end(&mut self, failure: Option<Failure>) {
        let shared = &mut self.shared;
        if let Some(loop_id) = self.loops.ended(failure.as_ref(), shared.now.ms) {
            self.plan.end_attempts(loop_id, shared);
        }
        if let Some(failure) = failure {
            shared.failed("The loop ended.", &failure);
        }
        shared.list_loops();
        self.after_run();
    }

    fn after_run(&mut self) {
        self.shared.close_prompt(&[Prompt::Close]);
        if self.plan.running().is_none() {
            self.plan.live = None;
        }
        self.shared.list_runs();
        self.plan.review_again(false, &mut self.shared);
        self.evidence.search(&mut self.shared);
    }

    /// Shows a plan that was opened, and saves it as a recent one. A failure becomes a notice.
    pub(super) fn opened(
        &mut self,
        opened: Result<OpenedPlan, Unanswered>,
        workspace: Option<PathBuf>,
    ) {
        match opened {
            Ok(opened) => {
                let is_plan = opened.plan.is_some();
                self.plan.show_opened(opened, workspace, &mut self.shared);
                if is_plan {
                    self.save_settings();
                }
            }
            Err(unanswered) => self.plan.not_opened(unanswered, &mut self.shared),
        }
    }

    /// Reviews the plan and the folders of the loop form again after a decision about trust or remembered walls.
    pub(super) fn trust_changed(&mut self, recorded: Result<(), Unanswered>) {
        match recorded {
            Ok(()) => {
                self.plan.review_again(true, &mut self.shared);
                self.loops.look_at_folders(0, &self.shared);
            }
            Err(unanswered) => self.shared.report(unanswered),
        }
    }

    /// Updates the list of the diagnostics page while that page is shown.
    pub(super) fn update_diagnostics(&mut self) {
        if let Some(session) = &mut self.plan.shown
            && self.shared.page == Page::Diagnostics
        {
            let workspace = session.reviewed_workspace();
            let (run, plan) = (&session.run, session.opened.plan.as_deref());
            session.diagnostics.update(run, plan, workspace, &mut self.shared);
        }
    }
}
