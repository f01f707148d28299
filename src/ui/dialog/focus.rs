//! Restores the keyboard focus after a dialog, so that keyboard users continue where they were.

use egui::{Context, Id};

fn id() -> Id {
    Id::unique("the focus before a question")
}

/// Saves and clears the focus. If a dialog follows another one, the focus saved first is kept.
pub(super) fn save(ctx: &Context) {
    if let Some(focused) = ctx.memory(|memory| memory.focused()) {
        ctx.memory_mut(|memory| memory.surrender_focus(focused));
        ctx.data_mut(|data| {
            data.get_temp_mut_or_insert_with(id(), || focused);
        });
    }
}

/// Drops the saved focus. Call this after an answer that starts or stops something, because the control may have a
/// different meaning then.
pub(super) fn forget(ctx: &Context) {
    ctx.data_mut(|data| data.remove::<Id>(id()));
}

/// Restores the saved focus, unless another control has the focus by then. Call this in every frame without a dialog.
/// It waits until no key is held, so that the key that closed the dialog does not press the restored control.
pub fn restore(ctx: &Context) {
    if ctx.input(|input| !input.keys_down.is_empty()) {
        return;
    }
    if let Some(saved) = ctx.data(|data| data.get_temp::<Id>(id())) {
        forget(ctx);
        ctx.memory_mut(|memory| {
            if memory.focused().is_none() {
                memory.request_focus(saved);
            }
        });
    }
}
