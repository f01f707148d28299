//! Where the keyboard was before a question: it goes back there, so that who uses no mouse goes on from there.

use egui::{Context, Id};

fn id() -> Id {
    Id::unique("the focus before a question")
}

/// Takes the focus away, and keeps in mind whose it was. A question that follows another one leaves that as it is.
pub(super) fn take(ctx: &Context) {
    if let Some(focused) = ctx.memory(|memory| memory.focused()) {
        ctx.memory_mut(|memory| memory.surrender_focus(focused));
        ctx.data_mut(|data| {
            data.get_temp_mut_or_insert_with(id(), || focused);
        });
    }
}

/// Lets it go: after an answer that starts or stops something, what had it may stand for something else.
pub(super) fn forget(ctx: &Context) {
    ctx.data_mut(|data| data.remove::<Id>(id()));
}

/// Gives it back; called in every frame without a question. Not while a key is held: what answered the question
/// must not press what is behind it, too.
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
