//! Applies the person's actions on the loop page.

use std::path::Path;
use std::time::Duration;

use uuid::Uuid;

use super::loop_folders::TYPING_DEBOUNCE_MS;
use super::{LoopContent, LoopPage};
use crate::app::shared::{Prompt, Shared};
use crate::plan::VerifyScope;
use crate::run::{LoopPhase, LoopState, PURGED_TEXT};
use crate::ui::Tone;
use crate::ui::action::{FolderFor, LoopAction};
use crate::ui::loop_page::{LoopForm, LoopSettings, PlannerChoice, ShownLoop};
use crate::worker::{Command, LoopOrder, ReplayLoop, RevokeClass, WorkspaceChoice};

impl LoopPage {
    /// Applies an action that needs only this page and the shared state.
    pub fn apply(&mut self, action: LoopAction, shared: &mut Shared) {
        match action {
            LoopAction::Edit(form) => {
                self.form = *form;
                // Even if the folders are the same, because their contents may have changed.
                self.schedule_folder_check(TYPING_DEBOUNCE_MS, shared);
            }
            LoopAction::ReviewCommands => shared.show_prompt(Some(Prompt::TrustForLoop)),
            LoopAction::Show(loop_id) => self.show_loop(loop_id, shared),
            LoopAction::SetExpanded(attempt, expanded) => {
                self.expanded.insert(attempt, expanded);
            }
            LoopAction::EditAnswer(answer) => self.answer = answer,
            LoopAction::AnswerPlanner { answered } => self.answer_planner(answered, shared),
            LoopAction::RevokeClass(class_id) => {
                shared.query(RevokeClass(class_id), |app, _| {
                    if let Some(live) = &mut app.loop_page.live {
                        live.class_revoked = true;
                    }
                });
            }
            // `App` applies these, because they need another page or the file picker.
            LoopAction::OpenAttempt(_) | LoopAction::PickFolder(_) => {}
        }
    }

    /// Gives the planner the answer that the person typed, or none.
    fn answer_planner(&mut self, answered: bool, shared: &mut Shared) {
        let words = answered.then(|| self.answer.trim().to_owned());
        let current = self
            .under_way()
            .and_then(|live| Some((live.state.loop_id?, live.state.attempts.last()?.attempt)));
        let accepted = current.is_some_and(|(loop_id, attempt)| {
            shared.worker.answer_planner(loop_id, attempt, words)
        });
        if accepted {
            self.answer.clear();
        } else {
            shared.notify_here(Tone::Caution, "The planner no longer waits for an answer.", "", "");
        }
    }

    /// Shows the loop that was started last, or a loop from the evidence.
    fn show_loop(&mut self, loop_id: Uuid, shared: &mut Shared) {
        if self.live.as_ref().is_some_and(|live| live.state.loop_id == Some(loop_id)) {
            return self.show(LoopContent::Live);
        }
        self.show(LoopContent::Reading);
        shared.query_latest(ReplayLoop(loop_id), |app, replayed| match replayed {
            Ok(replayed) => {
                let purged = replayed.detail.summary.purged.clone();
                app.loop_page.show_recorded(replayed);
                if let Some(note) = purged {
                    let summary = "The records of this loop were purged.";
                    let next =
                        "That it happened, when, by whom and how it ended is still recorded.";
                    app.shared.notify_here(Tone::Dim, summary, note.sentence(), next);
                }
            }
            Err(failed) => {
                app.loop_page.leave_reading(LoopContent::Form);
                app.shared.report(failed);
            }
        });
    }

    /// The folder in which the file picker for a field starts: that of the field, otherwise the workspace. It may be
    /// empty.
    pub fn typed_folder(&self, field: FolderFor) -> &str {
        match field {
            FolderFor::Plans if !self.form.folder.is_empty() => &self.form.folder,
            _ => &self.form.workspace,
        }
    }

    /// Fills a picked folder into a field of the form.
    pub fn set_folder(&mut self, folder: &Path, field: FolderFor, shared: &Shared) {
        let text = match field {
            FolderFor::Plans => &mut self.form.folder,
            FolderFor::Workspace | FolderFor::Agent => &mut self.form.workspace,
        };
        *text = folder.display().to_string();
        self.form.refusal = None;
        self.schedule_folder_check(0, shared);
    }

    /// Prepares the page to be shown. If the form names no workspace, `workspace` is filled in.
    pub fn prepare(&mut self, workspace: Option<&Path>, shared: &Shared) {
        if let (true, Some(workspace)) = (self.form.workspace.is_empty(), workspace) {
            self.form.workspace = workspace.display().to_string();
        }
        self.schedule_folder_check(0, shared);
    }

    /// Shows the form, with the keyboard focus on the goal.
    pub fn new_loop(&mut self) {
        self.show(LoopContent::Form);
        self.focus_goal = true;
    }

    /// Shows the form.
    pub fn show_form(&mut self, shared: &Shared) {
        self.show(LoopContent::Form);
        self.schedule_folder_check(0, shared);
    }

    /// Fills the form with the example goal for this workspace, and shows it.
    pub fn fill_example(&mut self, workspace: &Path, shared: &Shared) {
        self.form = LoopForm {
            goal: "Mend what the compiler warns about".to_owned(),
            planner: PlannerChoice::CargoFix,
            workspace: workspace.display().to_string(),
            ..LoopForm::default()
        };
        self.show_form(shared);
        self.focus_goal = true;
    }

    /// Fills the form with the order of the loop on the page, and shows the form.
    pub fn fill_from_shown(&mut self, shared: &Shared) {
        let Some(ShownLoop { state, verify, .. }) = self.shown() else { return };
        let scope = VerifyScope::WORDS.iter().find(|(word, _)| word == verify).map(|(_, it)| *it);
        let (planner, folder, command) = match state.planner.as_str() {
            "cargo-fix" => (PlannerChoice::CargoFix, "", ""),
            "openai-compatible" => (PlannerChoice::Model, "", ""),
            "codex" => (PlannerChoice::Codex, "", ""),
            "claude" => (PlannerChoice::Claude, "", ""),
            "gemini" => (PlannerChoice::Gemini, "", ""),
            other => match other.strip_prefix("replay:") {
                Some(folder) => (PlannerChoice::Replay, folder, ""),
                None => (PlannerChoice::Command, "", other),
            },
        };
        self.form = LoopForm {
            goal: Some(&state.goal)
                .filter(|goal| *goal != PURGED_TEXT)
                .cloned()
                .unwrap_or_default(),
            planner,
            folder: folder.to_owned(),
            command: command.to_owned(),
            workspace: state.workspace.clone(),
            max_attempts: state.max_attempts.to_string(),
            timeout_s: planner.default_timeout_s().to_string(),
            looks: state.looks,
            chosen_verify: scope.map(Some).or((verify == "none").then_some(None)),
            target: state.target.clone().unwrap_or_default(),
            // Without the authorization class, which is valid for one loop only.
            ..LoopForm::default()
        };
        self.show_form(shared);
        self.focus_goal = true;
    }

    /// Starts the loop of the form. If the form has faults, shows them.
    pub fn start(&mut self, shared: &mut Shared) {
        let Some(wanted) = self.form.settings(shared.now.ms) else {
            self.form.start_attempted = true;
            self.form.scroll_to = self.form.faults().first().map(|(field, _)| *field);
            return;
        };
        shared.evidence_error = None;
        let live = ShownLoop {
            state: LoopState {
                goal: wanted.goal.clone(),
                planner: wanted.planner.clone(),
                workspace: wanted.workspace.display().to_string(),
                max_attempts: wanted.max_attempts,
                looks: wanted.looks,
                target: wanted.target.clone(),
                phase: LoopPhase::Idle,
                ..LoopState::default()
            },
            verify: wanted.verify.map_or("none", VerifyScope::as_str).to_owned(),
            class: wanted.class.clone(),
            ..ShownLoop::default()
        };
        if shared.worker.send(Command::Loop(Box::new(order(wanted)))).is_err() {
            let next = "Wait until it ends, then start the loop again.";
            shared.notify_here(Tone::Caution, "Another run is still under way.", "", next);
            return;
        }
        self.form.refusal = None;
        self.form.start_attempted = false;
        self.live = Some(live);
        self.show(LoopContent::Live);
    }

    /// The loop on the page, otherwise the loop under way, and the id of the run of its attempt `number`, if that
    /// attempt has one.
    pub fn find_attempt(&self, number: u32) -> Option<(&LoopState, Option<Uuid>)> {
        let under_way = self.under_way().map(|live| &live.state);
        let state = self.shown_state().or(under_way)?;
        let attempt = state.attempts.iter().find(|attempt| attempt.attempt == number);
        let run_id = attempt.and_then(|attempt| attempt.run.as_ref()?.run_id);
        Some((state, run_id))
    }
}

fn order(wanted: LoopSettings) -> LoopOrder {
    LoopOrder {
        goal: wanted.goal,
        planner: wanted.planner,
        planner_timeout: Duration::from_secs(wanted.timeout_s.into()),
        max_attempts: wanted.max_attempts,
        verify: wanted.verify,
        workspace: WorkspaceChoice::chosen(wanted.workspace),
        class: wanted.class,
        looks: wanted.looks,
        target: wanted.target,
        plan_only: false,
    }
}
