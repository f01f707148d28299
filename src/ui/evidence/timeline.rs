//! The times of the results as a bar chart. The lower part of a bar, in another colour, counts the executions that
//! failed, were denied or were interrupted. A click on a bar narrows the search to its time.

use egui::{CornerRadius, CursorIcon, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::{EvidenceView, within};
use crate::run::TimeBucket;
use crate::ui::{Action, EvidenceAction, Now, Text, Theme, format, widgets};

/// The height of the chart, in points.
const HEIGHT: f32 = 56.0;
/// The maximum width of a bar, in points, so that a few executions do not look like many.
const MAX_BAR_WIDTH: f32 = 28.0;

pub(super) fn timeline_ui(
    ui: &mut Ui,
    view: &EvidenceView<'_>,
    buckets: &[TimeBucket],
    actions: &mut Vec<Action>,
) {
    let now = view.now;
    let (Some(first), Some(last)) = (buckets.first(), buckets.last()) else { return };
    let theme = Theme::of(ui);
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(vec2(width, HEIGHT), Sense::click());
    let most = buckets.iter().map(|bucket| bucket.fine + bucket.bad).max().unwrap_or(1).max(1);
    let step = rect.width() / buckets.len() as f32;
    let pointer = response.hover_pos();
    let mut hovered = None;
    for (index, bucket) in buckets.iter().enumerate() {
        let left = rect.left() + step * index as f32;
        let right = left + (step - 2.0).clamp(1.0, MAX_BAR_WIDTH);
        let bar = |number: u64, bottom: f32| {
            // Even the smallest number stays visible.
            let part = number as f32 / most as f32;
            let height = if number == 0 { 0.0 } else { (part * HEIGHT).max(2.0) };
            Rect::from_min_max(pos2(left, bottom - height), pos2(right, bottom))
        };
        let bad = bar(bucket.bad, rect.bottom());
        let fine = bar(bucket.fine, bad.top());
        let tint = theme.background.lerp_to_gamma(theme.accent, 0.6);
        ui.painter().rect_filled(fine, CornerRadius::same(1), tint);
        ui.painter().rect_filled(bad, CornerRadius::same(1), theme.danger);
        if pointer.is_some_and(|pointer| pointer.x >= left && pointer.x < left + step) {
            hovered = Some(bucket).filter(|bucket| bucket.fine + bucket.bad > 0);
        }
    }
    let baseline = egui::Stroke::new(1.0, theme.line);
    ui.painter().hline(rect.x_range(), rect.bottom(), baseline);
    response.widget_info(|| {
        let total: u64 = buckets.iter().map(|bucket| bucket.fine + bucket.bad).sum();
        let text = format!("Timeline of {} executions", format::count(total));
        WidgetInfo::labeled(Role::Image, true, text)
    });
    if let Some(bucket) = hovered {
        if response.clicked() {
            let text = within(view.text, bucket.from_ms, bucket.to_ms, now);
            actions.push(Action::Evidence(EvidenceAction::Search(text)));
        }
        response.on_hover_cursor(CursorIcon::PointingHand).on_hover_text(format!(
            "{} to {}\n{} fine, {} failed, denied or interrupted\nClick to show only these.",
            now.full(bucket.from_ms),
            now.full(bucket.to_ms),
            format::count(bucket.fine),
            format::count(bucket.bad)
        ));
    }
    let (line, _) = ui.allocate_exact_size(vec2(width, 16.0), Sense::hover());
    let (start, end) = ends(first.from_ms, last.to_ms, now);
    let parts = [(start.as_str(), Text::Small, theme.dim)];
    widgets::paint_parts(ui, line.left_center(), 120.0, &parts);
    widgets::paint_right(ui, line.right_center(), (&end, Text::Small, theme.dim));
    // Between the two labels, if it fits: a bar tells the same by its tooltip.
    let legend = "lower part, in red: failed, denied or interrupted";
    let space = width - 260.0;
    if buckets.iter().any(|bucket| bucket.bad > 0) && Text::Small.width_of(ui, legend) <= space {
        let legend = [(legend, Text::Small, theme.dim)];
        widgets::paint_parts(ui, line.left_center() + vec2(130.0, 0.0), space, &legend);
    }
}

/// The labels below the first and the last bar, as precise as the time between them requires.
fn ends(from: i64, to: i64, now: &Now) -> (String, String) {
    let same_day = now.is_same_day(from, to);
    let label = |ms: i64| match to - from {
        0..600_000 if same_day => now.second(ms),
        _ if same_day => now.minute(ms),
        _ => now.day(ms),
    };
    (label(from), label(to.min(now.ms)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_year_shows_both_years() {
        let now = Now { ms: 1_700_000_000_000, zone: jiff::tz::TimeZone::UTC };
        let labels = |age_ms: i64| {
            let (start, end) = ends(now.ms - age_ms, now.ms, &now);
            format!("{start} to {end}")
        };
        assert_eq!(labels(365 * 86_400_000), "14 Nov 2022 to 14 Nov");
        assert_eq!(labels(86_400_000), "13 Nov to 14 Nov");
        assert_eq!(labels(3_600_000), "21:13 to 22:13");
        assert_eq!(labels(60_000), "22:12:20 to 22:13:20");
    }
}
