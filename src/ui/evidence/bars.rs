//! The bars in the picture of times. Each kind has a shape of its own, so that none is told apart by its colour alone.

use egui::{CornerRadius, Pos2, Rect, Shape, Stroke, Ui, pos2};

use crate::ui::{Theme, Tone};

/// A filled bar.
pub(super) fn work_bar(ui: &Ui, rect: Rect, tone: Tone) {
    let theme = Theme::of(ui);
    let fill = match tone {
        Tone::Accent => theme.background.lerp_to_gamma(theme.accent, 0.7),
        tone => theme.tone(tone),
    };
    ui.painter().rect_filled(rect, CornerRadius::same(2), fill);
}

/// A bar with a border and slanted lines, so that it is told apart without its colour.
pub(super) fn wait_bar(ui: &Ui, rect: Rect) {
    let theme = Theme::of(ui);
    let stroke = Stroke::new(1.0, theme.caution);
    ui.painter().rect_filled(
        rect,
        CornerRadius::same(2),
        theme.chip(Tone::Caution, theme.background),
    );
    hatch(ui, rect, stroke);
    ui.painter().rect_stroke(rect, CornerRadius::same(2), stroke, egui::StrokeKind::Inside);
}

/// A band across the row.
pub(super) fn pause_band(ui: &Ui, rect: Rect) {
    let theme = Theme::of(ui);
    ui.painter().rect_filled(rect, CornerRadius::ZERO, theme.chip(Tone::Dim, theme.background));
}

/// A dotted line to the end, for a step whose end is not recorded.
pub(super) fn open_end(ui: &Ui, rect: Rect) {
    let theme = Theme::of(ui);
    let line = [rect.left_center(), rect.right_center()];
    let stroke = Stroke::new(2.0, theme.danger);
    ui.painter().extend(Shape::dashed_line(&line, stroke, 3.0, 3.0));
}

/// Slanted lines inside a rectangle.
fn hatch(ui: &Ui, rect: Rect, stroke: Stroke) {
    const GAP: f32 = 6.0;
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    // Of a wide bar only the visible part is hatched.
    let visible = rect.intersect(ui.clip_rect());
    let mut x = visible.left() - rect.height() - (visible.left() - rect.left()) % GAP;
    while x < visible.right() {
        let from: Pos2 = pos2(x, rect.bottom());
        painter.line_segment([from, pos2(x + rect.height(), rect.top())], stroke);
        x += GAP;
    }
}
