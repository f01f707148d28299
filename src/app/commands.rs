//! Applies the commands of the command table, and the actions of a person that affect more than one page.

use std::path::{Path, PathBuf};

use super::App;
use super::plan_page::PlanSession;
use super::shared::Prompt;
use crate::run::{Attempt, Control, RunEvent};
use crate::ui::action::{
    Action, ArtifactAction, DiagnosticsAction, LoopAction, Page, SavedContent,
};
use crate::ui::artifact::Shape;
use crate::ui::commands::Command;
use crate::ui::diagnostics::{copied, copied_all};
use crate::ui::overlay::Overlay;
use crate::worker::{FollowUp, OpenEditor, ToSave};

impl App {
    /// Applies an action of a person.
    pub(super) fn apply(&mut self, action: Action, ctx: &egui::Context) {
        let shared = &mut self.shared;
        match action {
            Action::Do(command) => self.apply_command(command, ctx),
            Action::Plan(action) => self.plan.apply(action, shared),
            Action::Dialog(action) => self.apply_dialog(action),
            Action::Evidence(action) => self.evidence.apply(action, shared),
            Action::Diagnostics(action) => self.apply_diagnostics(action),
            Action::Loop(LoopAction::OpenAttempt(number)) => self.open_attempt(number),
            Action::Loop(LoopAction::PickFolder(what)) => {
                let typed = Some(self.loops.typed_folder(what)).filter(|typed| !typed.is_empty());
                let opened = self.picked.folder(what, typed.map(PathBuf::from));
                let next = "Type the path.";
                shared.report_io(opened, "The folder picker cannot be opened.", next);
            }
            Action::Loop(action) => self.loops.apply(action, shared),
            Action::Artifact(ArtifactAction::Load { digest, shape, copy }) => {
                shared.load_content((digest, shape), copy);
            }
            Action::Artifact(ArtifactAction::Save { name, content }) => {
                let opened = self.picked.save(name, to_save(content));
                shared.report_io(
                    opened,
                    "The file picker cannot be opened.",
                    "Copy the content instead.",
                );
            }
            Action::Window(action) => self.apply_window(action, ctx),
        }
        self.update_diagnostics();
    }

    fn apply_diagnostics(&mut self, action: DiagnosticsAction) {
        let shows_step = matches!(action, DiagnosticsAction::Show(_));
        if shows_step && self.plan.shown.is_some() && self.shared.page != Page::Diagnostics {
            self.go(Page::Diagnostics);
        }
        self.plan.change(|session| session.diagnostics.apply(action));
    }

    /// Sends a control to the worker, and marks it as requested at once, because the run may handle it only later.
    pub(super) fn control(&mut self, control: Control) {
        self.shared.worker.control(control);
        if control == Control::StopNow {
            self.loops.stopping();
        }
        if let Some(session) = self.plan.running_mut() {
            session.run.apply(&RunEvent::ControlRequested { control });
        }
    }

    fn apply_command(&mut self, command: Command, ctx: &egui::Context) {
        // The view offers only available commands, but the state may have changed since that frame.
        if (command.spec().unavailable)(&self.situation()).is_some() {
            return;
        }
        let shared = &mut self.shared;
        match command {
            Command::OpenPlan => self.pick_plan(),
            Command::OpenTour => {
                shared.report_io(self.picked.tour(), "The tour cannot be opened.", "");
            }
            Command::Reload => self.plan.review_again(true, shared),
            Command::Simulate => self.plan.simulate(shared),
            Command::TryHost => self.plan.try_host(shared),
            Command::StopTrying => self.plan.stop_trying(shared),
            Command::Authorize => shared.show_prompt(Some(Prompt::Authorize)),
            Command::Reject => shared.show_prompt(Some(Prompt::Reject)),
            Command::Run => self.plan.start_run(shared),
            Command::RunAgain => self.plan.run_again(shared),
            Command::ContinueFromHere => self.plan.follow_up(FollowUp::Continue, shared),
            Command::RollBack => self.plan.follow_up(FollowUp::RollBack, shared),
            Command::Revert => self.plan.follow_up(FollowUp::Revert, shared),
            Command::Reconcile => {
                if let Some(run_id) = self.plan.shown_run() {
                    shared.reconcile(run_id);
                }
            }
            Command::Pause => self.control(Control::Pause),
            Command::Resume => self.control(Control::Resume),
            Command::GoOnGuided => self.control(Control::GoOnGuided),
            Command::CancelAfterStep => self.control(Control::CancelAfterStep),
            Command::StopNow => self.control(Control::StopNow),
            Command::AnswerStep => self.lead_to_question(),
            Command::NextStep => self.move_selection(1),
            Command::PreviousStep => self.move_selection(-1),
            Command::FollowRun => self.follow_run(),
            Command::ToggleOutput => {
                self.go(Page::Plan);
                self.plan.change(|session| session.output.is_shown = !session.output.is_shown);
            }
            Command::CopyDigest => {
                self.plan.change(|session| ctx.copy_text(session.opened.digest.to_string()));
            }
            Command::GoPlan => self.go(Page::Plan),
            Command::GoEvidence => self.go(Page::Evidence),
            Command::GoDiagnostics => self.go(Page::Diagnostics),
            Command::GoLoop => self.go_to_loop(),
            Command::NewLoop => {
                self.go_to_loop();
                self.loops.new_loop();
            }
            Command::StartLoop => self.loops.start(shared),
            Command::OpenAttempt => {
                let waiting = self.plan.waiting_attempt().and_then(|session| session.attempt);
                if let Some(attempt) = waiting {
                    self.open_attempt(attempt.attempt.number);
                }
            }
            Command::LoopAgain => self.loops.fill_again(shared),
            Command::FilterDiagnostics => {
                self.go(Page::Diagnostics);
                self.plan.change(|session| session.diagnostics.focus_filter = true);
            }
            Command::OpenInEditor => self.open_in_editor(),
            Command::CopyDiagnostic => self.plan.change(|session| {
                let text = copied(&session.run, &session.diagnostics.listing);
                ctx.copy_text(text.unwrap_or_default());
            }),
            Command::CopyDiagnostics => self.plan.change(|session| {
                ctx.copy_text(copied_all(&session.run, &session.diagnostics.listing));
            }),
            Command::FocusSearch => {
                self.go(Page::Evidence);
                self.evidence.focus_search = true;
            }
            Command::Verify => {
                self.go(Page::Evidence);
                self.evidence.verify(&mut self.shared);
            }
            Command::Palette => self.overlay = Some(Overlay::Palette),
            Command::Settings => self.overlay = Some(Overlay::Settings(self.settings_view(ctx))),
            Command::SwitchTheme => {
                let dark = ctx.global_style().visuals.dark_mode;
                let theme =
                    if dark { egui::ThemePreference::Light } else { egui::ThemePreference::Dark };
                self.set_theme(theme, ctx);
            }
            Command::Help => self.overlay = Some(Overlay::Help),
        }
    }

    /// Shows a page, also if a panic had replaced it. Its source excerpt and search results are read again.
    pub(super) fn go(&mut self, page: Page) {
        self.shared.try_again();
        self.shared.page = page;
        self.plan.change(|session| session.diagnostics.forget_source());
        self.evidence.search(&mut self.shared);
    }

    /// Shows the loop page. If its form names no workspace, the workspace of the shown plan is entered.
    fn go_to_loop(&mut self) {
        self.go(Page::Loop);
        let workspace = self.plan.review().map(|review| &*review.workspace);
        self.loops.enter(workspace, &self.shared);
    }

    /// Shows the plan of an attempt of the shown loop: the live session, otherwise the recorded run.
    fn open_attempt(&mut self, number: u32) {
        if let Some((loop_id, run_id)) = self.loops.attempt(number) {
            self.plan.open_attempt(Attempt { loop_id, number }, run_id, &mut self.shared);
        }
    }

    fn pick_plan(&mut self) {
        let shown = self.plan.shown.as_ref().and_then(|session| session.path());
        let path = shown.or_else(|| self.plan.recent.first().map(|recent| &*recent.path));
        let folder = path.and_then(|path| path.parent()).map(Path::to_owned);
        let next = "Drop the plan file on the window, or name it on the command line.";
        self.shared.report_io(self.picked.open(folder), "The file picker cannot be opened.", next);
    }

    fn move_selection(&mut self, by: isize) {
        match self.shared.page {
            Page::Plan => self.plan.move_selection(by),
            Page::Loop => {}
            Page::Evidence => self.evidence.move_selection(by, &mut self.shared),
            Page::Diagnostics => {
                self.plan.change(|session| session.diagnostics.move_selection(by));
            }
        }
    }

    /// Brings the pending confirmation into view: the card of a guided step, otherwise the dialog.
    fn lead_to_question(&mut self) {
        let running = self.plan.running().filter(|session| session.opened.plan.is_some());
        let request = running.and_then(PlanSession::request);
        if request.is_none_or(|request| !request.guided) {
            return self.plan.ask_in_front(&mut self.shared);
        }
        self.go(Page::Plan);
        self.follow_run();
        self.plan.change(|session| {
            session.hide_simulation();
            session.waiting.reveal_card = true;
        });
    }

    fn follow_run(&mut self) {
        if !self.plan.follow_run(&mut self.shared) {
            self.go(Page::Loop);
        }
    }

    /// Opens the position of the selected diagnostic in the person's editor.
    fn open_in_editor(&mut self) {
        let Some(session) = &self.plan.shown else { return };
        let Some(place) = session.diagnostics.editor_place(&session.run) else { return };
        let Some(workspace) = session.reviewed_workspace() else { return };
        let command = self.settings.editor_command.clone();
        self.shared.ask(OpenEditor { workspace, command, place }, |_, ()| {});
    }
}

/// Converts a content to save from the type of the views to that of the query.
pub(super) fn to_save(content: SavedContent) -> ToSave {
    match content {
        SavedContent::Text(text) => ToSave::Text(text),
        SavedContent::Bytes(bytes) => ToSave::Bytes(bytes),
        // A diff is stored as a JSON string.
        SavedContent::Stored { digest, shape } => {
            ToSave::Kept { digest, unquoted: shape == Shape::Diff }
        }
    }
}
