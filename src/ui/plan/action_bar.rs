//! Draws the bar below a plan or a loop: its state, and the commands that authorize, start and control it.

use std::sync::Arc;

use egui::text::LayoutJob;
use egui::{
    Align, Button, Galley, Layout, Response, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::Bar;
use super::bar_fit::{Fit, Form, ICON, short_text};
use crate::plan::{drawable, drawable_lines};
use crate::ui::controls::{self, button_width};
use crate::ui::{Action, Command, Commands, Look, Text, Theme, Tone, access, icon, theme, widgets};

/// The width of the icon and of the margins of a bar's text, in points.
const BESIDE_TEXT: f32 = 40.0;
/// The width from which on a title is truncated before a button loses words, in points.
const MAX_TITLE: f32 = 200.0;
/// The width for the text during a run, in points: that of most titles.
const RUN_TEXT: f32 = 130.0;
/// The same for a row of the detail.
const MAX_DETAIL: f32 = 150.0;

/// The rows that the detail takes in a bar of the usual height.
const DETAIL_ROWS: usize = 2;
/// The height of a bar besides its detail, in points.
const BESIDE_DETAIL: f32 = 27.0;

/// The height of a bar with one button, in points: what the button starts is readable beside it, in up to a third of a
/// small window.
pub(crate) fn bar_height(ui: &Ui, bar: &Bar, width: f32) -> f32 {
    const MARGIN: f32 = 8.0;
    let button = |it: Command| button_width(ui, it.spec().text, it.spec().icon.is_some());
    let beside = bar.primary.map_or(0.0, |it| button(it) + ui.spacing().item_spacing.x);
    let width = (width - beside - BESIDE_TEXT).max(MAX_DETAIL);
    let detail = detail_galley(ui, bar, width, usize::MAX);
    if detail.rows.len() <= DETAIL_ROWS {
        return theme::ACTION_BAR;
    }
    let most = (ui.ctx().content_rect().height() / 3.0).max(theme::ACTION_BAR);
    (BESIDE_DETAIL + detail.size().y + MARGIN).clamp(theme::ACTION_BAR, most)
}

/// The detail of a bar in at most this many rows.
fn detail_galley(ui: &Ui, bar: &Bar, width: f32, rows: usize) -> Arc<Galley> {
    let detail = widgets::beginning(&bar.detail).into_owned();
    let mut job = LayoutJob::simple(detail, Text::Small.font(), Theme::of(ui).dim, width);
    job.wrap.max_rows = rows;
    ui.painter().layout_job(job)
}

/// Draws a bar into the panel at the bottom.
pub(crate) fn bar_ui(ui: &mut Ui, bar: &Bar, commands: &mut Commands<'_>) {
    access::landmark(ui, Role::Toolbar, "Actions");
    let theme = Theme::of(ui);
    let rect = ui.max_rect();
    let line = Stroke::new(1.0, theme.line);
    ui.painter().hline(ui.clip_rect().x_range(), rect.top(), line);
    let width = rect.width();
    let is_new = is_new(ui, bar);
    let before = commands.actions.len();
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_height(rect.height());
        let asking = commands.situation.asking.filter(|_| bar.primary == Some(Command::AnswerStep));
        let answer = asking.map(|step| format!("Answer step {}", step + 1));
        let text_of = |command: Command, form: Form| match (command, form) {
            (_, Form::Short) if let Some(short) = short_text(command) => short,
            (Command::AnswerStep, _)
                if bar.primary == Some(command)
                    && let Some(answer) = &answer =>
            {
                answer
            }
            (Command::GoLoop, _) => "Go to the loop",
            (Command::Authorize, _) if bar.primary == Some(command) => command.spec().text,
            (Command::Authorize, _) if bar.icon == icon::PROHIBIT => "Authorize after all…",
            (Command::Authorize, _) => "Authorize again…",
            _ => command.spec().text,
        };
        let spacing = ui.spacing().item_spacing.x;
        // These two follow one another, and the buttons beside them must not change under the pointer.
        let takes_turns = [Command::NextUnseen, Command::Authorize];
        let is_turn = bar.primary.is_some_and(|it| takes_turns.contains(&it));
        let least_text = if is_turn { BESIDE_TEXT + MAX_DETAIL } else { 0.0 };
        // The text changes with each step of a run, and no button may move under the pointer meanwhile.
        let text_width = match commands.situation.running || commands.situation.looping {
            true => BESIDE_TEXT + RUN_TEXT,
            false => text_width(ui, bar).max(least_text),
        };
        let of_text =
            |command: Command, text: &str| button_width(ui, text, command.spec().icon.is_some());
        let turns_width =
            takes_turns.map(|it| of_text(it, it.spec().text)).into_iter().fold(0.0, f32::max);
        let fit = Fit::of(bar, (width, text_width, spacing), |command, form| {
            let own = of_text(command, text_of(command, form));
            if is_turn && bar.primary == Some(command) { own.max(turns_width) } else { own }
        });
        let primary = bar.primary.map(|command| (command, text_of(command, fit.form(command))));
        let beside = match primary {
            Some((command, text)) if is_turn => turns_width - of_text(command, text),
            _ => 0.0,
        };
        // At the right edge, where the next click of somebody who only goes on does the least.
        if let Some((command, text)) = primary {
            commands.button(ui, command, Look::Primary, Some(text));
            ui.add_space(beside.max(0.0));
        }
        // The layout goes from right to left, so the last command of the list is added first.
        for command in bar.others.iter().rev() {
            match fit.form(*command) {
                Form::Icon => icon_command(ui, *command, commands),
                Form::InMenu => {}
                form => commands.button(ui, *command, Look::Plain, Some(text_of(*command, form))),
            }
        }
        if fit.has_menu() {
            menu_ui(ui, &fit, commands);
        }
        text_ui(ui, bar, rect.height());
    });
    // The second click of a double click is meant for the button that was there before.
    let is_again = |input: &egui::InputState| {
        let button = egui::PointerButton::Primary;
        input.pointer.button_double_clicked(button) || input.pointer.button_triple_clicked(button)
    };
    if is_new && ui.input(is_again) {
        commands.actions.truncate(before);
    }
}

/// Whether the bar has had these commands for so short a time that a click may be meant for those before.
fn is_new(ui: &Ui, bar: &Bar) -> bool {
    /// In seconds; longer than a double click.
    const DOUBLE_CLICK: f64 = 0.5;
    let shown: Vec<_> = bar.primary.iter().chain(&bar.others).copied().collect();
    let now = ui.input(|input| input.time);
    ui.data_mut(|data| {
        let entry = data.get_temp_mut_or_insert_with(ui.scope_id().with("commands since"), || {
            (shown.clone(), f64::NEG_INFINITY)
        });
        if entry.0 != shown {
            *entry = (shown, now);
        }
        now - entry.1 < DOUBLE_CLICK
    })
}

/// The width that the text of a bar needs beside its buttons, in points: for the title in one line and the detail in two.
fn text_width(ui: &Ui, bar: &Bar) -> f32 {
    let title = Text::Body.width_of(ui, &bar.title).min(MAX_TITLE);
    let detail = Text::Small.width_of(ui, &widgets::beginning(&bar.detail));
    let rows = DETAIL_ROWS as f32;
    BESIDE_TEXT + title.max((detail / rows + 12.0).min(MAX_DETAIL))
}

/// The commands that have no room of their own.
fn menu_ui(ui: &mut Ui, fit: &Fit, commands: &mut Commands<'_>) {
    let icon = icon::MORE.text(17.0).color(Theme::of(ui).dim);
    let button = Button::new(icon).frame(false).min_size(vec2(ICON, ICON));
    let in_menu = fit.0.iter().filter(|(_, form)| *form == Form::InMenu);
    controls::menu_of(ui, button, "More commands", |ui| {
        for (command, _) in in_menu {
            let spec = command.spec();
            let why_not = (spec.unavailable)(commands.situation);
            if controls::menu_item_unless(ui, spec.text, why_not) {
                commands.actions.push(Action::Do(*command));
            }
        }
    });
}

/// Draws the text of a bar of this height into the width that its buttons have left.
fn text_ui(ui: &mut Ui, bar: &Bar, height: f32) {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width().max(0.0), height - 6.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let color = theme.tone(bar.tone);
    // Nothing is drawn over the buttons, nor outside the bar.
    if rect.width() < 24.0 {
        return;
    }
    let center = pos2(rect.left() + 10.0, rect.center().y);
    widgets::paint_icon(ui, center, bar.icon, 18.0, color);
    let (left, width) = (rect.left() + 28.0, (rect.width() - BESIDE_TEXT).max(0.0));
    // Two letters and an ellipsis would be less clear than the icon with its tooltip.
    let mut truncated = width < 48.0;
    if !truncated {
        let strong = if bar.tone == Tone::Dim { theme.text } else { color };
        let row = ui.fonts_mut(|fonts| fonts.row_height(&Text::Small.font()));
        let rows = ((height - BESIDE_DETAIL) / row + 0.1) as usize;
        let detail = detail_galley(ui, bar, width, rows.max(DETAIL_ROWS));
        let detail_height = if bar.detail.is_empty() { 0.0 } else { detail.size().y + 3.0 };
        let middle = rect.center().y - detail_height / 2.0;
        let parts = [(bar.title.as_str(), Text::Body, strong)];
        let (_, title_truncated) = widgets::paint_parts(ui, pos2(left, middle), width, &parts);
        truncated = title_truncated || detail.elided;
        ui.painter().galley(pos2(left, middle + 9.0), detail, theme.dim);
    }
    response.widget_info(|| {
        let text = format!("{}. {}", bar.title, drawable(&bar.detail));
        WidgetInfo::labeled(Role::Label, true, text)
    });
    announce_title(ui, &response, bar);
    if truncated || !bar.more.is_empty() {
        let more = if bar.more.is_empty() { &bar.detail } else { &bar.more };
        response.on_hover_text(drawable_lines(&format!("{}\n{more}", bar.title)));
    }
}

/// Announces another title, and not a detail that changes with the time. During a run the status bar says what happens.
fn announce_title(ui: &Ui, text: &Response, bar: &Bar) {
    let id = ui.scope_id().with("the title that was announced");
    let before = ui.data_mut(|data| {
        std::mem::replace(data.get_temp_mut_or_default::<String>(id), bar.title.clone())
    });
    if before != bar.title && bar.icon != icon::RUNNING {
        access::announce(text, false);
    }
}

/// A button with only the icon of a command; none while the command is unavailable.
fn icon_command(ui: &mut Ui, command: Command, commands: &mut Commands<'_>) {
    let spec = command.spec();
    if let (None, Some(icon)) = ((spec.unavailable)(commands.situation), spec.icon)
        && widgets::icon_button(ui, icon, spec.text).clicked()
    {
        commands.actions.push(Action::Do(command));
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use crate::ui::tests::window;

    /// A truncated sentence would be shown whole when the pointer rests on it.
    #[test]
    fn the_bar_of_an_attempt_is_not_truncated() {
        let sentence = "The plan runs as soon as you authorize it.";
        for size in [[900.0, 600.0], [1280.0, 800.0]] {
            let mut harness = window("attempt", size);
            harness.get_by_label_contains(sentence).hover();
            harness.run_ok();
            let shown = harness.query_all_by_label_contains(sentence).count();
            assert_eq!(shown, 1, "{size:?}: there is a tooltip");
        }
    }

    /// What the button of a form starts is what the person agrees to.
    #[test]
    fn the_bar_of_a_form_is_not_truncated() {
        let sentence = "Each plan needs your authorization.";
        for scene in ["loop", "loop-filled"] {
            for size in [[720.0, 480.0], [900.0, 600.0], [1280.0, 800.0]] {
                let mut harness = window(scene, size);
                harness.get_by_label_contains(sentence).hover();
                harness.run_ok();
                let shown = harness.query_all_by_label_contains(sentence).count();
                assert_eq!(shown, 1, "{scene} {size:?}: there is a tooltip");
            }
        }
    }

    /// A click that was meant for a button would meet another one.
    #[test]
    fn buttons_keep_their_places_during_a_run() {
        use crate::ui::{Action, Command, Commands, Situation, Tone, icon};
        let rects = |title: &str, detail: &str| {
            let bar = super::super::Bar {
                others: vec![Command::StopNow, Command::CancelAfterStep, Command::Pause],
                ..super::super::Bar::new(icon::RUNNING, Tone::Accent, title, detail)
            };
            let situation = Situation { running: true, plan_open: true, ..Situation::default() };
            let mut harness = egui_kittest::Harness::builder()
                .with_size([560.0, 58.0])
                .with_context_setup(crate::ui::theme::install)
                .build_ui(|ui| {
                    let mut actions: Vec<Action> = Vec::new();
                    let mut commands = Commands { situation: &situation, actions: &mut actions };
                    super::bar_ui(ui, &bar, &mut commands);
                });
            harness.run_ok();
            let nodes = harness.query_all_by_role(egui::accesskit::Role::Button);
            nodes.map(|it| it.rect()).collect::<Vec<_>>()
        };
        let first = rects("Running step 1 of 5", "");
        assert_eq!(first.len(), 3);
        let later = rects("Running step 128 of 10000", "Guided from the next step on, or never");
        assert_eq!(first, later);
    }
}
