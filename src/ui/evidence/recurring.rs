//! The recurring diagnostics: how often each was seen, and a small picture of when.

use egui::{CornerRadius, Rect, Sense, Stroke, Ui, pos2, vec2};

use crate::plan::drawable;
use crate::run::{OverTime, RecurringDiagnostic, rate};
use crate::ui::{Now, Text, Theme, controls, format, rows, widgets};

/// The size of the picture, in points.
const PICTURE: egui::Vec2 = vec2(144.0, 24.0);
/// Below this width of a row, in points, there is no picture.
const NARROW: f32 = 560.0;

/// Draws a recurring diagnostic. Returns whether it was clicked.
pub(super) fn recurring_ui(ui: &mut Ui, rect: Rect, row: &RecurringDiagnostic, now: &Now) -> bool {
    let theme = Theme::of(ui);
    let response = ui.interact(rect, ui.scope_id().with("recurring"), Sense::click());
    rows::row_background(ui, &response, false);
    let left = rect.left() + 18.0;
    let top = rect.top() + 15.0;
    let times = format!("{} times", format::count(row.count));
    let often = rate(row.count, row.first_seen_ms, row.last_seen_ms).unwrap_or_default();
    let right = rect.right() - 18.0;
    widgets::paint_right(ui, pos2(right, top), (&times, Text::Mono, theme.text));
    let second = rect.top() + 32.0;
    widgets::paint_right(ui, pos2(right, second), (&often, Text::Small, theme.dim));
    let widest = Text::Mono.width_of(ui, &times).max(Text::Small.width_of(ui, &often)).max(96.0);
    let mut end = right - widest - 16.0;
    if let Some(over_time) = row.over_time.as_ref().filter(|_| rect.width() >= NARROW) {
        let center = pos2(end - PICTURE.x / 2.0, rect.center().y);
        picture(ui, Rect::from_center_size(center, PICTURE), over_time);
        end -= PICTURE.x + 16.0;
    }
    let file = if row.file_name.is_empty() { "no file" } else { &row.file_name };
    let parts = [(row.code.as_str(), Text::Mono, theme.text), (file, Text::Mono, theme.dim)];
    let width = (end - left).max(0.0);
    widgets::paint_parts(ui, pos2(left, top), width, &parts);
    let seen = format!(
        "first seen {}, last seen {}, by {} in {}",
        now.full(row.first_seen_ms),
        now.full(row.last_seen_ms),
        format::counted(row.execution_ids.len(), "execution"),
        row.workspace
    );
    let parts = [(seen.as_str(), Text::Small, theme.dim)];
    widgets::paint_parts(ui, pos2(left, second), width, &parts);
    let often = if often.is_empty() { often } else { format!(", {often}") };
    let name = || drawable(&format!("{} in {file}, {times}, {seen}{often}", row.code)).into_owned();
    let clicked = controls::painted_button(ui, &response, name);
    rows::row_tooltip(&response, false, "Click for the executions with this code.");
    clicked
}

/// A bar for each interval of time, the same intervals for every diagnostic.
fn picture(ui: &Ui, rect: Rect, over_time: &OverTime) {
    let theme = Theme::of(ui);
    let most = over_time.counts.iter().max().copied().unwrap_or(1).max(1);
    let step = rect.width() / over_time.counts.len().max(1) as f32;
    let tint = theme.background.lerp_to_gamma(theme.accent, 0.6);
    for (index, number) in over_time.counts.iter().enumerate().filter(|(_, number)| **number > 0) {
        let left = rect.left() + step * index as f32;
        let height = (rect.height() * *number as f32 / most as f32).max(2.0);
        let bar = Rect::from_min_max(
            pos2(left, rect.bottom() - height),
            pos2(left + (step - 1.5).max(1.0), rect.bottom()),
        );
        ui.painter().rect_filled(bar, CornerRadius::same(1), tint);
    }
    ui.painter().hline(rect.x_range(), rect.bottom(), Stroke::new(1.0, theme.line));
}
