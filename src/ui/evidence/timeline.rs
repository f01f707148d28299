//! The times of the results as bars. The failed ones are the lower part, in another colour.

use egui::{CornerRadius, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::run::TimeBucket;
use crate::ui::format::{self, Now};
use crate::ui::theme::{Text, Theme};
use crate::ui::widgets;

const HEIGHT: f32 = 56.0;
/// The widest bar, so that a few executions do not look like many.
const WIDEST: f32 = 28.0;

pub(super) fn timeline_ui(ui: &mut Ui, buckets: &[TimeBucket], now: &Now) {
    let (Some(first), Some(last)) = (buckets.first(), buckets.last()) else { return };
    let theme = Theme::of(ui);
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(vec2(width, HEIGHT), Sense::hover());
    let most = buckets.iter().map(|bucket| bucket.fine + bucket.bad).max().unwrap_or(1).max(1);
    let step = rect.width() / buckets.len() as f32;
    let pointer = response.hover_pos();
    let mut under_pointer = None;
    for (index, bucket) in buckets.iter().enumerate() {
        let left = rect.left() + step * index as f32;
        let size = vec2((step - 2.0).clamp(1.0, WIDEST), HEIGHT);
        let place = Rect::from_min_size(pos2(left, rect.top()), size);
        let bar = |number: u64, from: f32| {
            // Even the smallest number stays visible.
            let part = number as f32 / most as f32;
            let height = if number == 0 { 0.0 } else { (part * HEIGHT).max(2.0) };
            Rect::from_min_max(pos2(place.left(), from - height), pos2(place.right(), from))
        };
        let bad = bar(bucket.bad, rect.bottom());
        let fine = bar(bucket.fine, bad.top());
        let tint = theme.background.lerp_to_gamma(theme.accent, 0.6);
        ui.painter().rect_filled(fine, CornerRadius::same(1), tint);
        ui.painter().rect_filled(bad, CornerRadius::same(1), theme.danger);
        if pointer.is_some_and(|pointer| pointer.x >= left && pointer.x < left + step) {
            under_pointer = Some(bucket);
        }
    }
    let baseline = egui::Stroke::new(1.0, theme.line);
    ui.painter().hline(rect.x_range(), rect.bottom(), baseline);
    response.widget_info(|| {
        let total: u64 = buckets.iter().map(|bucket| bucket.fine + bucket.bad).sum();
        let text = format!("Timeline of {} executions", format::count(total));
        WidgetInfo::labeled(Role::Image, true, text)
    });
    if let Some(bucket) = under_pointer {
        response.on_hover_text(format!(
            "{} to {}\n{} fine, {} failed, denied or interrupted",
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
    widgets::paint_right(ui, line.right_center(), &end, Text::Small, theme.dim);
}

/// What stands below the first and the last bar.
fn ends(from: i64, to: i64, now: &Now) -> (String, String) {
    let same_day = now.is_same_day(from, to);
    let name = |ms: i64| match to - from {
        0..600_000 if same_day => now.second(ms),
        _ if same_day => now.minute(ms),
        _ => now.day(ms),
    };
    (name(from), name(to.min(now.ms)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_year_shows_both_years() {
        let now = Now { ms: 1_700_000_000_000, zone: jiff::tz::TimeZone::UTC };
        let said = |from: i64| {
            let (start, end) = ends(now.ms - from, now.ms, &now);
            format!("{start} to {end}")
        };
        assert_eq!(said(365 * 86_400_000), "14 Nov 2022 to 14 Nov");
        assert_eq!(said(86_400_000), "13 Nov to 14 Nov");
        assert_eq!(said(3_600_000), "21:13 to 22:13");
        assert_eq!(said(60_000), "22:12:20 to 22:13:20");
    }
}
