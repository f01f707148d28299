//! The views: pure functions from state to drawing, and from input to [`Action`]s.
//!
//! Only the window code calls them. A view borrows plain data, reads no file, never blocks and changes no state; it
//! returns the person's actions as a list. Input and output, channels, SQL, and colours outside [`theme`] are not
//! allowed here.

mod access;
pub mod action;
pub mod agent_page;
pub mod artifact;
mod clusters;
pub mod commands;
pub mod composition;
mod controls;
mod copying;
pub mod diagnostics;
pub mod dialog;
pub mod evidence;
pub mod format;
pub mod glyphs;
pub mod icon;
pub mod key_names;
pub mod key_queue;
pub mod keys;
pub mod loop_page;
pub mod narrow;
pub mod notice;
mod one_stop;
pub mod overlay;
pub mod panic_page;
pub mod plan;
pub mod reconcile;
mod reveal;
mod rows;
mod scroll;
pub mod settings_page;
pub mod splits;
mod status_bar;
mod tabs;
pub mod terminal;
pub mod theme;
mod top_bar;
pub mod tour;
pub mod widgets;

#[cfg(test)]
pub(crate) mod tests;

use egui::{Margin, Panel, Role, Ui};

pub use action::{Action, DialogAction, EvidenceAction, Page, PlanAction, SettingsAction};
use agent_page::AgentView;
pub use commands::{Command, Commands, Situation};
use diagnostics::DiagnosticsView;
use dialog::Dialog;
use evidence::EvidenceView;
pub use format::Now;
pub use icon::Icon;
use loop_page::LoopView;
use notice::Notice;
use overlay::Overlay;
use plan::{PlanView, SessionView, SidebarView};
pub use scroll::{OnScreen, go_on};
use settings_page::SettingsView;
pub use status_bar::StatusView;
pub use theme::{Text, Theme, Tone};
use tour::TourView;
use widgets::panel_frame;
pub use widgets::{Chip, Look};

/// The data that the views of one frame draw.
#[derive(Debug)]
pub struct WindowView<'a> {
    /// The workspace of the shown plan or loop, and why this folder is used.
    pub workspace: Option<(String, String)>,
    /// The state that determines which commands are available.
    pub situation: Situation,
    /// The list of plans and runs.
    pub sidebar: SidebarView<'a>,
    /// The session of an agent, if the page is about one of its calls.
    pub session: Option<SessionView<'a>>,
    /// The open plan, if any.
    pub plan: Option<PlanView<'a>>,
    /// The evidence page.
    pub evidence: EvidenceView<'a>,
    /// The diagnostics of the shown run; `None` when no plan is open.
    pub diagnostics: Option<DiagnosticsView<'a>>,
    /// The page of the bounded loop.
    pub looping: LoopView<'a>,
    /// The page of an agent.
    pub agent: AgentView<'a>,
    /// The status bar.
    pub status: StatusView,
    /// Notices, the latest last.
    pub notices: &'a [Notice],
    /// The dialog in front, which waits for an answer.
    pub dialog: Option<Dialog<'a>>,
    /// The settings; `None` before they were first shown.
    pub settings: Option<&'a SettingsView>,
    /// The open palette or help. Drawn only if there is no dialog.
    pub overlay: Option<&'a Overlay>,
    /// The guide of the tour, unless it is not open or hidden.
    pub tour: Option<TourView>,
}

/// Draws the window and reports the person's actions.
pub fn window_ui(ui: &mut Ui, view: &WindowView<'_>, actions: &mut Vec<Action>) {
    let commands = &mut Commands { situation: &view.situation, actions };
    let is_free = view.dialog.is_none() && view.overlay.is_none();
    let stopped = keys::take_stop(ui, commands);
    if let Some(plan) = view.plan.as_ref().filter(|_| is_free && view.situation.page == Page::Plan)
    {
        terminal::take_keys(ui, plan, commands.actions);
    }
    keys::drop_repeated_presses(ui.ctx());
    rows::note_keys(ui.ctx());
    rows::fit_tooltips(ui.ctx());
    let settings = view.settings.filter(|_| is_free && view.situation.page == Page::Settings);
    if let Some(settings) = settings {
        settings_page::take_pressed(ui, settings, stopped, commands.actions);
    }
    if is_free {
        keys::take_keys(ui, commands);
        if let Some(settings) = settings {
            settings_page::take_keys(ui, settings, commands.actions);
        } else if view.situation.page == Page::Evidence {
            evidence::take_keys(ui, &view.evidence, commands.actions);
        } else if let Some(plan) = view.plan.as_ref().filter(|_| view.situation.page == Page::Plan)
        {
            plan::take_keys(ui, plan, commands.actions);
        }
    }
    // Behind a dialog, nothing sees the pointer. A tooltip that was open would otherwise stay, in front of the dialog.
    let is_covered = view.dialog.is_some() || view.overlay.is_some();
    let pointer = is_covered.then(|| ui.input_mut(|input| std::mem::take(&mut input.pointer)));
    upper_bar_ui(ui, view, commands.actions);
    if let Some(tour) = view.tour {
        tour::tour_ui(ui, tour, commands.actions);
    }
    if ui.ctx().content_rect().height() >= narrow::LOW || view.status.is_needed() {
        bottom_bar_ui(ui, view, commands.actions);
    }
    let is_shown = |it: &&Notice| it.scope.is_on(view.situation.page);
    let notices: Vec<_> = view.notices.iter().filter(is_shown).collect();
    let notices = notices.as_slice();
    match view.situation.page {
        Page::Plan => {
            let shown = (view.session.as_ref(), view.plan.as_ref());
            plan::plan_page_ui(ui, &view.sidebar, shown, notices, commands);
        }
        Page::Evidence => evidence::evidence_page_ui(ui, &view.evidence, notices, commands),
        Page::Diagnostics => {
            diagnostics::diagnostics_page_ui(ui, view.diagnostics.as_ref(), notices, commands);
        }
        Page::Loop => loop_page::loop_page_ui(ui, &view.looping, notices, commands),
        Page::Agent => agent_page::agent_page_ui(ui, &view.agent, notices, commands),
        Page::Settings => {
            if let Some(settings) = view.settings {
                settings_page::settings_page_ui(ui, settings, notices, commands);
            }
        }
    }
    if let Some(pointer) = pointer {
        ui.input_mut(|input| input.pointer = pointer);
    }
    if let Some(dialog) = &view.dialog {
        dialog::dialog_ui(ui, dialog, commands.actions);
        return;
    }
    dialog::clean_up(ui.ctx());
    match view.overlay {
        Some(overlay) => overlay::overlay_ui(ui, overlay, commands),
        None => overlay::clean_up(ui.ctx()),
    }
    overlay::take_request(ui.ctx(), commands.actions);
}

fn upper_bar_ui(ui: &mut Ui, view: &WindowView<'_>, actions: &mut Vec<Action>) {
    bar_ui(ui, Panel::top("top_bar"), theme::TOP_BAR, |ui| {
        access::landmark(ui, Role::Navigation, "Pages");
        top_bar::top_bar_ui(ui, view, actions);
    });
}

fn bottom_bar_ui(ui: &mut Ui, view: &WindowView<'_>, actions: &mut Vec<Action>) {
    bar_ui(ui, Panel::bottom("status_bar"), theme::STATUS_BAR, |ui| {
        access::landmark(ui, Role::Status, "Status");
        status_bar::status_bar_ui(ui, &view.status, actions);
    });
}

fn bar_ui(ui: &mut Ui, panel: Panel, height: f32, add: impl FnOnce(&mut Ui)) {
    let frame = panel_frame(Theme::of(ui).panel, Margin::symmetric(14, 0));
    panel.exact_size(height).resizable(false).frame(frame).show(ui, add);
}
