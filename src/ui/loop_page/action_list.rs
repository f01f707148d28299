//! The actions and the verification of an attempt, each with a link to its record in the evidence.

use egui::{CornerRadius, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::attempt::{MAX_LISTED, beginning, more_ui, stage};
use super::model::verify_sentence;
use super::{ActionRow, action_rows, gate_row};
use crate::plan::{ShownPlan, drawable};
use crate::run::AttemptState;
use crate::ui::rows::row_tooltip;
use crate::ui::{Action, Command, EvidenceAction, Text, Theme, Tone, format, icon, theme, widgets};

pub(super) fn actions_ui(
    ui: &mut Ui,
    attempt: &AttemptState,
    plan: Option<&ShownPlan>,
    actions: &mut Vec<Action>,
) {
    // The plan has not been run.
    if attempt.run.is_none() {
        return;
    }
    let rows = action_rows(attempt, plan);
    let done = rows.iter().filter(|row| row.duration_ms.is_some()).count();
    let failed = rows.iter().any(|row| row.failure.is_some());
    let (icon, tone) = match (failed, done == rows.len()) {
        (true, _) => (icon::FAILED, Tone::Danger),
        (false, true) => (icon::DONE, Tone::Safe),
        (false, false) => (icon::RUNNING, Tone::Accent),
    };
    let title = format!("{done} of {}.", format::counted(rows.len(), "step"));
    stage(ui, icon, tone, &title, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        // The list includes the latest action that has begun, because a person watches that one.
        let begun = rows.iter().rposition(|row| row.look.1 != "waiting").map_or(0, |last| last + 1);
        let first = begun.saturating_sub(MAX_LISTED);
        if first > 0 {
            let text =
                format!("{} earlier steps are on the plan page.", format::count(first as u64));
            widgets::paragraph(ui, text, Text::Small, Tone::Dim);
        }
        for (index, row) in rows.iter().enumerate().skip(first).take(MAX_LISTED) {
            row_ui(ui, row, &format!("Step {}", index + 1), actions);
        }
        more_ui(ui, rows.len() - first);
    });
}

pub(super) fn verify_ui(ui: &mut Ui, attempt: &AttemptState, actions: &mut Vec<Action>) {
    let sentence = verify_sentence(attempt);
    let row = gate_row(attempt);
    let (icon, tone, title) = match (&sentence, &row) {
        (Some((true, text)), _) => (icon::SHIELD_CHECK, Tone::Safe, text.clone()),
        (Some((false, text)), _) => (icon::FAILED, Tone::Danger, text.clone()),
        // The summary of a skipped verification is the reason why it was skipped.
        (None, Some(row)) if is_skipped(row) => {
            (row.look.0, row.look.2, format!("Not verified: {}", row.summary))
        }
        (None, Some(row)) => (row.look.0, row.look.2, format!("Verification: {}", row.look.1)),
        (None, None) => return,
    };
    let row = row.filter(|row| !is_skipped(row));
    stage(ui, icon, tone, &format!("{title}."), |ui| {
        if let Some(row) = &row {
            row_ui(ui, row, "Verification", actions);
        }
    });
}

/// Whether the loop skipped its verification before it began.
fn is_skipped(row: &ActionRow) -> bool {
    row.duration_ms.is_none() && row.execution_id.is_none() && row.look.0 == icon::SKIP
}

/// Draws a row, which links to its record in the evidence if there is one.
fn row_ui(ui: &mut Ui, row: &ActionRow, name: &str, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let (icon, word, tone) = row.look;
    let height = if row.failure.is_some() { 42.0 } else { 26.0 };
    let sense = if row.execution_id.is_some() { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), sense);
    if response.hovered() && row.execution_id.is_some() {
        ui.painter().rect_filled(rect, CornerRadius::same(theme::RADIUS), theme.hover);
    }
    let middle = rect.top() + 13.0;
    widgets::paint_icon(ui, pos2(rect.left() + 10.0, middle), icon, 15.0, theme.tone(tone));
    let time = row.duration_ms.map(format::duration).unwrap_or_else(|| word.to_owned());
    let right = pos2(rect.right() - 6.0, middle);
    let time_width = widgets::paint_right(ui, right, (&time, Text::SmallMono, theme.dim));
    let left = rect.left() + 26.0;
    let parts = [
        (row.kind.as_str(), Text::Body, theme.text),
        (row.summary.as_str(), Text::Meta, theme.dim),
    ];
    let width = (right.x - time_width - 10.0 - left).max(0.0);
    let (_, mut truncated) = widgets::paint_parts(ui, pos2(left, middle), width, &parts);
    let mut text = format!("{name}: {} {}, {word}", row.kind, drawable(&beginning(&row.summary)));
    if let Some((code, message)) = &row.failure {
        let parts = [
            (code.as_str(), Text::SmallMono, theme.danger),
            (super::first_line(message), Text::Small, theme.danger),
        ];
        let below = pos2(left, rect.top() + 31.0);
        truncated |= widgets::paint_parts(ui, below, rect.right() - 6.0 - left, &parts).1;
        text = format!("{text}, {code} {}", drawable(&beginning(message)));
    }
    let role = if row.execution_id.is_some() { Role::Button } else { Role::Label };
    response.widget_info(|| WidgetInfo::labeled(role, true, &text));
    widgets::focus_ring(ui, &response);
    if let Some(id) = row.execution_id.filter(|_| response.clicked()) {
        actions.push(Action::Do(Command::GoEvidence));
        actions.push(Action::Evidence(EvidenceAction::Open(id)));
    }
    if truncated || row.execution_id.is_some() {
        let hint = if row.execution_id.is_some() { "\nClick for its record." } else { "" };
        row_tooltip(&response, false, format!("{text}{hint}"));
    }
}
