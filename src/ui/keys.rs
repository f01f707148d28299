//! The keyboard: from a key to the command of the table that it gives.

use egui::{Key, KeyboardShortcut, Modifiers, Ui};

use super::action::Action;
use super::artifact;
use super::commands::{Command, Situation, TABLE};

/// Takes the key of *Stop now* alone, which counts whatever is in front of the window.
pub fn take_stop(ui: &Ui, situation: &Situation, actions: &mut Vec<Action>) {
    let spec = Command::StopNow.spec();
    if let (None, Some(shortcut)) = ((spec.unavailable)(situation), spec.shortcut)
        && ui.input_mut(|input| input.consume_shortcut(&shortcut))
    {
        actions.push(Action::Do(Command::StopNow));
    }
}

/// Takes the keys of every command that can be given now. A key that a text field wants stays its.
pub fn take_keys(ui: &Ui, situation: &Situation, actions: &mut Vec<Action>) {
    // A viewer has the arrows and the search for itself while it has the keyboard.
    let viewing = artifact::has_keyboard(ui.ctx());
    let typing = viewing || ui.ctx().text_edit_focused();
    // The longest combinations first, because a shorter one would match them as well.
    let mut specs: Vec<_> = TABLE.iter().filter_map(|spec| Some((spec.shortcut?, spec))).collect();
    specs.sort_by_key(|(shortcut, _)| std::cmp::Reverse(weight(shortcut)));
    for (shortcut, spec) in specs {
        let plain = shortcut.modifiers == Modifiers::NONE && !is_function_key(shortcut.logical_key);
        if typing && plain || viewing && spec.command == Command::FocusSearch {
            continue;
        }
        if (spec.unavailable)(situation).is_none()
            && ui.input_mut(|input| input.consume_shortcut(&shortcut))
        {
            actions.push(Action::Do(spec.command));
        }
    }
}

fn weight(shortcut: &KeyboardShortcut) -> u32 {
    let m = shortcut.modifiers;
    u32::from(m.shift) + u32::from(m.alt) + u32::from(m.command || m.ctrl)
}

fn is_function_key(key: Key) -> bool {
    key.name().len() > 1 && key.name().starts_with('F')
}

/// A key that is held presses one button once: the next one at its place may do the opposite.
pub(super) fn drop_repeated_presses(ctx: &egui::Context) {
    if ctx.text_edit_focused() {
        return;
    }
    ctx.input_mut(|input| {
        input.events.retain(|event| {
            !matches!(
                event,
                egui::Event::Key { key: egui::Key::Enter | egui::Key::Space, repeat: true, .. }
            )
        });
    });
}
