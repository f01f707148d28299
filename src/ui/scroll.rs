//! Scrolling by keys, the same on every page.

use egui::style::ScrollAnimation;
use egui::{
    AsIdSalt, Context, Frame, Key, Margin, Modifiers, Response, ScrollArea, Ui, Vec2, vec2,
};

use super::artifact::{has_keyboard, keep_keyboard};
use super::theme;
use super::widgets::focus_ring;

/// Scrolls the enclosing scroll area with Page Up, Page Down, Home and End, unless a text field or a viewer has the
/// focus or a modal dialog is open.
pub fn by_key(ui: &Ui) {
    let covered = ui.memory(|memory| memory.top_modal_layer().is_some());
    if covered || ui.ctx().text_edit_focused() || has_keyboard(ui.ctx()) {
        return;
    }
    if let Some(delta) = pressed(ui.ctx(), ui.clip_rect().height(), &PAGE_KEYS) {
        ui.scroll_with_delta_animation(delta, ScrollAnimation::none());
    }
}

/// Draws content with a margin in a scroll area that also handles the keys of [`by_key`]. Returns whether the end of the
/// content is visible.
pub fn area(ui: &mut Ui, salt: impl AsIdSalt, margin: Margin, add: impl FnOnce(&mut Ui)) -> bool {
    let area = ScrollArea::vertical().id_salt(salt).auto_shrink([false, false]);
    let output = area.show(ui, |ui| {
        by_key(ui);
        Frame::NONE.inner_margin(margin).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 6.0;
            add(ui);
        });
    });
    let visible =
        output.inner_rect.height().min(output.inner_rect.intersect(ui.clip_rect()).height());
    output.state.clamped_offset().y + visible >= output.content_size.y - 1.0
}

/// While the control of an area has the focus, reserves the keyboard for it, and returns how far one of `keys` scrolls
/// the area. Escape releases the focus.
pub fn by_key_of(ui: &Ui, control: &Response, keys: &[Key]) -> Option<Vec2> {
    if !control.has_focus() {
        return None;
    }
    keep_keyboard(ui, control.id);
    focus_ring(ui, control);
    if ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
        control.surrender_focus();
    }
    pressed(ui.ctx(), control.rect.height(), keys)
}

/// The keys that scroll by a page or to an end.
pub const PAGE_KEYS: [Key; 4] = [Key::PageDown, Key::PageUp, Key::End, Key::Home];
/// [`PAGE_KEYS`] and the arrow keys up and down.
pub const VERTICAL_KEYS: [Key; 6] =
    [Key::PageDown, Key::PageUp, Key::End, Key::Home, Key::ArrowDown, Key::ArrowUp];

/// Consumes one pressed key of `keys`. Returns how far it scrolls an area of this height, as the argument of
/// [`Ui::scroll_with_delta`].
pub fn pressed(ctx: &Context, height: f32, keys: &[Key]) -> Option<Vec2> {
    // Larger than any content; the scroll area clamps it.
    const FAR: f32 = 1e9;
    let (row, page) = (theme::CODE_ROW, (height - theme::CODE_ROW).max(theme::CODE_ROW));
    let all = [
        (Key::PageDown, vec2(0.0, -page)),
        (Key::PageUp, vec2(0.0, page)),
        (Key::End, vec2(0.0, -FAR)),
        (Key::Home, vec2(0.0, FAR)),
        (Key::ArrowDown, vec2(0.0, -row)),
        (Key::ArrowUp, vec2(0.0, row)),
        (Key::ArrowRight, vec2(-4.0 * row, 0.0)),
        (Key::ArrowLeft, vec2(4.0 * row, 0.0)),
    ];
    let consume = |key| ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    all.into_iter().find(|(key, _)| keys.contains(key) && consume(*key)).map(|(_, delta)| delta)
}
