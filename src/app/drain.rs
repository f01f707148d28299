//! Applies what the worker and the query thread have sent.

use super::file_dialog::Chosen;
use super::{App, Prompt};
use crate::plan::Code;
use crate::run::{Failure, RunEvent};
use crate::ui::plan::Approval;
use crate::ui::theme::Tone;
use crate::worker::Event;

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
        while let Some(apply_answer) = self.queries.try_recv() {
            apply_answer(self);
        }
        match self.picked.take() {
            Some(Ok(Chosen::Plan(path))) => self.open(path, None),
            Some(Ok(Chosen::SaveAs(file, what))) => {
                self.save(file, what);
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
        self.prefetch();
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
                    self.list_runs();
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
        self.list_runs();
        self.review_again(false);
        self.search();
    }

    pub(super) fn failed(&mut self, summary: &str, failure: &Failure) {
        let details = format!("{} {}", failure.code, failure.message);
        let line = failure.message.lines().next().unwrap_or_default();
        let summary = format!("{summary} {} {line}", failure.code);
        self.notify(Tone::Danger, summary, details, &*failure.next);
    }
}
