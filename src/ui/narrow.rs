//! Windows without room for two panes side by side, for example a small window at a zoom of 200 percent. A page then shows
//! one pane at a time: its list, or what is selected there.

use egui::{Context, Id};

/// Below this width, in points, a page has no room for a second pane beside its list.
pub const ONE_PANE: f32 = 560.0;
/// Below this width of the window, in points, the list at the left of a page is folded.
pub const NO_SIDE_LIST: f32 = 600.0;
/// Below this height of the window, in points, the status bar gives way to the page.
pub const LOW: f32 = 360.0;

fn id(pane: &str) -> Id {
    Id::unique(("pane in a narrow window", pane))
}

/// Whether the person has opened this pane in a narrow window.
pub fn is_open(ctx: &Context, pane: &str) -> bool {
    ctx.data(|data| data.get_temp(id(pane)).unwrap_or(false))
}

/// Hands the keyboard to the pane that is about to take the place of a list, if it was not a click that opens it: what was
/// chosen in the list is drawn no more.
pub fn hand_over(ctx: &Context, pane: &str) {
    if !ctx.input(|input| input.pointer.any_click()) {
        ctx.data_mut(|data| data.insert_temp(id(pane).with("keyboard"), true));
    }
}

/// Whether the first control of a pane is to get the keyboard, because it was handed over.
pub fn takes_over(ctx: &Context, pane: &str) -> bool {
    ctx.data_mut(|data| data.remove_temp(id(pane).with("keyboard"))).unwrap_or(false)
}

/// Opens or closes a pane in a narrow window.
pub fn set_open(ctx: &Context, pane: &str, open: bool) {
    if is_open(ctx, pane) != open {
        ctx.data_mut(|data| data.insert_temp(id(pane), open));
        ctx.request_repaint();
    }
}
