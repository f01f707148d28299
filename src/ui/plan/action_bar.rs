//! Draws the bar below a plan or a loop: its state, and the commands that authorize, start and control it.

use egui::text::LayoutJob;
use egui::{Align, Layout, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::Bar;
use crate::plan::{visible, visible_lines};
use crate::ui::{Action, Command, Commands, Look, Text, Theme, Tone, theme, widgets};

/// Draws a bar into the panel at the bottom. The detail may take `rows` rows.
pub(crate) fn bar_ui(ui: &mut Ui, bar: &Bar, rows: usize, commands: &mut Commands<'_>) {
    let theme = Theme::of(ui);
    let rect = ui.max_rect();
    let line = Stroke::new(1.0, theme.line);
    ui.painter().hline(ui.clip_rect().x_range(), rect.top(), line);
    let width = rect.width();
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_height(theme::ACTION_BAR);
        // The layout goes from right to left, so the last command of the list is added first.
        for command in bar.others.iter().rev() {
            // The least important command loses its text first.
            let only_icon = match command {
                Command::GoOnGuided => width < 800.0,
                Command::CancelAfterStep => width < 660.0,
                Command::RollBack | Command::Revert => width < 540.0,
                Command::Pause | Command::StopNow | Command::RunAgain | Command::Reconcile => {
                    width < 470.0
                }
                Command::Reject => width < 400.0,
                Command::AnswerStep => width < 300.0,
                _ => false,
            };
            if only_icon {
                icon_command(ui, *command, commands);
                continue;
            }
            let text = (*command == Command::Authorize).then_some("Authorize again…");
            commands.button(ui, *command, Look::Plain, text);
        }
        if let Some(command) = bar.primary {
            let asking = commands.situation.asking.filter(|_| command == Command::AnswerStep);
            let text = asking.map(|step| format!("Answer step {}", step + 1));
            commands.button(ui, command, Look::Primary, text.as_deref());
        }
        text_ui(ui, bar, rows);
    });
}

/// Draws the text of a bar into the width that its buttons have left.
fn text_ui(ui: &mut Ui, bar: &Bar, rows: usize) {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width().max(0.0), theme::ACTION_BAR - 6.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let color = theme.tone(bar.tone);
    let center = pos2(rect.left() + 10.0, rect.center().y);
    widgets::paint_icon(ui, center, bar.icon, 18.0, color);
    let (left, width) = (rect.left() + 28.0, (rect.width() - 40.0).max(0.0));
    // Two letters and an ellipsis would be less clear than the icon with its tooltip.
    let mut truncated = width < 48.0;
    if !truncated {
        let strong = if bar.tone == Tone::Dim { theme.text } else { color };
        let detail = widgets::beginning(&bar.detail).into_owned();
        let mut job = LayoutJob::simple(detail, Text::Small.font(), theme.dim, width);
        (job.wrap.max_rows, job.wrap.break_anywhere) = (rows, rows == 1);
        let detail = ui.painter().layout_job(job);
        let detail_height = if bar.detail.is_empty() { 0.0 } else { detail.size().y + 3.0 };
        let middle = rect.center().y - detail_height / 2.0;
        let parts = [(bar.title.as_str(), Text::Body, strong)];
        let (_, title_truncated) = widgets::paint_parts(ui, pos2(left, middle), width, &parts);
        truncated = title_truncated || detail.elided;
        ui.painter().galley(pos2(left, middle + 9.0), detail, theme.dim);
    }
    response.widget_info(|| {
        let text = format!("{}. {}", bar.title, visible(&bar.detail));
        WidgetInfo::labeled(Role::Label, true, text)
    });
    if truncated || !bar.more.is_empty() {
        let more = if bar.more.is_empty() { &bar.detail } else { &bar.more };
        response.on_hover_text(visible_lines(&format!("{}\n{more}", bar.title)));
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
