//! The window without a display: the same state, threads and views, drawn frame by frame.
//!
//! The frame benchmarks use it, which supply the input of each frame, and the tests of hooks, in which a script decides as
//! a person does.

use std::path::PathBuf;

use super::{App, Options, settings};
use crate::authorization::RuleTime;
use crate::ui::action::AgentsAction;
use crate::ui::agent_page::AgentState;
use crate::ui::plan::{Approval, RuleOffer};
use crate::ui::{Action, Command, DialogAction, Page, PlanAction};
use crate::worker::Folders;

/// The window's state with its threads. A frame is drawn only when [`frame`](Self::frame) is called.
pub struct Offscreen {
    app: App,
}

impl Offscreen {
    /// Starts the threads. They request a repaint of `ctx` after each message.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(ctx: &egui::Context, options: Options, folders: Folders) -> std::io::Result<Self> {
        let loaded = settings::load(options.settings.clone());
        Ok(Self { app: App::start(ctx, options, folders, loaded)? })
    }

    /// Runs one frame with this input, as the real window does.
    pub fn frame(&mut self, ctx: &egui::Context, mut input: egui::RawInput) -> egui::FullOutput {
        self.app.defer_keys(ctx, &mut input);
        ctx.run_ui(input, |ui| {
            self.app.begin_frame(ui.ctx());
            self.app.draw_and_apply(ui);
        })
    }

    /// The file of the shown plan, once a person could authorize it.
    pub fn authorizable(&self) -> Option<PathBuf> {
        let shown = self.app.plan.shown.as_ref()?;
        let can = shown.not_authorizable().is_none() && shown.approval == Approval::None;
        shown.path().filter(|_| can).map(Into::into)
    }

    /// Whether the shown plan is authorized.
    pub fn is_authorized(&self) -> bool {
        let shown = self.app.plan.shown.as_ref();
        shown.is_some_and(|it| matches!(it.approval, Approval::Approved { .. }))
    }

    /// Applies an action of the person.
    pub fn act(&mut self, ctx: &egui::Context, action: Action) {
        self.app.apply(action, ctx);
    }

    /// The number of plans in the inbox that wait for the person.
    pub fn waiting(&self) -> usize {
        self.app.inbox.waiting()
    }

    /// The page that is shown.
    pub fn page(&self) -> Page {
        self.app.shared.page
    }

    /// The session with an agent that was started last.
    pub fn agent(&self) -> Option<&AgentState> {
        self.app.agent.state()
    }

    /// Makes the rule that is offered for the shown call of an agent, through the dialog that a person uses. Returns whether
    /// one was offered.
    pub fn allow_identical(&mut self, ctx: &egui::Context) -> bool {
        let offered = self.app.session_view().filter(|it| it.offer == Some(RuleOffer::Possible));
        let Some((key, number)) = offered.map(|it| (it.session.key, it.selected)) else {
            return false;
        };
        let offer = AgentsAction::OfferRule(key, number);
        self.app.apply(Action::Plan(PlanAction::Agents(offer)), ctx);
        let make = DialogAction::MakeRule { key, number, time: RuleTime::default() };
        self.app.apply(Action::Dialog(make), ctx);
        true
    }

    /// Opens a plan file.
    pub fn open(&mut self, path: PathBuf) {
        self.app.plan.open(path, None, &mut self.app.shared);
    }

    /// Authorizes the shown plan, or rejects it for a reason, through the dialog that a person uses.
    pub fn decide(&mut self, ctx: &egui::Context, rejected: Option<&str>) {
        let Some(digest) = self.app.plan.shown.as_ref().map(|it| it.opened.digest) else { return };
        let (command, answer) = match rejected {
            None => (Command::Authorize, DialogAction::Authorize(digest)),
            Some(reason) => {
                let reason = reason.to_owned();
                (Command::Reject, DialogAction::Reject { digest, reason, replan: false })
            }
        };
        self.app.apply(Action::Do(command), ctx);
        self.app.apply(Action::Dialog(answer), ctx);
    }
}
