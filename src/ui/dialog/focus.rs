//! Restores the keyboard focus after a dialog, so that keyboard users continue where they were.

use egui::{Context, Id};

fn id() -> Id {
    Id::unique("the focus before a question")
}

/// Clears the focus, and saves it with `save`.
pub(super) fn clear(ctx: &Context, save: bool) {
    if let Some(focused) = ctx.memory(|memory| memory.focused()) {
        ctx.memory_mut(|memory| memory.surrender_focus(focused));
        if save {
            ctx.data_mut(|data| data.insert_temp(id(), focused));
        }
    }
}

/// Drops the saved focus. Call this after an answer that starts or stops something, because the control may have a
/// different meaning then.
pub(super) fn forget(ctx: &Context) {
    ctx.data_mut(|data| data.remove::<Id>(id()));
}

/// Restores the saved focus, unless another control has the focus by then. It waits until no key is held, so that the
/// key that closed the dialog does not press the restored control.
pub(super) fn restore(ctx: &Context) {
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

#[cfg(test)]
mod tests {
    use egui::Event;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::super::memory::Memory;
    use super::*;
    use crate::ui::tests::scene::Scene;
    use crate::ui::tests::{Window, window};

    fn memories(harness: &Harness<'_, Window>) -> usize {
        harness.ctx.data(|data| data.count::<Memory>())
    }

    #[test]
    fn a_closed_dialog_leaves_no_state() {
        let mut harness = window("dialog", [1280.0, 800.0]);
        for _ in 0..3 {
            harness.state_mut().scene.ask_again();
            harness.run_steps(2);
            assert_eq!(memories(&harness), 1, "only that of the open dialog");
        }
        harness.state_mut().scene = Scene::new("asking");
        harness.run_steps(2);
        assert_eq!(memories(&harness), 0);
    }

    /// Neither when the window gets the focus back, nor when another dialog follows.
    #[test]
    fn controls_of_dialogs_are_not_saved() {
        let mut harness = window("dialog", [1280.0, 800.0]);
        harness.run_steps(8);
        let focus_button = |harness: &mut Harness<'_, Window>| {
            harness.get_by_label("Deny and stop").focus();
            harness.run_steps(2);
            assert!(harness.ctx.memory(|memory| memory.focused()).is_some());
        };
        focus_button(&mut harness);
        for focused in [false, true] {
            harness.input_mut().focused = focused;
            harness.event(Event::WindowFocused(focused));
            harness.run_steps(2);
        }
        assert_eq!(harness.ctx.memory(|memory| memory.focused()), None);
        harness.run_steps(8);
        focus_button(&mut harness);
        harness.state_mut().scene.ask_again();
        harness.run_steps(2);
        assert_eq!(harness.ctx.memory(|memory| memory.focused()), None);
        assert_eq!(harness.ctx.data(|data| data.get_temp::<Id>(id())), None);
    }
}
