//! Lays out the parts of the plan page, with fewer of them in a small window.

use egui::{Context, Margin, Panel, Ui};

use super::header::{self, HeaderSize};
use super::sidebar::{SidebarView, sidebar_ui};
use super::{
    PlanView, SessionView, bar, bar_ui, filter_bar, findings, inspector, output_pane, past_call,
    rows, session, simulation, start, step_row,
};
use crate::ui::notice::{Notice, notices_ui};
use crate::ui::splits::{Side, folding_panel_ui, split_panel_ui};
use crate::ui::widgets::panel_frame;
use crate::ui::{
    Action, Command, Commands, Look, PlanAction, Theme, narrow, terminal, theme, widgets,
};

/// The minimum height of the output pane in a small window, in points.
const MIN_OUTPUT: f32 = 96.0;
/// The number of steps that stay in view above the output.
const FEW_STEPS: f32 = 4.0;
/// The smallest height of the steps above a terminal, in points.
const MIN_BESIDE_TERMINAL: f32 = 120.0;
/// A window with less height than this for steps and output, in points, counts as small.
const SMALL: f32 = 560.0;
/// A window with less height than this for steps and output, in points, has room for the name of the plan alone.
const VERY_SMALL: f32 = 340.0;
/// Below this width, in points, the list of plans and runs beside a plan is folded.
const VERY_NARROW: f32 = 760.0;
/// Below this width, in points, the inspector has a size of its own.
const NARROW: f32 = 800.0;

/// A window with less height than this for steps and output, in points, shows only one of them.
pub(super) const LOWEST: f32 = 240.0;
/// The pane with the selected step, in a narrow window.
pub(super) const STEP_PANE: &str = "step";

/// The list of plans and runs.
const SIDEBAR: &str = "sidebar";

/// Shows the selected step, in a window that is too narrow for it beside the list.
pub fn show_step(ctx: &Context) {
    narrow::set_open(ctx, STEP_PANE, true);
}

/// Draws the page.
pub fn plan_page_ui(
    ui: &mut Ui,
    sidebar: &SidebarView<'_>,
    (session, plan): (Option<&SessionView<'_>>, Option<&PlanView<'_>>),
    notices: &[&Notice],
    commands: &mut Commands<'_>,
) {
    let theme = Theme::of(ui);
    // Beside a plan, the list of others needs more width than the lists of other pages.
    let width = ui.available_width();
    let is_beside = plan.is_some() || session.is_some();
    let is_folded = width < if is_beside { VERY_NARROW } else { narrow::NO_SIDE_LIST };
    folding_panel_ui(ui, SIDEBAR, is_folded, |ui| {
        let before = commands.actions.len();
        // Without a plan, the page itself has the button.
        if is_beside {
            commands.button(ui, Command::OpenPlan, Look::Plain, None);
            ui.add_space(8.0);
        }
        sidebar_ui(ui, sidebar, commands.actions);
        // What was picked is beside the list, or in its place.
        if commands.actions.len() > before {
            narrow::set_open(ui.ctx(), SIDEBAR, false);
        }
    });
    if let Some(session) = session {
        session::session_panel_ui(ui, session, sidebar.now, commands.actions);
    }
    let Some(view) = plan else {
        notices_ui(ui, notices, commands.actions);
        widgets::main_panel_ui(ui, |ui| match session {
            Some(session) => past_call::past_call_ui(ui, session, sidebar.now, commands.actions),
            None => start::start_ui(ui, sidebar, commands),
        });
        return;
    };
    let width = ui.available_width();
    let has_inspector = view.plan.is_some() && view.simulation.is_none();
    // One pane at a time; a question to the person is in the list of steps.
    let is_one_pane = has_inspector && width < narrow::ONE_PANE;
    if view.card.is_some_and(|card| card.reveal) {
        narrow::set_open(ui.ctx(), STEP_PANE, false);
    }
    let shows_step = is_one_pane && narrow::is_open(ui.ctx(), STEP_PANE);
    if has_inspector && !is_one_pane {
        // A small window must not shrink the inspector of a large one.
        let name = if width < NARROW { "narrow inspector" } else { "inspector" };
        let (default, range) =
            (theme::INSPECTOR.min(width * 0.44), 260.0..=(width - 320.0).max(260.0));
        let frame = panel_frame(theme.background, Margin::ZERO);
        split_panel_ui(ui, Side::Right, (name, "Details"), default, range, frame, |ui| {
            inspector::inspector_ui(ui, view, is_one_pane, commands.actions);
        });
    }
    Panel::bottom("action_bar")
        .exact_size(theme::ACTION_BAR)
        .resizable(false)
        .frame(panel_frame(theme.panel, Margin::symmetric(16, 0)))
        .show(ui, |ui| bar_ui(ui, &bar(view, commands.situation), commands));
    let height = ui.available_height();
    // In a small window the steps of a guided run have priority, and a question needs all the room for its answers.
    let is_guided = view.run.is_active() && rows::is_guided(view);
    let small = height < SMALL && is_guided;
    let has_room = !small || view.card.is_none();
    let (id, min_steps, default_size): (_, f32, _) = match (is_guided, small) {
        (_, true) => ("little output", 200.0, MIN_OUTPUT),
        // The whole card of a step, with another step, has room above the output.
        (true, false) => ("little output", 360.0, (height * 0.22).max(MIN_OUTPUT)),
        (false, _) => ("output", 200.0, theme::OUTPUT.min(height * 0.4)),
    };
    // The smallest window has room for the output, or for the steps.
    let has_output = view.output.is_shown && view.simulation.is_none();
    let above_id = ui.scope_id().with("height above the steps");
    let above = ui.data(|data| data.get_temp(above_id)).unwrap_or(0.0_f32);
    let for_output = height - min_steps.max(above + FEW_STEPS * theme::ROW);
    // Output that nobody asked for does not take the room of the steps.
    if has_output && view.output.opened_by_itself && for_output < MIN_OUTPUT {
        commands.actions.push(Action::Do(Command::ToggleOutput));
    }
    let terminal = terminal::of(view).filter(|_| view.simulation.is_none());
    if height < LOWEST && has_output && has_room && terminal.is_none() {
        widgets::main_panel_ui(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            output_pane::output_pane_ui(ui, view, commands.actions);
        });
        return;
    }
    if let Some(terminal) = terminal {
        // The smallest window has room for the name of the plan above a terminal.
        let beside = if height < LOWEST { 40.0 } else { MIN_BESIDE_TERMINAL };
        Panel::bottom("terminal")
            .default_size(height * 0.6)
            .size_range(MIN_OUTPUT..=(height - beside).max(MIN_OUTPUT))
            .resizable(true)
            .frame(panel_frame(theme.background, Margin::ZERO))
            .show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                let about = step_row(view, terminal.step_index).map(|row| match row.place {
                    Some(place) => format!("{} {place}", row.object),
                    None => row.object,
                });
                let about = about.unwrap_or_default();
                terminal::terminal_ui(ui, terminal, &about, commands.actions);
            });
    } else if has_output && has_room {
        let range = MIN_OUTPUT..=for_output.max(MIN_OUTPUT);
        let frame = panel_frame(theme.background, Margin::ZERO);
        split_panel_ui(ui, Side::Bottom, (id, "Output"), default_size, range, frame, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            output_pane::output_pane_ui(ui, view, commands.actions);
        });
    }
    notices_ui(ui, notices, commands.actions);
    widgets::main_panel_ui(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let size = match height {
            ..VERY_SMALL => HeaderSize::Line,
            ..SMALL => HeaderSize::Small,
            _ => HeaderSize::Whole,
        };
        if shows_step {
            return inspector::inspector_ui(ui, view, is_one_pane, commands.actions);
        }
        let is_unfolded = header::header_ui(ui, view, size, is_one_pane, commands);
        if view.simulation.is_some() {
            return simulation::simulation_ui(ui, view, commands);
        }
        findings::findings_ui(ui, view.findings, view.plan.map_or(&[], |plan| &plan.steps));
        let filters = view.list.is_open || !view.list.filter.is_empty();
        if height >= LOWEST || is_unfolded || filters {
            filter_bar::filter_ui(ui, view, commands.actions);
        }
        let above = ui.cursor().top() - ui.max_rect().top();
        ui.data_mut(|data| data.insert_temp(above_id, above));
        let before = commands.actions.len();
        rows::rows_ui(ui, view, commands.actions);
        let is_pick = |action: &Action| matches!(action, Action::Plan(PlanAction::SelectStep(_)));
        if is_one_pane && commands.actions.iter().skip(before).any(is_pick) {
            show_step(ui.ctx());
        }
    });
}
