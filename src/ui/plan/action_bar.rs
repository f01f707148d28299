//! The bar with which a plan is authorized and its run controlled.

use egui::{Align, Layout, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::{PlanView, bar};
use crate::plan::{visible, visible_lines};
use crate::ui::action::Action;
use crate::ui::commands::{Command, Situation, command_button};
use crate::ui::theme::{self, Text, Theme, Tone};
use crate::ui::widgets::{self, Look};

pub(super) fn action_bar_ui(
    ui: &mut Ui,
    view: &PlanView<'_>,
    situation: &Situation,
    actions: &mut Vec<Action>,
) {
    let theme = Theme::of(ui);
    let bar = bar(view, situation);
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
                icon_command(ui, *command, situation, actions);
                continue;
            }
            let text = (*command == Command::Authorize && view.run.is_over())
                .then_some("Authorize again…");
            command_button(ui, *command, Look::Plain, text, situation, actions);
        }
        if let Some((command, text)) = &bar.primary {
            command_button(ui, *command, Look::Primary, Some(text), situation, actions);
        }
        let size = vec2(ui.available_width().max(0.0), theme::ACTION_BAR - 10.0);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let color = theme.tone(bar.tone);
        widgets::paint_icon(ui, pos2(rect.left() + 10.0, rect.center().y), bar.icon, 18.0, color);
        let (left, width) = (rect.left() + 28.0, rect.width() - 36.0);
        let strong = if bar.tone == Tone::Dim { theme.text } else { color };
        let middle = rect.center().y;
        let title_y = if bar.detail.is_empty() { middle } else { middle - 9.0 };
        // Two letters and an ellipsis would say less than the icon and its tooltip.
        let mut cut = width < 48.0;
        if !cut {
            let parts = [(bar.title.as_str(), Text::Body, strong)];
            let (_, cut_above) = widgets::paint_parts(ui, pos2(left, title_y), width, &parts);
            let parts = [(bar.detail.as_str(), Text::Small, theme.dim)];
            let (_, cut_below) = widgets::paint_parts(ui, pos2(left, middle + 9.0), width, &parts);
            cut = cut_above || cut_below;
        }
        response.widget_info(|| {
            let text = format!("{}. {}", bar.title, visible(&bar.detail));
            WidgetInfo::labeled(Role::Label, true, text)
        });
        let more = if bar.more.is_empty() { &bar.detail } else { &bar.more };
        if cut || !bar.more.is_empty() {
            response.on_hover_text(visible_lines(&format!("{}\n{more}", bar.title)));
        }
    });
}

fn icon_command(ui: &mut Ui, command: Command, situation: &Situation, actions: &mut Vec<Action>) {
    let spec = command.spec();
    if let (None, Some(icon)) = ((spec.unavailable)(situation), spec.icon)
        && widgets::icon_button(ui, icon, spec.text).clicked()
    {
        actions.push(Action::Do(command));
    }
}
