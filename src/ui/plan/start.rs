//! What the plan page shows while no plan is open: how to open one, where the person was, and examples to try.

use egui::{
    Align2, CornerRadius, Margin, Rect, Response, Sense, Stroke, StrokeKind, Ui, Vec2, pos2, vec2,
};

use super::sidebar::distinction;
use super::{SidebarView, run_look};
use crate::plan::drawable;
use crate::run::{LoopFate, RunFate};
use crate::ui::action::LoopAction;
use crate::ui::loop_page::fate_look as loop_look;
use crate::ui::{
    Action, Chip, Command, Commands, Icon, Look, PlanAction, Text, Theme, Tone, controls, icon,
    rows, scroll, theme, widgets,
};

/// The maximum width of the content, in points.
const WIDTH: f32 = 900.0;
/// The width from which the examples are in one row, in points.
const ONE_ROW: f32 = 780.0;
/// The width from which on two examples are side by side, in points.
const TWO_ROWS: f32 = 400.0;
/// The height of an example in one row, and in two rows of wider ones, in points.
const EXAMPLE: [f32; 2] = [92.0, 78.0];
/// The space between examples, in points.
const GAP: f32 = 10.0;
/// The maximum number of runs and of loops in the list of where the person was, and that of plans.
const MAX_EARLIER: usize = 2;

/// The examples, one for each kind of plan.
const EXAMPLES: [Command; 4] =
    [Command::OpenTour, Command::ExampleCommands, Command::ExampleActions, Command::ExampleLoop];

/// Something that the person may want to return to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Earlier<'a> {
    pub(super) title: &'a str,
    /// What tells a plan from others of the same title.
    pub(super) distinction: Option<String>,
    pub(super) look: (Icon, &'static str, Tone),
    /// The time of its start, in Unix milliseconds; `None` for a plan that was never run.
    pub(super) at_ms: Option<i64>,
    pub(super) actions: Vec<Action>,
}

/// Where the person was: first what is under way or was interrupted and not continued, then the latest plans with the
/// outcome of their latest runs. The plan of a listed run is not listed again.
pub(super) fn earlier<'a>(view: &SidebarView<'a>) -> Vec<Earlier<'a>> {
    let is_continued = |id| view.runs.iter().any(|run| run.parent_run == Some(id));
    let open_runs: Vec<_> = (view.runs.iter())
        .filter(|run| matches!(run.fate, RunFate::Active | RunFate::Interrupted))
        .filter(|run| !is_continued(run.run_id))
        .take(MAX_EARLIER)
        .collect();
    let loops = (view.loops.iter())
        .filter(|it| matches!(it.fate, LoopFate::Active | LoopFate::Interrupted))
        .take(MAX_EARLIER);
    // Pinned plans are first in the list, but the one that was opened last is the first of the others.
    let is_listed = |digest| open_runs.iter().any(|run| Some(run.plan_digest) == digest);
    let (pinned, others): (Vec<_>, Vec<_>) = view.plans.iter().partition(|plan| plan.pinned);
    let plans = others.into_iter().chain(pinned);
    let plans = plans.filter(|plan| !is_listed(plan.digest)).take(MAX_EARLIER);
    let of_run = open_runs.iter().map(|run| Earlier {
        title: &run.plan_name,
        distinction: None,
        look: run_look(run),
        at_ms: Some(run.started_at_ms),
        actions: vec![Action::Plan(PlanAction::OpenRun(run.run_id))],
    });
    let of_loop = loops.map(|it| Earlier {
        title: &it.goal,
        distinction: None,
        look: loop_look(it.fate),
        at_ms: Some(it.started_at_ms),
        actions: vec![Action::Do(Command::GoLoop), Action::Loop(LoopAction::Show(it.loop_id))],
    });
    let of_plan = plans.map(|plan| {
        let run = view.runs.iter().find(|run| Some(run.plan_digest) == plan.digest);
        Earlier {
            title: &plan.name,
            distinction: distinction(plan, view.plans),
            look: match run {
                _ if plan.rejected => (icon::PROHIBIT, "rejected", Tone::Danger),
                None => (icon::PLAN, "not run", Tone::Dim),
                Some(run) => run_look(run),
            },
            at_ms: run.filter(|_| !plan.rejected).map(|run| run.started_at_ms),
            actions: vec![Action::Plan(PlanAction::Open(plan.path.clone()))],
        }
    });
    of_run.chain(of_loop).chain(of_plan).collect()
}

/// Draws the page.
pub(super) fn start_ui(ui: &mut Ui, view: &SidebarView<'_>, commands: &mut Commands<'_>) {
    let side = (ui.available_width() * 0.07).clamp(20.0, 72.0) as i8;
    let margin = Margin { left: side, right: side, top: 40, bottom: 24 };
    scroll::area(ui, "start", margin, |ui| {
        ui.set_max_width(ui.available_width().min(WIDTH));
        widgets::line(ui, "Sign what machines want to do", Text::Title, Tone::Plain);
        let text = "Open a plan file, drop one here, or paste one. You see what every step would do to which file before \
                    anything runs, and nothing runs until you authorize exactly that plan.";
        ui.scope(|ui| {
            ui.set_max_width(ui.available_width().min(620.0));
            widgets::paragraph(ui, text, Text::Body, Tone::Dim);
        });
        ui.add_space(12.0);
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = GAP;
            commands.button(ui, Command::OpenPlan, Look::Primary, None);
            commands.button(ui, Command::NewLoop, Look::Plain, None);
            if commands.situation.inbox_waiting > 0 {
                commands.button(ui, Command::OpenWaiting, Look::Plain, None);
            }
            if commands.situation.attempt_waits {
                commands.button(ui, Command::OpenAttempt, Look::Plain, None);
            }
        });
        let earlier = earlier(view);
        if !earlier.is_empty() {
            ui.add_space(20.0);
            widgets::list_heading(ui, "Where you were");
            for item in &earlier {
                if earlier_ui(ui, item, view).clicked() {
                    commands.actions.extend(item.actions.iter().cloned());
                }
            }
        }
        ui.add_space(20.0);
        widgets::list_heading(ui, "Try one in a copy");
        examples_ui(ui, commands);
        ui.add_space(20.0);
        keys_ui(ui);
    });
}

/// One thing to return to: a line that can be clicked.
fn earlier_ui(ui: &mut Ui, item: &Earlier<'_>, view: &SidebarView<'_>) -> Response {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), theme::ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let fill = box_ui(ui, rect, &response);
    let y = rect.center().y;
    let time = item.at_ms.map(|at| view.now.short(at)).unwrap_or_default();
    widgets::paint_icon(ui, pos2(rect.right() - 18.0, y), icon::RIGHT, 14.0, theme.dim);
    let right = rect.right() - 34.0;
    let time_width = widgets::paint_right(ui, pos2(right, y), (&time, Text::SmallMono, theme.dim));
    let (icon, word, tone) = item.look;
    let chip_right = right - time_width.max(48.0) - 12.0;
    let chip = Chip::new(icon, word, tone).paint_right(ui, pos2(chip_right, y), fill);
    let left = rect.left() + 14.0;
    let place = item.distinction.as_ref().map(|it| format!("  {it}")).unwrap_or_default();
    let title = [(item.title, Text::Body, theme.text), (&place, Text::Meta, theme.dim)];
    widgets::paint_parts(ui, pos2(left, y), (chip.left() - 12.0 - left).max(0.0), &title);
    let name = format!("{}{place}", item.title);
    let title = drawable(&name);
    controls::painted_button(ui, &response, || format!("Return to {title}, {word}"));
    rows::row_tooltip(&response, false, title.as_ref());
    response
}

/// The examples, side by side as far as there is room.
fn examples_ui(ui: &mut Ui, commands: &mut Commands<'_>) {
    let [in_one_row, in_two_rows] = EXAMPLE;
    let (columns, height) = match ui.available_width() {
        ONE_ROW.. => (EXAMPLES.len(), in_one_row),
        TWO_ROWS.. => (2, in_two_rows),
        _ => (1, in_two_rows),
    };
    let width = (ui.available_width() - GAP * (columns - 1) as f32) / columns as f32;
    for row in EXAMPLES.chunks(columns) {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = GAP;
            for command in row {
                if example_ui(ui, *command, vec2(width, height)).clicked() {
                    commands.actions.push(Action::Do(*command));
                }
            }
        });
        ui.add_space(GAP - ui.spacing().item_spacing.y);
    }
}

fn example_ui(ui: &mut Ui, command: Command, size: Vec2) -> Response {
    let (theme, spec) = (Theme::of(ui), command.spec());
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    box_ui(ui, rect, &response);
    let inner = rect.shrink2(vec2(14.0, 12.0));
    let mut left = inner.left();
    if let Some(icon) = spec.icon {
        widgets::paint_icon(ui, pos2(left + 8.0, inner.top() + 8.0), icon, 16.0, theme.accent);
        left += 24.0;
    }
    let painter = ui.painter();
    let top = pos2(left, inner.top() + 8.0);
    painter.text(top, Align2::LEFT_CENTER, spec.text, Text::Body.font(), theme.text);
    let (text, font) = (spec.tooltip.to_owned(), Text::Meta.font());
    let galley = painter.layout(text, font, theme.dim, inner.width());
    painter.galley(pos2(inner.left(), inner.top() + 22.0), galley, theme.dim);
    controls::painted_button(ui, &response, || spec.text.to_owned());
    response
}

/// Paints a box that can be clicked. Returns its colour.
fn box_ui(ui: &Ui, rect: Rect, response: &Response) -> egui::Color32 {
    let theme = Theme::of(ui);
    let radius = CornerRadius::same(theme::RADIUS);
    let (fill, line) = match response.hovered() {
        true => (theme.hover, theme.dim),
        false => (theme.panel, theme.line),
    };
    ui.painter().rect(rect, radius, fill, Stroke::new(1.0, line), StrokeKind::Inside);
    fill
}

/// The keys to begin with.
fn keys_ui(ui: &mut Ui) {
    ui.horizontal_wrapped(|ui| {
        for (command, word) in [
            (Command::OpenPlan, "open"),
            (Command::NewLoop, "goal"),
            (Command::Palette, "all commands"),
            (Command::Help, "help"),
        ] {
            let Some(key) = command.spec().shortcut_text(ui) else { continue };
            widgets::line(ui, key, Text::SmallMono, Tone::Plain);
            widgets::line(ui, word, Text::Small, Tone::Dim);
            ui.add_space(12.0);
        }
    });
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::ui::tests::window;

    /// In the example data, a run was interrupted, and two plans have one title.
    #[test]
    fn where_the_person_was_opens_with_one_click() {
        for (name, action) in [
            ("Return to Rename Config to Settings, interrupted", "OpenRun"),
            ("Return to Rotate staging logs  plans, failed", "Open("),
        ] {
            let mut harness = window("returning", [1280.0, 800.0]);
            harness.get_all_by_label(name).next().unwrap().focus();
            harness.run_ok();
            harness.key_press(egui::Key::Enter);
            harness.run_ok();
            let actions = format!("{:?}", harness.state().actions);
            assert!(actions.contains(action), "{name}: {actions}");
        }
        let harness = window("empty", [1280.0, 800.0]);
        assert!(harness.query_by_label("Where you were").is_none());
    }

    #[test]
    fn keys_and_mouse_buttons_go_back() {
        let mut harness = window("returning", [900.0, 600.0]);
        harness.key_press_modifiers(egui::Modifiers::ALT, egui::Key::ArrowLeft);
        harness.run_ok();
        for pressed in [true, false] {
            harness.event(egui::Event::PointerButton {
                pos: pos2(450.0, 580.0),
                button: egui::PointerButton::Extra1,
                pressed,
                modifiers: egui::Modifiers::NONE,
            });
        }
        harness.run_ok();
        assert_eq!(
            harness.state().actions,
            [Action::Do(Command::GoBack), Action::Do(Command::GoBack)]
        );
    }

    #[test]
    fn each_kind_of_plan_has_an_example() {
        for command in EXAMPLES {
            let mut harness = window("empty", [900.0, 600.0]);
            harness.get_by_label(command.spec().text).click();
            harness.run_ok();
            assert_eq!(harness.state().actions, [Action::Do(command)]);
        }
    }
}
