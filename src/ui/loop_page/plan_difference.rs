//! How the plan of an attempt differs from the earlier one. A changed step unfolds to the lines that differ.

use egui::{CornerRadius, Margin, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::attempt::{MAX_LISTED, beginning, more_ui, stage};
use crate::plan::drawable;
use crate::run::{AttemptState, LineKind, PlanDifference, StepChange, StepDifference};
use crate::ui::plan::{CodeRow, Gutter, cached_rows, code_rows_ui, columns, text_rows};
use crate::ui::rows::row_tooltip;
use crate::ui::{Text, Theme, Tone, access, icon, theme, widgets};

pub(super) fn difference_ui(ui: &mut Ui, attempt: &AttemptState) {
    if let Some(earlier) = attempt.repeats {
        let title = format!("The plan repeats the steps that failed in attempt {earlier}.");
        stage(ui, icon::WARNING, Tone::Caution, &title, |_| {});
    }
    let Some((reason, difference)) = &attempt.revised else { return };
    let title = difference.sentence();
    stage(ui, icon::DIFF, Tone::Accent, &title, |ui| {
        if !reason.is_empty() {
            let text = format!("Because of the previous attempt: {}", beginning(reason));
            widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
        }
        plan_steps_ui(ui, difference);
    });
}

/// The steps that differ. A changed one unfolds to its lines.
pub(crate) fn plan_steps_ui(ui: &mut Ui, difference: &PlanDifference) {
    for (index, step) in difference.steps.iter().take(MAX_LISTED).enumerate() {
        ui.push_id(("step", index), |ui| step_ui(ui, step));
    }
    more_ui(ui, difference.new + difference.gone + difference.changed);
}

/// The width of the column with the kind of change, in points.
const KINDS: f32 = 112.0;

fn step_ui(ui: &mut Ui, step: &StepDifference) {
    let theme = Theme::of(ui);
    let (sign, word, tone) = match step.change {
        StepChange::New => ("+", "new", Tone::Safe),
        StepChange::Gone => ("−", "removed", Tone::Danger),
        StepChange::Changed => ("~", "changed", Tone::Caution),
    };
    let number = step.after.or(step.before).map_or(0, |index| index + 1).to_string();
    let id = ui.scope_id().with("unfolded");
    let can_unfold = !step.lines.is_empty();
    let mut unfolded = can_unfold && ui.data(|data| data.get_temp(id)).unwrap_or(false);
    let sense = if can_unfold { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 22.0), sense);
    if can_unfold && response.hovered() {
        ui.painter().rect_filled(rect, CornerRadius::same(theme::RADIUS), theme.hover);
    }
    let middle = rect.center().y;
    if can_unfold {
        let arrow = if unfolded { icon::DOWN } else { icon::RIGHT };
        widgets::paint_icon(ui, pos2(rect.left() + 8.0, middle), arrow, 12.0, theme.dim);
    }
    let head = format!("{sign} {word}");
    let parts = [(head.as_str(), Text::Mono, theme.tone(tone))];
    widgets::paint_parts(ui, pos2(rect.left() + 20.0, middle), KINDS - 28.0, &parts);
    let parts = [
        (number.as_str(), Text::Mono, theme.dim),
        (step.tool.as_str(), Text::Body, theme.text),
        (step.about.as_str(), Text::Mono, theme.dim),
    ];
    let left = rect.left() + KINDS;
    let (_, truncated) = widgets::paint_parts(ui, pos2(left, middle), rect.right() - left, &parts);
    let subject = drawable(&beginning(&step.about)).into_owned();
    let text = format!("{word}: step {number}, {} {subject}", step.tool);
    if can_unfold {
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &text));
        access::expanded(&response, unfolded);
        widgets::focus_ring(ui, &response);
    } else {
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
    }
    if can_unfold && response.clicked() {
        unfolded = !unfolded;
        ui.data_mut(|data| data.insert_temp(id, unfolded));
    }
    if truncated {
        row_tooltip(&response, false, text);
    }
    if unfolded {
        lines_ui(ui, &step.lines);
    }
}

/// The lines that differ, with their signs in the colours of a difference.
pub(crate) fn lines_ui(ui: &mut Ui, lines: &str) {
    widgets::card(ui).inner_margin(Margin::symmetric(0, 6)).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 0.0;
        let columns = columns(ui, ui.available_width(), Gutter::NONE);
        let id = "lines of the difference";
        let rows = cached_rows(ui, id, &[lines], columns, || {
            lines.lines().flat_map(|line| rows_of(line, columns)).collect()
        });
        code_rows_ui(ui, id, &rows, Gutter::NONE);
    });
}

/// The rows of one line, which begins with its sign.
fn rows_of(line: &str, columns: usize) -> Vec<CodeRow> {
    let (kind, sign, text) = match line.split_at_checked(1) {
        Some(("+", text)) => (LineKind::Added, "+", text),
        Some(("-", text)) => (LineKind::Removed, "-", text),
        Some((_, text)) => (LineKind::Context, " ", text),
        None => (LineKind::Context, " ", ""),
    };
    let mut rows = text_rows(text, columns);
    for (index, row) in rows.iter_mut().enumerate() {
        row.numbers = (None, None);
        row.kind = kind;
        row.sign = if index == 0 { sign } else { "" };
    }
    rows
}
