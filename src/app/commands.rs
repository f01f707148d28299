//! Dispatches the person's actions, and applies the commands of the command table.

use std::path::{Path, PathBuf};

use super::App;
use super::examples::Example;
use super::file_dialog::PickerRequest;
use super::history::Direction;
use super::plan_page::{Chosen, PlanSession};
use super::shared::Prompt;
use crate::authorization::{HostChoice, PlanChoices};
use crate::plan::Destination;
use crate::run::{Attempt, Control, RunEvent};
use crate::ui::action::{DiagnosticsAction, LoopAction, PlanAction, PlanChoice, PlanFolder};
use crate::ui::diagnostics::{copied, copied_all};
use crate::ui::overlay::Overlay;
use crate::ui::plan::{go_to_change, show_step};
use crate::ui::settings_page::focus_search;
use crate::ui::{Action, Command, Page, go_on, terminal};
use crate::worker::{FollowUp, OpenEditor, PlanSuggestions};

impl App {
    /// Applies an action of the person, and updates the list of the diagnostics page.
    pub(super) fn apply(&mut self, action: Action, ctx: &egui::Context) {
        let stepping = matches!(action, Action::Do(Command::NextStep | Command::PreviousStep));
        let shared = &mut self.shared;
        match action {
            Action::Do(command) => self.apply_command(command, ctx),
            Action::Plan(PlanAction::Choose(PlanChoice::PickFolder(purpose))) => {
                self.pick_folder_for_plan(purpose);
            }
            Action::Plan(PlanAction::Inbox(action)) => self.apply_inbox(action),
            Action::Plan(PlanAction::Agents(action)) => self.apply_agents(action),
            Action::Plan(action) => self.plan.apply(action, shared),
            Action::Dialog(action) => self.apply_dialog(action),
            Action::Evidence(action) => self.evidence.apply(action, shared),
            Action::Diagnostics(action) => self.apply_diagnostics(action),
            Action::Loop(LoopAction::OpenAttempt(number)) => self.open_attempt(number),
            Action::Loop(LoopAction::PickFolder(field)) => {
                let typed =
                    Some(self.loop_page.typed_folder(field)).filter(|typed| !typed.is_empty());
                let request = PickerRequest::Folder(field, typed.map(PathBuf::from));
                let opened = self.file_picker.start(request);
                let next = "Type the path.";
                shared.report_io(opened, "The folder picker cannot be opened.", next);
            }
            Action::Loop(action) => self.loop_page.apply(action, shared),
            Action::Agent(action) => self.apply_agent(action),
            Action::Artifact(action) => self.apply_artifact(action),
            Action::Settings(action) => self.apply_settings(action, ctx),
            Action::Window(action) => self.apply_window(action, ctx),
        }
        self.update_lists();
        self.end_outdated_notices();
        self.note_place(stepping);
    }

    fn apply_diagnostics(&mut self, action: DiagnosticsAction) {
        let shows_step = matches!(action, DiagnosticsAction::Show(_));
        if shows_step && self.plan.shown.is_some() && self.shared.page != Page::Diagnostics {
            self.show_page(Page::Diagnostics);
        }
        self.plan.with_shown(|session| session.diagnostics.apply(action, &session.run));
    }

    /// Requests a control from the worker, and shows it as requested at once, because the run may handle it later.
    pub(super) fn control(&mut self, control: Control) {
        self.shared.worker.control(control);
        if control == Control::StopNow {
            self.loop_page.mark_stopping();
        }
        if let Some(session) = self.plan.running_mut() {
            session.run.apply(&RunEvent::ControlRequested { control });
        }
    }

    fn apply_command(&mut self, command: Command, ctx: &egui::Context) {
        let situation = self.situation();
        // The key of *Authorize…* leads to what has to be looked at first.
        let looks_first = command == Command::Authorize && situation.look_first;
        let command = match command {
            Command::Authorize if looks_first => Command::NextUnseen,
            Command::Authorize if situation.asked => Command::SignRequest,
            command => command,
        };
        // The view offers only available commands, but the state may have changed since that frame.
        if (command.spec().unavailable)(&situation).is_some() {
            return;
        }
        let shared = &mut self.shared;
        match command {
            Command::OpenPlan => self.pick_plan(),
            // The text comes as an event of a later frame.
            Command::PastePlan => {
                self.inbox.pastes_since = Some(ctx.cumulative_frame_nr());
                ctx.send_viewport_cmd(egui::ViewportCommand::RequestPaste);
            }
            Command::OpenTour => self.open_example(Example::Tour),
            Command::TourGuide => self.tour.is_hidden = !self.tour.is_hidden,
            Command::ExampleCommands => self.open_example(Example::Commands),
            Command::ExampleActions => self.open_example(Example::Actions),
            Command::ExampleLoop => self.open_example(Example::Loop),
            Command::Reload => self.plan.review_again(true, shared),
            Command::Simulate => self.plan.simulate(shared),
            Command::TryHost => self.plan.try_host(shared),
            Command::StopTrying => self.plan.stop_trying(shared),
            Command::FillIn => shared.show_prompt(Some(Prompt::FillIn)),
            Command::AskForSignature => self.ask_for_signature(),
            Command::Authorize | Command::SignRequest => {
                if let Some(session) = &mut self.plan.shown {
                    session.renew_authorize_view();
                }
                shared.show_prompt(Some(Prompt::Authorize));
            }
            Command::Reject | Command::RefuseRequest => shared.show_prompt(Some(Prompt::Reject)),
            Command::Run => self.plan.start_run(shared),
            Command::Enqueue => self.enqueue(),
            Command::Unqueue
            | Command::RunEarlier
            | Command::RunLater
            | Command::EmptyQueue
            | Command::NextPlan
            | Command::PreviousPlan
            | Command::ClosePlan => self.plan.apply_to_open(command, shared),
            Command::GoOnQueue => self.go_on_with_queue(),
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
            Command::AnswerStep => self.show_confirmation(),
            Command::NextStep => self.move_selection(1),
            Command::PreviousStep => self.move_selection(-1),
            Command::NextUnseen => {
                self.show_page(Page::Plan);
                show_step(ctx);
                if self.plan.select_unseen() {
                    go_on(ctx);
                }
            }
            Command::NextChange | Command::PreviousChange => {
                show_step(ctx);
                go_to_change(ctx, command == Command::NextChange);
            }
            Command::Find => self.find(ctx),
            Command::FollowRun => self.follow_run(),
            Command::ToggleOutput => {
                self.show_page(Page::Plan);
                self.plan.with_shown(|session| {
                    session.output.is_shown = !session.output.is_shown;
                    session.output.opened_by_itself = false;
                });
            }
            Command::TypeInTerminal => self.toggle_terminal(ctx),
            Command::CopyDigest => {
                self.plan.with_shown(|session| ctx.copy_text(session.opened.digest.to_string()));
            }
            Command::SavePlanAs => self.save_plan(),
            Command::SaveAnswer => self.save_answer(),
            Command::EditArguments
            | Command::LeaveOutStep
            | Command::MarkStep
            | Command::ChooseLines
            | Command::ListChanges
            | Command::DiscardRevision => self.apply_revising(command, ctx),
            Command::PinPlan => self.pin_shown(),
            Command::ForgetPlan => self.forget_shown(),
            Command::SaveSearch => self.toggle_saved_search(),
            Command::OpenWaiting => self.open_waiting(),
            Command::RemoveFromInbox => self.remove_shown_from_inbox(),
            Command::RemoveDecided => self.remove_decided_from_inbox(),
            Command::GoPlan => self.show_page(Page::Plan),
            Command::GoEvidence => self.show_page(Page::Evidence),
            Command::GoDiagnostics => self.show_page(Page::Diagnostics),
            Command::GoLoop => self.show_loop_page(),
            Command::GoAgent => self.show_agent_page(),
            Command::NewAgent => self.new_agent_session(),
            Command::StartAgent => self.start_agent(),
            Command::StopAgent => self.stop_agent(),
            Command::AllowIdentical => self.offer_shown_rule(),
            Command::GoBack => self.go(Direction::Back),
            Command::GoForward => self.go(Direction::Forward),
            Command::NewLoop => {
                self.show_loop_page();
                self.loop_page.new_loop();
            }
            Command::StartLoop => self.loop_page.start(shared),
            Command::OpenAttempt => {
                let session = self.plan.awaiting_attempt();
                if let Some(attempt) = session.and_then(|session| session.attempt) {
                    self.open_attempt(attempt.attempt.number);
                }
            }
            Command::RevertLoop => {
                if let Some(loop_id) = self.loop_page.shown_state().and_then(|state| state.loop_id)
                {
                    shared.follow_up(loop_id, FollowUp::Revert);
                }
            }
            Command::LoopAgain => self.loop_page.fill_from_shown(shared),
            Command::FilterDiagnostics => self.filter_diagnostics(),
            Command::PlanSuggestion => self.plan_suggestion(),
            Command::OpenInEditor => self.open_in_editor(),
            Command::CopyDiagnostic => self.plan.with_shown(|session| {
                let text = copied(&session.run, &session.diagnostics.listing);
                ctx.copy_text(text.unwrap_or_default());
            }),
            Command::CopyDiagnostics => self.plan.with_shown(|session| {
                ctx.copy_text(copied_all(&session.run, &session.diagnostics.listing));
            }),
            Command::FocusSearch => self.search_evidence(),
            Command::SwitchEvidence => {
                let team = shared.page != Page::Evidence || !self.evidence.shows_team();
                shared.page = Page::Evidence;
                self.evidence.show_team(team, shared);
                self.show_page(Page::Evidence);
            }
            Command::Verify => {
                self.evidence.leave_team(shared);
                self.show_page(Page::Evidence);
                self.evidence.verify(&mut self.shared);
            }
            Command::Export => self.ask_to_export(),
            Command::Purge => self.ask_to_purge(None),
            Command::Palette => self.overlay = Some(Overlay::Palette),
            Command::Settings => self.show_settings(ctx),
            Command::SwitchTheme => {
                let dark = ctx.global_style().visuals.dark_mode;
                let theme =
                    if dark { egui::ThemePreference::Light } else { egui::ThemePreference::Dark };
                self.set_theme(theme, ctx);
            }
            Command::Help => self.open_help(String::new()),
            Command::BugReport => self.make_bug_report(ctx),
        }
    }

    /// Gives the keyboard to the terminal of the current step, or takes it back.
    fn toggle_terminal(&mut self, ctx: &egui::Context) {
        if terminal::has_keyboard(ctx) {
            return ctx.memory_mut(|memory| memory.surrender_focus(terminal::id()));
        }
        self.show_page(Page::Plan);
        self.plan.with_shown(PlanSession::hide_simulation);
        ctx.memory_mut(|memory| memory.request_focus(terminal::id()));
    }

    /// Shows a page, also after a panic of its view. The source on the diagnostics page and the results on the
    /// evidence page are read again.
    pub(super) fn show_page(&mut self, page: Page) {
        self.shared.clear_view_panic();
        self.shared.page = page;
        if page != Page::Settings {
            self.leave_settings();
        }
        if page != Page::Plan {
            self.plan.list_recent_anew();
        }
        self.plan.with_shown(|session| session.diagnostics.forget_source());
        self.evidence.search(&mut self.shared);
    }

    /// Shows the loop page. If its form names no workspace, the workspace of the shown plan is filled in.
    fn show_loop_page(&mut self) {
        self.show_page(Page::Loop);
        let workspace = self.plan.review().map(|review| &*review.workspace);
        self.loop_page.prepare(workspace, &self.shared);
    }

    /// Shows the plan of an attempt of the loop on the loop page, otherwise of the loop under way.
    fn open_attempt(&mut self, number: u32) {
        let Some((state, run_id)) = self.loop_page.find_attempt(number) else { return };
        let Some(loop_id) = state.loop_id else { return };
        let target = state.target.as_ref().and_then(|target| Destination::parse(target).ok());
        let host = target.map_or(HostChoice::OfPlan, HostChoice::Host);
        let chosen = Chosen {
            workspace: Some(state.workspace.clone().into()),
            choices: PlanChoices { host, ..PlanChoices::default() },
            version: None,
        };
        self.plan.open_attempt(Attempt { loop_id, number }, run_id, chosen, &mut self.shared);
    }

    /// Focuses the field that searches what the page shows.
    fn find(&mut self, ctx: &egui::Context) {
        match self.shared.page {
            Page::Plan if self.plan.shown.is_some() => self.plan.find_step(),
            Page::Diagnostics => self.filter_diagnostics(),
            Page::Settings => focus_search(ctx),
            Page::Plan | Page::Evidence | Page::Loop | Page::Agent => self.search_evidence(),
        }
    }

    fn filter_diagnostics(&mut self) {
        self.show_page(Page::Diagnostics);
        self.plan.with_shown(|session| session.diagnostics.focus_filter = true);
    }

    fn search_evidence(&mut self) {
        self.show_page(Page::Evidence);
        self.evidence.focus_search = true;
    }

    fn pick_plan(&mut self) {
        let shown = self.plan.shown.as_ref().and_then(|session| session.path());
        let recent = self.plan.recent.iter().map(|recent| &*recent.path);
        // Plans that were made from runs are not in a folder of the person.
        let own = &self.shared.setup.location.evidence;
        let path = shown.into_iter().chain(recent).find(|path| !path.starts_with(own));
        let folder = path.and_then(|path| path.parent()).map(Path::to_owned);
        let next = "Drop the plan file on the window, or name it on the command line.";
        let opened = self.file_picker.start(PickerRequest::Plan(folder));
        self.shared.report_io(opened, "The file picker cannot be opened.", next);
    }

    fn open_example(&mut self, example: Example) {
        let started = self.file_picker.start(PickerRequest::Example(example));
        self.shared.report_io(started, "The example cannot be opened.", "Try again in a moment.");
    }

    fn pick_folder_for_plan(&mut self, purpose: PlanFolder) {
        let shown = self.plan.shown.as_ref().and_then(PlanSession::path);
        let Some(plan) = shown.map(Path::to_owned) else { return };
        let start = self.plan.review().map(|review| review.workspace.clone());
        let opened = self.file_picker.start(PickerRequest::PlanFolder { purpose, plan, start });
        let next = "Name it on the command line: countersign PLAN --workspace FOLDER.";
        self.shared.report_io(opened, "The folder picker cannot be opened.", next);
    }

    fn move_selection(&mut self, by: isize) {
        match self.shared.page {
            Page::Plan => self.plan.move_selection(by),
            Page::Loop | Page::Agent | Page::Settings => {}
            Page::Evidence => self.evidence.move_selection(by, &mut self.shared),
            Page::Diagnostics => {
                self.plan.with_shown(|session| session.diagnostics.move_selection(by));
            }
        }
    }

    /// Shows the pending confirmation: the card of a guided step, otherwise the dialog.
    fn show_confirmation(&mut self) {
        let running = self.plan.running().filter(|session| session.opened.plan.is_some());
        let request = running.and_then(PlanSession::request);
        if request.is_none_or(|request| !request.guided) {
            return self.plan.show_confirmation_dialog(&mut self.shared);
        }
        self.show_page(Page::Plan);
        self.follow_run();
        self.plan.with_shown(|session| {
            session.hide_simulation();
            session.confirmation.reveal_card = true;
        });
    }

    fn follow_run(&mut self) {
        if !self.plan.follow_run(&mut self.shared) {
            self.show_page(Page::Loop);
        }
    }

    /// Makes a plan of the picked suggestions of the selected diagnostic, and opens it.
    fn plan_suggestion(&mut self) {
        let Some(session) = &self.plan.shown else { return };
        let Some((message, suggestions)) = session.diagnostics.picked(&session.run) else { return };
        let (Some(workspace), Some(run_id)) = (session.reviewed_workspace(), session.run.run_id)
        else {
            return;
        };
        let query = PlanSuggestions { run_id, workspace, message, suggestions };
        self.shared.query_latest(query, |app, opened| app.show_opened(opened, Chosen::default()));
    }

    /// Opens the position of the selected diagnostic in the person's editor.
    fn open_in_editor(&mut self) {
        let Some(session) = &self.plan.shown else { return };
        let Some(location) = session.diagnostics.editor_location(&session.run) else { return };
        let Some(workspace) = session.reviewed_workspace() else { return };
        let command = self.settings.editor_command.clone();
        self.shared.query(OpenEditor { workspace, command, location }, |_, ()| {});
    }
}
