//! What of a long page is drawn: what is in sight, and a little beside it.

use egui::{Id, Rect, Ui, vec2};

/// So near to what is in sight a part is drawn already, in points: the next Tab finds what is in it.
const NEAR: f32 = 240.0;

/// Draws a part, or leaves the room that it took when it was drawn last, where that is out of sight. A part
/// that changes must be drawn whatever it is.
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
