//! Scrolls to what gets the keyboard, so that the person sees where it is.

use egui::{Response, Ui};

/// Scrolls to a control outside the visible area when it gets the keyboard focus.
pub fn reveal_focused(ui: &Ui, response: &Response) {
    if response.gained_focus() && !ui.clip_rect().contains_rect(response.rect) {
        response.scroll_to_me_animation(None, egui::style::ScrollAnimation::none());
    }
}

/// Scrolls to what has got the keyboard in this part of a scroll area, whatever it is.
pub fn reveal_focus_in(ui: &Ui) {
    let id = ui.scope_id().with("had the keyboard");
    let focused = ui.memory(|memory| memory.focused());
    let before = ui.data_mut(|data| std::mem::replace(data.get_temp_mut_or_default(id), focused));
    if before == focused {
        return;
    }
    let rect = focused.and_then(|focused| Some(ui.ctx().read_response(focused)?.rect));
    if let Some(rect) = rect.filter(|rect| ui.min_rect().contains_rect(*rect))
        && !ui.clip_rect().contains_rect(rect)
    {
        ui.scroll_to_rect_animation(rect, None, egui::style::ScrollAnimation::none());
    }
}
