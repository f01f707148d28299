//! Draws only the parts of a long page that are visible or close to it.

use egui::{Id, Rect, Ui, vec2};

/// Parts within this distance of the visible area are drawn, in points, so that the next Tab finds their
/// controls.
const NEAR: f32 = 240.0;

/// Draws a part, or reserves the height that it had when it was last drawn if it is out of sight. A part that
/// `changes` is always drawn, because its height may differ.
pub(super) fn draw_near(ui: &mut Ui, id: Id, changes: bool, add: impl FnOnce(&mut Ui)) {
    let width = ui.available_width();
    let known = ui.data(|data| data.get_temp::<(f32, f32)>(id));
    if let Some((_, height)) = known.filter(|(of, _)| *of == width && !changes) {
        let room = Rect::from_min_size(ui.cursor().min, vec2(width, height));
        if !room.expand(NEAR).intersects(ui.clip_rect()) {
            ui.allocate_space(room.size());
            return;
        }
    }
    let drawn = ui.scope(add).response.rect;
    ui.data_mut(|data| data.insert_temp(id, (width, drawn.height())));
}
