//! The bar with which a plan is authorized and its run controlled.

use egui::text::LayoutJob;
use egui::{Align, Layout, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::{PlanView, bar};
use crate::plan::{visible, visible_lines};
use crate::ui::action::Action;
use crate::ui::commands::{Command, Situation, command_button};
use crate::ui::icon::Icon;
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
        if let Some(command) = bar.primary {
            let asking = situation.asking.filter(|_| command == Command::AnswerStep);
            let text = asking.map(|step| format!("Answer step {}", step + 1));
            command_button(ui, command, Look::Primary, text.as_deref(), situation, actions);
        }
        bar_text_ui(
            ui,
            &BarText {
                icon: bar.icon,
                tone: bar.tone,
                title: &bar.title,
                detail: &bar.detail,
                more: &bar.more,
                rows: 1,
            },
        );
    });
}

/// What stands at the left of a bar.
pub(crate) struct BarText<'a> {
    pub(crate) icon: Icon,
    pub(crate) tone: Tone,
    /// The state, in a few words.
    pub(crate) title: &'a str,
    /// A sentence below it.
    pub(crate) detail: &'a str,
    /// The tooltip; empty when the detail is complete.
    pub(crate) more: &'a str,
    /// The number of rows that the detail may take.
    pub(crate) rows: usize,
}

/// Draws the text of a bar into the room that its buttons have left.
pub(crate) fn bar_text_ui(ui: &mut Ui, text: &BarText<'_>) {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width().max(0.0), theme::ACTION_BAR - 6.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let color = theme.tone(text.tone);
    let center = pos2(rect.left() + 10.0, rect.center().y);
    widgets::paint_icon(ui, center, text.icon, 18.0, color);
    let (left, width) = (rect.left() + 28.0, (rect.width() - 40.0).max(0.0));
    let shown = visible(text.detail);
    // Two letters and an ellipsis would say less than the icon and its tooltip.
    let mut cut = width < 48.0;
    if !cut {
        let strong = if text.tone == Tone::Dim { theme.text } else { color };
        let detail = shown.clone().into_owned();
        let mut job = LayoutJob::simple(detail, Text::Small.font(), theme.dim, width);
        (job.wrap.max_rows, job.wrap.break_anywhere) = (text.rows, text.rows == 1);
        let lines = ui.painter().layout_job(job);
        let below = if text.detail.is_empty() { 0.0 } else { lines.size().y + 3.0 };
        let middle = rect.center().y - below / 2.0;
        let parts = [(text.title, Text::Body, strong)];
        cut = widgets::paint_parts(ui, pos2(left, middle), width, &parts).1 || lines.elided;
        ui.painter().galley(pos2(left, middle + 9.0), lines, theme.dim);
    }
    response
        .widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{}. {shown}", text.title)));
    if cut || !text.more.is_empty() {
        let more = if text.more.is_empty() { text.detail } else { text.more };
        response.on_hover_text(visible_lines(&format!("{}\n{more}", text.title)));
    }
}

fn icon_command(ui: &mut Ui, command: Command, situation: &Situation, actions: &mut Vec<Action>) {
    let spec = command.spec();
    if let (None, Some(icon)) = ((spec.unavailable)(situation), spec.icon)
        && widgets::icon_button(ui, icon, spec.text).clicked()
    {
        actions.push(Action::Do(command));
    }
}
