//! Restores the keyboard focus after a question, so that keyboard users continue where they were.

use egui::{Context, Id};

fn id() -> Id {
    Id::unique("the focus before a question")
}

/// Saves and clears the focus. If a question follows another one, the focus saved first is kept.
pub(super) fn take(ctx: &Context) {
    if let Some(focused) = ctx.memory(|memory| memory.focused()) {
        ctx.memory_mut(|memory| memory.surrender_focus(focused));
        ctx.data_mut(|data| {
            data.get_temp_mut_or_insert_with(id(), || focused);
        });
    }
}

/// Drops the saved focus. Called after an answer that starts or stops something, because the control may have a
/// different meaning then.
pub(super) fn forget(ctx: &Context) {
    ctx.data_mut(|data| data.remove::<Id>(id()));
}

/// Restores the focus; call this in every frame without a question. It waits until no key is held, so that
/// the key that answered the question does not press the restored control.
pub fn give_back(ctx: &Context) {
    if ctx.input(|input| !input.keys_down.is_empty()) {
        return;
    }
    if let Some(before) = ctx.data(|data| data.get_temp::<Id>(id())) {
        forget(ctx);
        ctx.memory_mut(|memory| {
            if memory.focused().is_none() {
                memory.request_focus(before);
            }
        });
    }
}
