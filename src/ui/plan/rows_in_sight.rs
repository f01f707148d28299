//! Rows of equal height in a list that is one stop of Tab, of which only those in sight are drawn: there may be thousands.

use egui::{Rect, Ui, vec2};

use crate::ui::one_stop::OneStop;

/// Draws the rows in sight, and of the others only the one that Tab reaches.
pub(super) fn rows_in_sight(
    ui: &mut Ui,
    list: &OneStop,
    count: usize,
    height: f32,
    mut draw: impl FnMut(&mut Ui, usize),
) {
    let spacing = ui.spacing().item_spacing.y;
    let pitch = height + spacing;
    let rows =
        Rect::from_min_size(ui.cursor().min, vec2(ui.available_width(), pitch * count as f32));
    let sight = ui.clip_rect().intersect(rows);
    let at = |y: f32| ((y - rows.top()) / pitch).max(0.0) as usize;
    let (first, end) = match sight.is_positive() {
        true => (at(sight.top()), (at(sight.bottom()) + 1).min(count)),
        false => (0, 0),
    };
    let mut drawn: Vec<usize> = (first..end).chain([list.stop()]).collect();
    drawn.sort_unstable();
    drawn.dedup();
    let gap = |ui: &mut Ui, rows: usize| {
        if rows > 0 {
            ui.allocate_space(vec2(ui.available_width(), pitch * rows as f32 - spacing));
        }
    };
    let mut next = 0;
    for index in drawn.into_iter().filter(|index| *index < count) {
        gap(ui, index - next);
        draw(ui, index);
        next = index + 1;
    }
    gap(ui, count - next);
}
