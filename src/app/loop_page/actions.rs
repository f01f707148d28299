//! Applies the actions of a person on the loop page.

use std::path::Path;
use std::time::Duration;

use uuid::Uuid;

use super::loop_folders::TYPING_MS;
use super::{LoopPage, Which};
use crate::app::shared::{Prompt, Shared};
use crate::plan::VerifyScope;
use crate::run::{LoopPhase, LoopState};
use crate::ui::action::{FolderFor, LoopAction};
use crate::ui::loop_page::{LoopForm, LoopSettings, PlannerChoice, ShownLoop};
use crate::ui::theme::Tone;
use crate::worker::{Command, LoopOrder, ReplayLoop, RevokeClass, WorkspaceChoice};

impl LoopPage {
    /// Applies an action that needs only this page and the shared state.
    pub fn apply(&mut self, action: LoopAction, shared: &mut Shared) {
        match action {
            LoopAction::Edit(form) => {
                self.form = *form;
                // Also if the folders are the same: their contents may have changed.
                self.look_at_folders(TYPING_MS, shared);
            }
            LoopAction::ReviewCommands => shared.show_prompt(Some(Prompt::TrustForLoop)),
            LoopAction::Show(loop_id) => self.show_loop(loop_id, shared),
            LoopAction::SetExpanded(attempt, expanded) => {
                self.expanded.insert(attempt, expanded);
            }
            LoopAction::RevokeClass(class_id) => {
                shared.ask(RevokeClass(class_id), |app, _| {
                    if let Some(live) = &mut app.loops.live {
                        live.class_revoked = true;
                    }
                });
            }
            // Applied by `App`, because they need another page or the file picker.
            LoopAction::OpenAttempt(_) | LoopAction::PickFolder(_) => {}
        }
    }

    fn show_loop(&mut self, loop_id: Uuid, shared: &mut Shared) {
        if self.live.as_ref().is_some_and(|live| live.state.loop_id == Some(loop_id)) {
            return self.show(Which::Live);
        }
        self.show(Which::Reading);
        shared.ask_latest(ReplayLoop(loop_id), |app, replayed| match replayed {
            Ok(replayed) => app.loops.show_recorded(replayed),
            Err(unanswered) => {
                app.loops.leave_reading(Which::Form);
                app.shared.report(unanswered);
            }
        });
    }

    /// The folder in which the picker starts.
    pub fn typed_folder(&self, what: FolderFor) -> &str {
        match what {
            FolderFor::Plans if !self.form.folder.is_empty() => &self.form.folder,
            _ => &self.form.workspace,
        }
    }

    /// Enters a folder that was picked into the form.
    pub fn take_folder(&mut self, folder: &Path, what: FolderFor, shared: &Shared) {
        let field = match what {
            FolderFor::Plans => &mut self.form.folder,
            FolderFor::Workspace => &mut self.form.workspace,
        };
        *field = folder.display().to_string();
        self.look_at_folders(0, shared);
    }

    /// Prepares the page to be shown. If the form names no workspace, `workspace` is entered.
    pub fn enter(&mut self, workspace: Option<&Path>, shared: &Shared) {
        if let (true, Some(workspace)) = (self.form.workspace.is_empty(), workspace) {
            self.form.workspace = workspace.display().to_string();
        }
        self.look_at_folders(0, shared);
    }

    pub fn new_loop(&mut self) {
        self.show(Which::Form);
        self.focus_goal = true;
    }

    /// Fills the form from the loop on the page.
    pub fn fill_again(&mut self, shared: &Shared) {
        let Some(state) = self.shown_state() else { return };
        let (planner, folder, command) = match state.planner.as_str() {
            "cargo-fix" => (PlannerChoice::CargoFix, "", ""),
            "openai-compatible" => (PlannerChoice::Model, "", ""),
            other => match other.strip_prefix("replay:") {
                Some(folder) => (PlannerChoice::Replay, folder, ""),
                None => (PlannerChoice::Command, "", other),
            },
        };
        self.form = LoopForm {
            goal: state.goal.clone(),
            planner,
            folder: folder.to_owned(),
            command: command.to_owned(),
            workspace: state.workspace.clone(),
            max_attempts: state.max_attempts.to_string(),
            // An authorization class is valid for one loop only.
            ..LoopForm::default()
        };
        self.show(Which::Form);
        self.look_at_folders(0, shared);
    }

    /// Starts the loop of the form, or shows the faults of the form.
    pub fn start(&mut self, shared: &mut Shared) {
        let Some(wanted) = self.form.settings(shared.now.ms) else {
            self.form.start_attempted = true;
            return;
        };
        shared.evidence_trouble = None;
        let live = ShownLoop {
            state: LoopState {
                goal: wanted.goal.clone(),
                planner: wanted.planner.clone(),
                workspace: wanted.workspace.display().to_string(),
                max_attempts: wanted.max_attempts,
                phase: LoopPhase::Idle,
                ..LoopState::default()
            },
            verify: wanted.verify.map_or("none", VerifyScope::as_str).to_owned(),
            class: wanted.class.clone(),
            ..ShownLoop::default()
        };
        if shared.worker.send(Command::Loop(Box::new(order(wanted)))).is_err() {
            let next = "Wait until it ends, then start the loop again.";
            shared.notify(Tone::Caution, "Another run is still under way.", "", next);
            return;
        }
        self.form.refusal = None;
        self.form.start_attempted = false;
        self.live = Some(live);
        self.show(Which::Live);
    }

    /// The id of the loop on the page, otherwise of the loop under way, and the run of its attempt `number`, if the
    /// attempt has one.
    pub fn attempt(&self, number: u32) -> Option<(Uuid, Option<Uuid>)> {
        let under_way = self.under_way().map(|live| &live.state);
        let state = self.shown_state().or(under_way)?;
        let attempt = state.attempts.iter().find(|attempt| attempt.attempt == number);
        Some((state.loop_id?, attempt.and_then(|attempt| attempt.run.as_ref()?.run_id)))
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
    }
}
