//! Maps keys to the commands of the table.

use egui::{Key, KeyboardShortcut, Modifiers, Ui};

use super::action::Action;
use super::artifact;
use super::commands::{Command, Situation, TABLE};

/// Handles the key of *Stop now*, which works whatever covers the window.
pub fn take_stop(ui: &Ui, situation: &Situation, actions: &mut Vec<Action>) {
    let spec = Command::StopNow.spec();
    if let (None, Some(shortcut)) = ((spec.unavailable)(situation), spec.shortcut)
        && ui.input_mut(|input| input.consume_shortcut(&shortcut))
    {
        actions.push(Action::Do(Command::StopNow));
    }
}

/// Handles the keys of all commands that are available now. A key that a focused text field needs goes to the
/// field.
pub fn take_keys(ui: &Ui, situation: &Situation, actions: &mut Vec<Action>) {
    // A focused viewer handles the arrow keys and the search key itself.
    let viewing = artifact::has_keyboard(ui.ctx());
    let typing = viewing || ui.ctx().text_edit_focused();
    // Longest combinations first, because a shorter one would match as well.
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

/// Ensures that a held key presses only one button: the next button at the same place may do the opposite.
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
