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

/// Whether a pane has just taken the place of the list in which the keyboard was. Its first control is then to get it:
/// what was chosen in the list is drawn no more. Call this once in each frame in which the pane is drawn.
pub fn takes_keyboard(ctx: &Context, pane: &str) -> bool {
    let pass = ctx.cumulative_pass_nr();
    let id = id(pane).with("drawn in");
    let before = ctx.data_mut(|data| {
        let before = data.get_temp::<u64>(id);
        data.insert_temp(id, pass);
        before
    });
    let is_new = before.is_none_or(|before| before + 1 < pass);
    is_new && ctx.memory(|memory| memory.focused().is_some())
}

/// Opens or closes a pane in a narrow window, from the next frame on.
pub fn set_open(ctx: &Context, pane: &str, open: bool) {
    if is_open(ctx, pane) != open {
        ctx.data_mut(|data| data.insert_temp(id(pane), open));
        ctx.request_repaint();
    }
}
