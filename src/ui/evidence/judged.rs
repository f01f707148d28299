//! Past commands whose risk is another one by the present rules, with how far the judging is.

use egui::{Rect, Sense, Ui, pos2};

use super::EvidenceView;
use super::answer::BACK_TO_SEARCH;
use crate::plan::{drawable, one_line};
use crate::run::{JudgedCommand, Judgement};
use crate::ui::plan::risk_icon;
use crate::ui::{
    Action, Chip, EvidenceAction, Look, Now, Text, Theme, controls, format, icon, rows, theme,
    widgets,
};

/// The width of the two levels of a row, in points.
const LEVELS: f32 = 236.0;
/// Below this width of a row, in points, only the level of today is shown.
const NARROW: f32 = 560.0;

pub(super) fn judged_ui(
    ui: &mut Ui,
    judgement: &Judgement,
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) {
    progress_ui(ui, judgement, actions);
    if judgement.found.is_empty() {
        if judgement.is_complete() {
            let none = judgement.all == Some(0);
            let title = if none { "No command was run" } else { "Nothing is judged otherwise" };
            let text = if none {
                "Every command that a plan runs is recorded with its risk, and is judged again here."
            } else {
                "By the present rules, every past command has the level that was recorded."
            };
            if widgets::empty_state(ui, icon::SHIELD_CHECK, (title, text), BACK_TO_SEARCH) {
                actions.push(Action::Evidence(EvidenceAction::CloseAnswer));
            }
        }
        return;
    }
    let is_selected = |it: &JudgedCommand| view.selected == Some(it.latest.row.execution_id);
    let reveal = view.scroll_to_selected.then(|| judgement.found.iter().position(is_selected));
    let count = judgement.found.len();
    rows::rows_ui(ui, "judged", theme::ROW, count, reveal.flatten(), |ui, rect, index| {
        let Some(command) = judgement.found.get(index) else { return };
        if row_ui(ui, rect, command, (is_selected(command), index), view.now) {
            let id = command.latest.row.execution_id;
            actions.push(Action::Evidence(EvidenceAction::Open(id)));
        }
    });
}

/// How many commands were judged, and a button that stops it.
fn progress_ui(ui: &mut Ui, judgement: &Judgement, actions: &mut Vec<Action>) {
    widgets::margins(6, 6).show(ui, |ui| {
        // The text is centred beside the button only if the row has its height from the start.
        ui.spacing_mut().interact_size.y = theme::BUTTON;
        ui.horizontal(|ui| {
            let (icon, text) = match judgement.all {
                None => (icon::CLOCK, "Reading the commands…".to_owned()),
                Some(all) if judgement.is_complete() => {
                    let commands = format::counted(all, "different command");
                    (icon::DONE, format!("{commands} judged by the rules of today"))
                }
                Some(all) => {
                    let (done, all) =
                        (format::count(judgement.done as u64), format::count(all as u64));
                    let stopped = if judgement.stopped { "Stopped: " } else { "" };
                    (icon::CLOCK, format!("{stopped}{done} of {all} different commands judged"))
                }
            };
            ui.label(icon.text(15.0).color(Theme::of(ui).dim));
            ui.label(widgets::rich(text, Text::Body, Theme::of(ui).text));
            let is_running = !judgement.is_complete() && !judgement.stopped;
            if is_running
                && widgets::button(ui, Look::Plain, Some(icon::STOP), "Stop", true).clicked()
            {
                actions.push(Action::Evidence(EvidenceAction::StopJudging));
            }
        });
    });
    widgets::line_below(ui);
}

/// Draws a command. Returns whether it was clicked.
fn row_ui(
    ui: &mut Ui,
    rect: Rect,
    command: &JudgedCommand,
    (selected, index): (bool, usize),
    now: &Now,
) -> bool {
    let theme = Theme::of(ui);
    let response =
        ui.interact(rect, ui.scope_id().with(command.latest.row.execution_id), Sense::click());
    let below = rows::row_background(ui, &response, selected);
    let (first, second) = (rect.top() + 15.0, rect.top() + 32.0);
    let left = rect.left() + 18.0;
    let chip =
        |level: crate::risk::RiskLevel| Chip::new(risk_icon(level), level.as_str(), level.into());
    let right = rect.right() - 18.0;
    let now_at = chip(command.level_now).paint_right(ui, pos2(right, rect.center().y), below);
    let mut end = right - 116.0;
    if rect.width() >= NARROW {
        let arrow = pos2(end.min(now_at.left() - 14.0), rect.center().y);
        widgets::paint_icon(ui, arrow, icon::RIGHT, 13.0, theme.dim);
        chip(command.level_then).paint_right(ui, arrow - egui::vec2(12.0, 0.0), below);
        end = right - LEVELS;
    }
    let width = (end - 12.0 - left).max(0.0);
    let text = one_line(&command.command);
    widgets::paint_parts(ui, pos2(left, first), width, &[(&*text, Text::Mono, theme.text)]);
    let host = command.host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
    let times = match command.times {
        1 => "once".to_owned(),
        times => format!("{} times", format::count(times)),
    };
    let redacted = if command.redacted { " · judged with its secret redacted" } else { "" };
    let facts = format!(
        "{times}{host}, last {} · {} · {}{redacted}",
        now.moment(command.last_ms),
        command.rule_now,
        command.reason
    );
    widgets::paint_parts(ui, pos2(left, second), width, &[(&facts, Text::Small, theme.dim)]);
    let (then, today) = (command.level_then.as_str(), command.level_now.as_str());
    let name = || {
        let name = format!("{text}, {then} then by {}, {today} now by {facts}", command.rule_then);
        drawable(&name).into_owned()
    };
    let clicked = controls::list_row(ui, &response, (selected, index), name);
    let tooltip = format!(
        "{then} then, by the rule {}.\n{today} now, by the rule {}: {}",
        command.rule_then, command.rule_now, command.reason
    );
    rows::row_tooltip(&response, false, tooltip);
    clicked
}
