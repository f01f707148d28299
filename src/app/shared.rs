//! State that all pages share: the executor and query threads, the notices, the open dialog, and cached data of runs.
//!
//! [`App`] passes it to each page. The function that handles the answer to a query gets the whole [`App`] and calls
//! the pages that need the answer.

use std::collections::BTreeMap;
use std::path::PathBuf;

use uuid::Uuid;

use super::App;
use super::contents::{Contents, Key};
use super::pending::Pending;
use crate::run::{Attempt, ConfirmationRequest, Failure, Reconciled};
use crate::ui::action::Page;
use crate::ui::dialog::PromptId;
use crate::ui::format::Now;
use crate::ui::notice::Notice;
use crate::ui::theme::Tone;
use crate::worker::{
    FollowUp, ListLoops, ListRuns, OpenFollowUp, Query as _, QueryThread, ReadContent,
    ReadExecution, Reconcile, Save, Setup, ToSave, Wake, Worker,
};

/// The maximum number of listed runs and of listed loops; older ones are not listed.
const LISTED: usize = 200;

/// An open dialog other than the confirmation of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prompt {
    Authorize,
    Reject,
    Trust,
    /// Whether to trust the commands of the workspace that is entered in the form of a new loop.
    TrustForLoop,
    Close,
}

impl Prompt {
    /// The dialogs that decide about the plan.
    pub(super) const DECISIONS: [Self; 2] = [Self::Authorize, Self::Reject];
    /// The dialogs that are closed when the plan on the page changes.
    pub(super) const ABOUT_PLAN: [Self; 3] = [Self::Authorize, Self::Reject, Self::Trust];
}

/// What is shown in place of the window's views after one of them panicked.
#[derive(Debug)]
pub(super) struct ViewPanic {
    pub(super) message: String,
    /// Whether drawing the remaining bars panicked as well.
    pub(super) bare: bool,
}

/// What the pages share.
pub(super) struct Shared {
    pub(super) worker: Worker,
    pub(super) queries: QueryThread<App>,
    pub(super) pending: Pending,
    pub(super) setup: Setup,
    pub(super) now: Now,
    pub(super) page: Page,
    pub(super) notices: Vec<Notice>,
    next_notice: u64,
    pub(super) prompt: Option<Prompt>,
    /// The number of times that a dialog was shown. It gives each display a new identity.
    showing: u64,
    pub(super) view_panic: Option<ViewPanic>,
    pub(super) contents: Contents,
    /// The text to copy to the clipboard in the next frame.
    pub(super) to_copy: Option<String>,
    /// The loop attempt of each run, as far as loaded.
    pub(super) attempts: BTreeMap<Uuid, Attempt>,
    /// The results of *Reconcile*, by run.
    pub(super) reconciled: BTreeMap<Uuid, Vec<Reconciled>>,
    pub(super) evidence_trouble: Option<&'static str>,
}

impl Shared {
    pub(super) fn start(setup: Setup, wake: Wake) -> std::io::Result<Self> {
        Ok(Self {
            worker: Worker::start(setup.clone(), Wake::clone(&wake))?,
            queries: QueryThread::start(setup.clone(), Wake::clone(&wake))?,
            pending: Pending::default(),
            setup,
            now: super::now(),
            page: Page::default(),
            notices: Vec::new(),
            next_notice: 0,
            prompt: None,
            showing: 0,
            view_panic: None,
            contents: Contents::new(wake),
            to_copy: None,
            attempts: BTreeMap::new(),
            reconciled: BTreeMap::new(),
            evidence_trouble: None,
        })
    }

    pub(super) fn notify(
        &mut self,
        tone: Tone,
        summary: impl Into<String>,
        details: impl Into<String>,
        next: impl Into<String>,
    ) -> u64 {
        self.next_notice += 1;
        self.notices.push(Notice {
            id: self.next_notice,
            tone,
            summary: summary.into(),
            details: details.into(),
            next: next.into(),
        });
        self.next_notice
    }

    /// Shows an I/O error as a notice: `summary` is what could not be done, `next` what to do instead.
    pub(super) fn report_io(&mut self, result: std::io::Result<()>, summary: &str, next: &str) {
        if let Err(error) = result {
            self.notify(Tone::Danger, summary, error.to_string(), next);
        }
    }

    /// Shows a failure as a notice.
    pub(super) fn failed(&mut self, summary: &str, failure: &Failure) {
        let details = format!("{} {}", failure.code, failure.message);
        let line = failure.message.lines().next().unwrap_or_default();
        let summary = format!("{summary} {} {line}", failure.code);
        self.notify(Tone::Danger, summary, details, &*failure.next);
    }

    pub(super) fn dismiss(&mut self, notice: u64) {
        self.notices.retain(|it| it.id != notice);
    }

    /// Shows a dialog with a new identity, or with `None` the confirmation that the run waits for.
    pub(super) fn show_prompt(&mut self, prompt: Option<Prompt>) {
        self.showing += 1;
        self.prompt = prompt;
    }

    /// The identity of the current display of a dialog: the confirmation of a step, or another one.
    pub(super) fn prompt_id(&self, request: Option<&ConfirmationRequest>) -> PromptId {
        PromptId {
            run_id: request.map(|request| request.run_id),
            step_index: request.map_or(0, |request| request.step_index),
            showing: self.showing,
        }
    }

    /// Closes the open dialog if it is one of `which`. Returns whether it was.
    pub(super) fn close_prompt(&mut self, which: &[Prompt]) -> bool {
        self.prompt.take_if(|prompt| which.contains(prompt)).is_some()
    }

    /// Shows the page again after a panic. An open dialog gets a new identity.
    pub(super) fn try_again(&mut self) {
        if self.view_panic.take().is_some() {
            self.show_prompt(self.prompt);
        }
    }

    pub(super) fn reconciled_in(&self, run_id: Option<Uuid>) -> &[Reconciled] {
        run_id.and_then(|run_id| self.reconciled.get(&run_id)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn attempt_of(&self, run_id: Option<Uuid>) -> Option<Attempt> {
        self.attempts.get(&run_id?).copied()
    }

    pub(super) fn list_runs(&mut self) {
        self.ask(ListRuns(LISTED), |app, runs| app.plan.runs = runs);
    }

    pub(super) fn list_loops(&mut self) {
        self.ask(ListLoops(LISTED), |app, loops| app.loops.loops = loops);
    }

    /// Opens a follow-up plan of a recorded run or execution.
    pub(super) fn follow_up(&mut self, id: Uuid, follow_up: FollowUp) {
        self.ask_latest(OpenFollowUp { id, follow_up }, |app, opened| app.opened(opened, None));
    }

    /// Reads the record of an execution for each page that shows it.
    pub(super) fn read_execution(&mut self, id: Uuid) {
        self.ask_each(ReadExecution(id), move |app, record, latest| match record {
            Ok((detail, attempt)) => {
                let attempt = attempt.map(|attempt| (detail.row.run_id, attempt));
                app.shared.attempts.extend(attempt);
                app.evidence.take_execution(&detail);
                app.plan.take_execution(id, Some(detail));
            }
            Err(unanswered) => {
                app.plan.take_execution(id, None);
                if latest {
                    app.shared.report(unanswered);
                }
            }
        });
    }

    pub(super) fn reconcile(&mut self, run_id: Uuid) {
        self.ask(Reconcile(run_id), move |app, found| {
            if found.is_empty() {
                app.shared.notify(
                    Tone::Accent,
                    "No step of this run was interrupted.",
                    "Every step that had begun has a record.",
                    "",
                );
            }
            app.shared.reconciled.insert(run_id, found);
            // If a record of this run is open, it lacks the decision that *Reconcile* has just added.
            if let Some(id) = app.evidence.open_record_of(run_id) {
                app.shared.read_execution(id);
            }
        });
    }

    /// Loads a whole artifact, unless it is loaded or being loaded. With `copy`, copies it to the clipboard.
    pub(super) fn load_content(&mut self, key: Key, copy: bool) {
        if !self.contents.ask(key, copy) {
            return;
        }
        self.ask_each(ReadContent(key.0), move |app, content, _| match content {
            Ok(content) => {
                let arrived = app.shared.contents.arrived(key, content);
                app.shared.report_io(arrived, ReadContent::FAILURE, "Try again in a moment.");
            }
            Err(unanswered) => {
                app.shared.contents.forget(&key);
                app.shared.report(unanswered);
            }
        });
    }

    /// Writes a content to a file.
    pub(super) fn save(&mut self, file: PathBuf, what: ToSave) {
        let saved = format!("Saved as {}.", file.display());
        self.ask_each(Save { file, what }, |app, done, _| match done {
            Ok(()) => {
                app.shared.notify(Tone::Safe, saved, "", "");
            }
            Err(unanswered) => app.shared.report(unanswered),
        });
    }
}
