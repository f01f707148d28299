//! The commands of the table.

use uuid::Uuid;

use crate::authorization::ApprovedPlan;
use crate::run::{Control, RunEvent};
use crate::ui::action::{EvidenceAction, Page};
use crate::ui::commands::Command;
use crate::ui::diagnostics::{copied, copied_all};
use crate::ui::overlay::Overlay;
use crate::ui::theme::Tone;
use crate::worker::{Clock as _, SystemClock};
use crate::worker::{Command as Order, FollowUp};

use super::super::{App, Prompt};

impl App {
    /// Asks for it, and shows at once that it was asked for: the run may take a while to get there.
    pub(super) fn control(&mut self, control: Control) {
        self.worker.control(control);
        if control == Control::StopNow
            && let Some(live) = self.looping.under_way_mut()
        {
            live.stopping = true;
        }
        if let Some(session) = self.running_mut() {
            session.run.apply(&RunEvent::ControlRequested { control });
        }
    }

    pub(super) fn apply_command(&mut self, command: Command, ctx: &egui::Context) {
        // The view asked the same before it offered the command; state may have moved since.
        if (command.spec().unavailable)(&self.situation()).is_some() {
            return;
        }
        match command {
            Command::OpenPlan => self.pick_plan(),
            Command::OpenTour => self.open_tour(),
            Command::Reload => self.review_again(true),
            Command::Simulate => self.simulate(),
            Command::TryHost => self.try_host(),
            Command::StopTrying => self.stop_trying(),
            Command::Authorize => self.show_prompt(Some(Prompt::Authorize)),
            Command::Reject => self.show_prompt(Some(Prompt::Reject)),
            Command::Run => self.start_run(),
            Command::RunAgain => self.run_again(),
            Command::ContinueFromHere => self.follow_up_shown(FollowUp::Continue),
            Command::RollBack => self.follow_up_shown(FollowUp::RollBack),
            Command::Revert => self.follow_up_shown(FollowUp::Revert),
            Command::Reconcile => {
                if let Some(run_id) = self.shown_run() {
                    self.reconcile(run_id);
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
                if let Some(session) = &mut self.shown {
                    session.shows_output = !session.shows_output;
                }
            }
            Command::CopyDigest => {
                if let Some(session) = &self.shown {
                    ctx.copy_text(session.digest.to_string());
                }
            }
            Command::GoPlan => self.go(Page::Plan),
            Command::GoEvidence => self.go(Page::Evidence),
            Command::GoDiagnostics => self.go(Page::Diagnostics),
            Command::GoLoop => self.go_to_loop(),
            Command::NewLoop => self.new_loop(),
            Command::StartLoop => self.start_loop(),
            Command::OpenAttempt => self.open_waiting_attempt(),
            Command::LoopAgain => self.loop_again(),
            Command::FilterDiagnostics => {
                self.go(Page::Diagnostics);
                if let Some(session) = &mut self.shown {
                    session.diagnostics.focus_filter = true;
                }
            }
            Command::OpenInEditor => self.open_in_editor(),
            Command::CopyDiagnostic | Command::CopyDiagnostics => {
                let Some(session) = &self.shown else { return };
                let (run, listing) = (&session.run, &session.diagnostics.listing);
                let text = match command {
                    Command::CopyDiagnostic => copied(run, listing).unwrap_or_default(),
                    _ => copied_all(run, listing),
                };
                ctx.copy_text(text);
            }
            Command::FocusSearch => {
                self.go(Page::Evidence);
                self.evidence.focus_search = true;
            }
            Command::Verify => self.verify(),
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

    fn pick_plan(&mut self) {
        let folder = self
            .shown
            .as_ref()
            .and_then(|session| session.path.as_ref())
            .or_else(|| self.recent.first().map(|recent| &recent.path))
            .and_then(|path| path.parent())
            .map(ToOwned::to_owned);
        if let Err(error) = self.picked.open(folder) {
            self.notify(
                Tone::Danger,
                "The file picker cannot be opened.",
                error.to_string(),
                "Drop the plan file on the window, or name it on the command line.",
            );
        }
    }

    fn open_tour(&mut self) {
        if let Err(error) = self.picked.tour() {
            self.notify(Tone::Danger, "The tour cannot be opened.", error.to_string(), "");
        }
    }

    fn start_run(&mut self) {
        let now = self.now.ms;
        self.evidence_trouble = None;
        let Some(session) = &mut self.shown else { return };
        if session.expire(now, &SystemClock::default().since_boot()).is_none() {
            return;
        }
        let Some((plan, authorization)) = session.start() else { return };
        let approved = ApprovedPlan { plan: (*plan).clone(), authorization };
        let file = session.path.clone();
        if let Err(back) = self.worker.send(Order::Run { approved: Box::new(approved), file }) {
            // Nothing was used, so the approval still stands.
            if let Some(session) = &mut self.shown {
                session.run = crate::run::RunState::default();
                if let Order::Run { approved, .. } = back {
                    session.answered(approved.authorization);
                }
            }
            self.notify(
                Tone::Caution,
                "The worker is still busy with another run.",
                "",
                "Wait for its end, then press Run again.",
            );
        }
    }

    fn follow_up_shown(&mut self, follow_up: FollowUp) {
        if let Some(run_id) = self.shown_run() {
            self.follow_up(run_id, follow_up);
        }
    }

    fn shown_run(&self) -> Option<Uuid> {
        self.shown.as_ref()?.run.run_id
    }

    /// Reviews the plan of the shown run as things are now; the question follows when that is done.
    pub(super) fn run_again(&mut self) {
        let Some(session) = &self.shown else { return };
        let (digest, file, run_id) = (session.digest, session.path.is_some(), session.run.run_id);
        if file {
            self.review_again(true);
        } else if let Some(run_id) = run_id {
            self.follow_up(run_id, FollowUp::RunAgain);
        }
        self.to_authorize = Some(digest);
    }

    fn move_selection(&mut self, by: isize) {
        match self.page {
            Page::Plan => {}
            Page::Loop => return,
            Page::Evidence => return self.move_to_result(by),
            Page::Diagnostics => return self.move_to_diagnostic(by),
        }
        let Some(session) = &mut self.shown else { return };
        let count = session.plan.as_ref().map_or(0, |plan| plan.steps.len());
        let index = session.selected.saturating_add_signed(by).min(count.saturating_sub(1));
        session.select(index);
        session.follow = false;
    }

    /// Opens the result below or above the open one; without one, the first.
    fn move_to_result(&mut self, by: isize) {
        let listed = self.evidence.listed();
        let open = |id| listed.iter().position(|listed| *listed == id);
        let index = match self.evidence.selected.and_then(open) {
            Some(index) => index.saturating_add_signed(by).min(listed.len().saturating_sub(1)),
            None => 0,
        };
        let Some(id) = listed.get(index).copied() else { return };
        self.apply_evidence(EvidenceAction::Open(id));
        self.evidence.scroll_to_selected = true;
    }

    /// Brings the question that waits into view: to the front, or the card of a guided step.
    fn lead_to_question(&mut self) {
        let running = self.running().filter(|session| session.plan.is_some());
        let guided = running.and_then(|session| session.request());
        if guided.is_none_or(|request| !request.guided) {
            return self.ask_in_front();
        }
        self.go(Page::Plan);
        self.follow_run();
        if let Some(session) = &mut self.shown {
            session.shows_simulation = false;
            session.reveal_card = true;
        }
    }

    fn follow_run(&mut self) {
        // The loop's own verification has no plan to show but its row among the attempts.
        if self.live.as_ref().is_some_and(|live| live.plan.is_none()) {
            return self.go(Page::Loop);
        }
        if self.shown.as_ref().is_none_or(|session| !session.run.is_active())
            && let Some(live) = self.live.take()
        {
            self.show_session(live);
        }
        if let Some(session) = &mut self.shown {
            session.follow = true;
            session.select(session.run.current_step);
        }
    }
}
