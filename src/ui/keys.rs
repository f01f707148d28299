//! Maps keys to the commands of the table.

use egui::{Event, InputState, Key, KeyboardShortcut, Modifiers, PointerButton, Ui};

use super::commands::TABLE;
use super::plan::{chooses_lines, edits_argument};
use super::{Action, Command, Commands, artifact};

/// Handles the key of *Stop now*, which also works while a dialog or an overlay is open.
pub fn take_stop(ui: &Ui, commands: &mut Commands<'_>) {
    let spec = Command::StopNow.spec();
    if let (None, Some(shortcut)) = ((spec.unavailable)(commands.situation), spec.shortcut)
        && ui.input_mut(|input| input.consume_shortcut(&shortcut))
    {
        commands.actions.push(Action::Do(Command::StopNow));
    }
}

/// Handles the keys of all commands that are available now, except for those that a focused text field or viewer
/// needs, and the back and forward buttons of the mouse.
pub fn take_keys(ui: &Ui, commands: &mut Commands<'_>) {
    // A focused viewer handles the arrow keys and the search key itself.
    let viewing = artifact::has_keyboard(ui.ctx());
    let typing = viewing || ui.ctx().text_edit_focused();
    let editing = edits_argument(ui.ctx());
    let choosing = chooses_lines(ui.ctx());
    // Shortcuts with the most modifiers first, because for some keys one with fewer would match as well.
    let mut specs: Vec<_> = TABLE.iter().filter_map(|spec| Some((spec.shortcut?, spec))).collect();
    specs.sort_by_key(|(shortcut, _)| std::cmp::Reverse(modifier_count(shortcut)));
    for (shortcut, spec) in specs {
        let plain = shortcut.modifiers == Modifiers::NONE && !is_function_key(shortcut.logical_key);
        // In text fields, these keys move the cursor by words.
        let is_way = matches!(spec.command, Command::GoBack | Command::GoForward);
        // In the editor of an argument it applies the value.
        let is_apply = (editing || choosing) && spec.command == Command::Authorize;
        // In the choice of lines they go from line to line.
        let is_line = choosing && matches!(spec.command, Command::NextStep | Command::PreviousStep);
        if typing && (plain || is_way)
            || is_apply
            || is_line
            || viewing && spec.command == Command::Find
        {
            continue;
        }
        // The key of *Authorize…* leads to what has to be looked at first, and signs a request.
        let situation = commands.situation;
        let leads = spec.command == Command::Authorize
            && (situation.look_first || situation.asked && situation.not_signable.is_none());
        if (leads || (spec.unavailable)(commands.situation).is_none())
            && ui.input_mut(|input| consume(input, &shortcut))
        {
            commands.actions.push(Action::Do(spec.command));
        }
    }
    for (button, command) in
        [(PointerButton::Extra1, Command::GoBack), (PointerButton::Extra2, Command::GoForward)]
    {
        if (command.spec().unavailable)(commands.situation).is_none()
            && ui.input(|input| input.pointer.button_pressed(button))
        {
            commands.actions.push(Action::Do(command));
        }
    }
}

/// Takes a shortcut out of the input. With a letter, Shift makes another one of it, which may be unavailable now; other
/// keys need Shift on some keyboards.
fn consume(input: &mut InputState, shortcut: &KeyboardShortcut) -> bool {
    let name = shortcut.logical_key.name();
    if name.len() > 1 || !name.starts_with(|it: char| it.is_ascii_alphabetic()) {
        return input.consume_shortcut(shortcut);
    }
    let before = input.events.len();
    input.events.retain(|event| {
        !matches!(event, Event::Key { key, modifiers, pressed: true, .. }
            if *key == shortcut.logical_key && modifiers.matches_exact(shortcut.modifiers))
    });
    input.events.len() < before
}

fn modifier_count(shortcut: &KeyboardShortcut) -> u32 {
    let m = shortcut.modifiers;
    u32::from(m.shift) + u32::from(m.alt) + u32::from(m.command || m.ctrl)
}

fn is_function_key(key: Key) -> bool {
    key.name().len() > 1 && key.name().starts_with('F')
}

/// Drops the repeats of a held Enter or Space, so that it presses only one button: the next one in the same position
/// may do the opposite. Text fields still get them.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_makes_another_shortcut_of_a_letter_and_not_of_a_sign() {
        let of = |key, modifiers| {
            let mut input = InputState::default();
            let (pressed, repeat, physical_key) = (true, false, None);
            input.events.push(Event::Key { key, physical_key, pressed, repeat, modifiers });
            input
        };
        let command = Modifiers::COMMAND;
        let plain = Modifiers { ctrl: true, ..command };
        let shifted = Modifiers { shift: true, ..plain };
        for (key, modifiers, taken) in [
            (Key::L, plain, true),
            (Key::L, shifted, false),
            (Key::Plus, plain, true),
            (Key::Plus, shifted, true),
        ] {
            let mut input = of(key, modifiers);
            let shortcut = KeyboardShortcut::new(command, key);
            assert_eq!(consume(&mut input, &shortcut), taken, "{key:?} {modifiers:?}");
            assert_eq!(input.events.is_empty(), taken, "what is not taken stays");
        }
    }
}
