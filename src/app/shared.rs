//! State that all pages share: the executor and query threads, the notices, the open dialog, and cached data of runs.
//!
//! [`App`] passes it to each page. The function that handles the answer to a query gets the whole [`App`] and calls
//! the pages that need the answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::App;
use super::contents::{Contents, Key};
use super::pending::Pending;
use super::plan_page::Chosen;
use crate::run::{Attempt, ConfirmationRequest, Failure, Reconciled, SecretQuestion};
use crate::ui::dialog::PromptId;
use crate::ui::notice::{Notice, Scope};
use crate::ui::{Now, Page, Tone};
use crate::worker::calls::AgentCalls;
use crate::worker::{
    FollowUp, ListLoops, ListRuns, OpenFollowUp, Query as _, QueryError, QueryThread, ReadContent,
    ReadExecution, Reconcile, Save, SaveSource, Setup, Wake, Worker,
};

/// The maximum number of listed runs, and of listed loops. Older ones are not listed.
const MAX_LISTED: usize = 200;

/// An open dialog other than the confirmation of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prompt {
    Authorize,
    Reject,
    /// The values of the shown plan's inputs.
    FillIn,
    /// Whether to trust the commands of the shown plan's workspace.
    Trust,
    /// Whether to trust the commands of the workspace in the form of a new loop.
    TrustForLoop,
    /// Whether to grant to every plan in the workspace what is granted to the shown plan.
    RememberWalls,
    /// Whether identical calls of an agent's session are allowed.
    SessionRule,
    /// What of the evidence is written to a file, and in which format.
    Export,
    /// Whether to purge old records.
    Purge,
    /// Whether to stop the run or loop under way and close the window.
    Close,
}

impl Prompt {
    /// The dialogs that decide about the plan.
    pub(super) const DECISIONS: [Self; 2] = [Self::Authorize, Self::Reject];
    /// The dialogs that are closed when a new review of the shown plan finds changes.
    pub(super) const ABOUT_PLAN: [Self; 4] =
        [Self::Authorize, Self::Reject, Self::Trust, Self::RememberWalls];
}

/// A panic of a view. A message about it is shown in place of the page until the person tries again.
#[derive(Debug)]
pub(super) struct ViewPanic {
    pub(super) message: String,
    /// Whether drawing the message with the window's bars panicked as well. Then only the message is drawn.
    pub(super) bare: bool,
}

fn step_of(request: &ConfirmationRequest) -> (Uuid, usize) {
    (request.run_id, request.step_index)
}

/// The state that the pages share.
pub(super) struct Shared {
    pub(super) worker: Worker,
    /// The calls of agents that wait for the person; `None` if the system could not start the thread.
    pub(super) calls: Option<AgentCalls>,
    pub(super) queries: QueryThread<App>,
    pub(super) pending: Pending,
    pub(super) setup: Setup,
    pub(super) now: Now,
    pub(super) page: Page,
    pub(super) notices: Vec<Notice>,
    last_notice: u64,
    pub(super) prompt: Option<Prompt>,
    /// The questions for secrets that programs wait for, with their ids. The first one is shown.
    pub(super) secrets: Vec<(Uuid, SecretQuestion)>,
    /// The confirmation that was on screen when the first of them arrived, as run and step. It stays in front.
    secrets_behind: Option<(Uuid, usize)>,
    /// The number of the current display of a dialog, so that each display has its own identity.
    showing: u64,
    pub(super) view_panic: Option<ViewPanic>,
    pub(super) contents: Contents,
    /// Wakes the window from another thread.
    pub(super) wake: Wake,
    /// The text to copy to the clipboard in the next frame.
    pub(super) to_copy: Option<String>,
    /// The attempts of bounded loops to which loaded runs belong, by run.
    pub(super) attempts: BTreeMap<Uuid, Attempt>,
    /// The results of *Reconcile*, by run.
    pub(super) reconciled: BTreeMap<Uuid, Vec<Reconciled>>,
    /// The error of writing the evidence in the last run, for the status bar.
    pub(super) evidence_error: Option<&'static str>,
}

impl Shared {
    /// Starts the threads. `window` is the folder of the window's socket.
    pub(super) fn start(setup: Setup, window: &Path, wake: Wake) -> std::io::Result<Self> {
        Ok(Self {
            calls: AgentCalls::start(window, setup.clone(), Wake::clone(&wake)).ok(),
            worker: Worker::start(setup.clone(), Wake::clone(&wake))?,
            queries: QueryThread::start(setup.clone(), Wake::clone(&wake))?,
            pending: Pending::default(),
            setup,
            now: super::now(),
            page: Page::default(),
            notices: Vec::new(),
            last_notice: 0,
            prompt: None,
            secrets: Vec::new(),
            secrets_behind: None,
            showing: 0,
            view_panic: None,
            contents: Contents::new(Wake::clone(&wake)),
            wake,
            to_copy: None,
            attempts: BTreeMap::new(),
            reconciled: BTreeMap::new(),
            evidence_error: None,
        })
    }

    /// Shows a notice of the whole window; the same one again only raises its count. Returns its id, with which it can
    /// be removed.
    pub(super) fn notify(
        &mut self,
        tone: Tone,
        summary: impl Into<String>,
        details: impl Into<String>,
        next: impl Into<String>,
    ) -> u64 {
        self.notify_in(Scope::Window, tone, summary, details, next)
    }

    /// Shows a notice of the page on which the person is.
    pub(super) fn notify_here(
        &mut self,
        tone: Tone,
        summary: impl Into<String>,
        details: impl Into<String>,
        next: impl Into<String>,
    ) {
        self.notify_in(Scope::Page(self.page), tone, summary, details, next);
    }

    /// Shows a notice with this scope. Of those about a change, there is only the latest.
    pub(super) fn notify_in(
        &mut self,
        scope: Scope,
        tone: Tone,
        summary: impl Into<String>,
        details: impl Into<String>,
        next: impl Into<String>,
    ) -> u64 {
        if scope == Scope::Change {
            self.end_notices(|it| it == Scope::Change);
        }
        self.last_notice += 1;
        let mut notice = Notice {
            id: self.last_notice,
            tone,
            summary: summary.into(),
            details: details.into(),
            next: next.into(),
            times: 1,
            scope,
        };
        // Every query on a damaged database fails in the same way.
        if let Some(index) = self.notices.iter().position(|it| it.is_same(&notice)) {
            let earlier = self.notices.remove(index);
            (notice.id, notice.times) = (earlier.id, earlier.times + 1);
        }
        let id = notice.id;
        self.notices.push(notice);
        id
    }

    /// Shows an I/O error as a notice: `summary` is what could not be done, `next` what to do instead.
    pub(super) fn report_io(&mut self, result: std::io::Result<()>, summary: &str, next: &str) {
        if let Err(error) = result {
            self.notify_here(Tone::Danger, summary, error.to_string(), next);
        }
    }

    /// Shows a failure as a notice that begins with `summary`.
    pub(super) fn report_failure(&mut self, scope: Scope, summary: &str, failure: &Failure) {
        // Its message may quote the plan.
        log::error!("failure shown code={}", failure.code);
        let details = format!("{} {}", failure.code, failure.message);
        let first_line = failure.message.lines().next().unwrap_or_default();
        let summary = format!("{summary} {} {first_line}", failure.code);
        // Lists are read again and again, and would fill the window with the same sentence.
        if self.notices.iter().any(|it| it.summary == summary && it.details == details) {
            return;
        }
        self.notify_in(scope, Tone::Danger, summary, details, &*failure.next);
    }

    /// Removes the notices whose scope ends.
    pub(super) fn end_notices(&mut self, ends: impl Fn(Scope) -> bool) {
        self.notices.retain(|it| !ends(it.scope));
    }

    pub(super) fn dismiss(&mut self, notice: u64) {
        self.notices.retain(|it| it.id != notice);
    }

    /// Shows a dialog with a new identity; with `None`, the pending confirmation instead of the open dialog.
    pub(super) fn show_prompt(&mut self, prompt: Option<Prompt>) {
        self.showing += 1;
        self.prompt = prompt;
    }

    /// Gives a new confirmation an identity of its own, even if the previous one is still shown. A dialog in front of it
    /// stays there, with all that is typed in it.
    pub(super) fn ask_to_confirm(&mut self) {
        self.secrets_behind = None;
        if self.prompt.is_none() && self.secrets.is_empty() {
            self.show_prompt(None);
        }
    }

    /// The identity of the current display of a dialog; `request` is the confirmation in it, if it is one.
    pub(super) fn prompt_id(&self, request: Option<&ConfirmationRequest>) -> PromptId {
        PromptId {
            about: request.map(|request| request.run_id),
            step_index: request.map_or(0, |request| request.step_index),
            showing: self.showing,
        }
    }

    /// The question for a secret that is in front, with the identity of its dialog. It has one of its own, so that
    /// nothing typed in a dialog before it is in its field. `request` is the confirmation that is not closed.
    pub(super) fn shown_secret(
        &self,
        request: Option<&ConfirmationRequest>,
    ) -> Option<(PromptId, Uuid, &SecretQuestion)> {
        let is_behind = self.prompt.is_some()
            || request.is_some_and(|request| self.secrets_behind == Some(step_of(request)));
        let (id, question) = self.secrets.first().filter(|_| !is_behind)?;
        Some((PromptId { about: Some(*id), ..self.prompt_id(None) }, *id, question))
    }

    /// Adds a question for a secret. An open dialog stays in front of it, with all that is typed there.
    pub(super) fn ask_secret(
        &mut self,
        id: Uuid,
        question: SecretQuestion,
        request: Option<&ConfirmationRequest>,
    ) {
        if self.secrets.is_empty() {
            self.secrets_behind = request.map(step_of);
        }
        self.secrets.push((id, question));
        if self.shown_secret(request).is_some_and(|(_, shown, _)| shown == id) {
            self.show_prompt(None);
        }
    }

    /// Keeps the open questions for secrets for which `wanted` is true, and removes the others. If the question on screen
    /// is removed, the next dialog gets a new identity, so that nothing typed for the old one counts.
    pub(super) fn keep_secrets(
        &mut self,
        request: Option<&ConfirmationRequest>,
        wanted: impl Fn(Uuid) -> bool,
    ) {
        let in_front = self.shown_secret(request).map(|(_, id, _)| id);
        self.secrets.retain(|(id, _)| wanted(*id));
        if in_front.is_some_and(|id| !wanted(id)) {
            self.show_prompt(None);
        }
    }

    /// Closes the open dialog if it is one of `prompts`. Returns whether it was.
    pub(super) fn close_prompt(&mut self, prompts: &[Prompt]) -> bool {
        self.prompt.take_if(|prompt| prompts.contains(prompt)).is_some()
    }

    /// Shows the views again after a panic. An open dialog gets a new identity.
    pub(super) fn clear_view_panic(&mut self) {
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
        self.query(ListRuns(MAX_LISTED), |app, runs| app.plan.runs = runs);
    }

    pub(super) fn list_loops(&mut self) {
        self.query(ListLoops(MAX_LISTED), |app, loops| app.loop_page.summaries = loops);
    }

    /// Opens a follow-up plan of a recorded run or execution.
    pub(super) fn follow_up(&mut self, id: Uuid, follow_up: FollowUp) {
        self.query_latest(OpenFollowUp { id, follow_up }, |app, opened| {
            app.show_opened(opened, Chosen::default());
        });
    }

    /// Reads the record of an execution for the pages that show it.
    pub(super) fn read_execution(&mut self, id: Uuid) {
        self.query_each(ReadExecution(id), move |app, record, latest| match record {
            Ok((detail, attempt)) => {
                let attempt = attempt.map(|attempt| (detail.row.run_id, attempt));
                app.shared.attempts.extend(attempt);
                app.evidence.take_execution(&detail);
                app.plan.take_execution(id, Some(detail));
            }
            Err(failed) => {
                app.plan.take_execution(id, None);
                if let QueryError::Failed(failure) = &failed.error {
                    app.evidence.take_failure(id, failure.message.clone());
                }
                if latest {
                    app.shared.report(failed);
                }
            }
        });
    }

    /// Compares the files of a run's interrupted steps with the disk. If no step was interrupted, shows a notice.
    pub(super) fn reconcile(&mut self, run_id: Uuid) {
        self.query(Reconcile(run_id), move |app, found| {
            if found.is_empty() {
                app.shared.notify_here(
                    Tone::Accent,
                    "No step of this run was interrupted.",
                    "Every step that had begun has a record.",
                    "",
                );
            }
            app.shared.reconciled.insert(run_id, found);
            // *Reconcile* has added a decision to the records of this run, which an open record does not show yet.
            if let Some(id) = app.evidence.open_record_of(run_id) {
                app.shared.read_execution(id);
            }
        });
    }

    /// Loads the complete content of an artifact, unless it is loaded or being loaded. With `copy`, copies the content
    /// to the clipboard once it is loaded.
    pub(super) fn load_content(&mut self, key: Key, copy: bool) {
        if !self.contents.request(key, copy) {
            return;
        }
        self.query_each(ReadContent(key.0), move |app, content, _| match content {
            Ok(content) => {
                let started = app.shared.contents.receive(key, content);
                app.shared.report_io(started, ReadContent::FAILURE, "Try again in a moment.");
            }
            Err(failed) => {
                app.shared.contents.forget(&key);
                app.shared.report(failed);
            }
        });
    }

    /// Writes a content to a file, and shows a notice about the success or failure.
    pub(super) fn save(&mut self, file: PathBuf, source: SaveSource) {
        let summary = format!("Saved as {}.", file.display());
        self.query_each(Save { file, source }, |app, saved, _| match saved {
            Ok(()) => {
                app.shared.notify_here(Tone::Safe, summary, "", "");
            }
            Err(failed) => app.shared.report(failed),
        });
    }
}
