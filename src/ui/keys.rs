//! Maps keys to the commands of the table.

use egui::{Event, InputState, Key, KeyboardShortcut, Modifiers, PointerButton, Popup, Ui};

use super::commands::bound;
use super::plan::{chooses_lines, edits_argument};
use super::{Action, Command, Commands, artifact};

/// Handles the key of *Stop now*, which also works while a dialog or an overlay is open. Call this before anything else
/// handles keys: whoever presses it a moment too late must not start something with it, so it is taken out of the input
/// also while there is nothing to stop. Returns whether it was pressed.
pub fn take_stop(ui: &Ui, commands: &mut Commands<'_>) -> bool {
    let spec = Command::StopNow.spec();
    let Some(shortcut) = spec.keys(ui.ctx()) else { return false };
    // By its place as well, whatever else has the name that the key has there.
    let pressed = ui.input_mut(|input| {
        consume_by_name(input, &shortcut) | consume_by_place(input, &shortcut, |_, _| true)
    });
    if pressed && (spec.unavailable)(commands.situation).is_none() {
        commands.actions.push(Action::Do(Command::StopNow));
    }
    pressed
}

/// The keys that apply what is edited.
const APPLY: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Enter);

/// Handles the keys of all commands that are available now, except for those that a focused text field or viewer
/// needs, and the back and forward buttons of the mouse.
pub fn take_keys(ui: &Ui, commands: &mut Commands<'_>) {
    // A focused viewer handles the arrow keys and the search key itself, and so does an open menu.
    let viewing = artifact::has_keyboard(ui.ctx()) || Popup::is_any_open(ui.ctx());
    let typing = viewing || ui.ctx().text_edit_focused();
    let editing = edits_argument(ui.ctx());
    let choosing = chooses_lines(ui.ctx());
    let specs = bound(ui.ctx());
    let names: Vec<_> = specs.iter().map(|(shortcut, _)| *shortcut).collect();
    // No press matches two of them, because the settings refuse that.
    for (shortcut, spec) in specs {
        let plain = shortcut.modifiers == Modifiers::NONE && !is_function_key(shortcut.logical_key);
        // In text fields, these keys move the cursor by words.
        let is_way = matches!(spec.command, Command::GoBack | Command::GoForward);
        // In the editor of an argument these keys apply the value, whatever command has them.
        let is_apply = (editing || choosing) && shortcut == APPLY;
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
            && ui.input_mut(|input| consume(input, &shortcut, &names))
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

/// Takes a shortcut out of the input; `names` has all of them.
fn consume(
    input: &mut InputState,
    shortcut: &KeyboardShortcut,
    names: &[KeyboardShortcut],
) -> bool {
    // A name that has a shortcut of its own, or that the zoom has, comes before a place.
    let is_free = |key: Key, modifiers: Modifiers| {
        !matches!(key, Key::Plus | Key::Minus | Key::Equals | Key::Num0)
            && !names.iter().any(|other| {
                other.logical_key == key && modifiers.matches_logically(other.modifiers)
            })
    };
    consume_by_name(input, shortcut) || consume_by_place(input, shortcut, is_free)
}

/// Takes a shortcut by what its key writes. A sign or a digit needs Shift or Alt on some keyboards, so more of them than
/// the shortcut has make no difference; `Keys::meets` refuses shortcuts that differ only in them. With any other key
/// they make another shortcut, which may be unavailable now.
fn consume_by_name(input: &mut InputState, shortcut: &KeyboardShortcut) -> bool {
    if is_sign(shortcut.logical_key) {
        return input.consume_shortcut(shortcut);
    }
    let before = input.events.len();
    input.events.retain(|event| {
        !matches!(event, Event::Key { key, modifiers, pressed: true, .. }
            if *key == shortcut.logical_key && modifiers.matches_exact(shortcut.modifiers))
    });
    input.events.len() < before
}

/// Takes a shortcut with a sign or a digit by the place of its key, where `is_free` accepts what the key writes. The key has
/// another name on some keyboards: with Shift the period is a colon in German, and without it the fourth digit is a quote in
/// French.
fn consume_by_place(
    input: &mut InputState,
    shortcut: &KeyboardShortcut,
    is_free: impl Fn(Key, Modifiers) -> bool,
) -> bool {
    let before = input.events.len();
    input.events.retain(|event| {
        !matches!(event, Event::Key { key, physical_key: Some(place), modifiers, pressed: true, .. }
            if *place == shortcut.logical_key
                && is_sign(*place)
                && is_sign(*key)
                && modifiers.matches_exact(shortcut.modifiers)
                && is_free(*key, *modifiers))
    });
    input.events.len() < before
}

/// Whether the key writes a sign or a digit, so that its name depends on the keyboard. An arrow of the number pad, for
/// instance, has the place of a digit.
fn is_sign(key: Key) -> bool {
    let symbol = key.symbol_or_name();
    let is_one = symbol.len() == 1 && !symbol.starts_with(|it: char| it.is_ascii_alphabetic());
    is_one || matches!(key, Key::Quote | Key::Minus)
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
    use crate::ui::commands::TABLE;

    /// A key whose name differs from the one that its place has on an American keyboard.
    fn placed(key: Key, place: Key, modifiers: Modifiers) -> InputState {
        let mut input = InputState::default();
        let (pressed, repeat, physical_key) = (true, false, Some(place));
        input.events.push(Event::Key { key, physical_key, pressed, repeat, modifiers });
        input
    }

    #[test]
    fn signs_and_digits_are_found_by_their_place_on_other_keyboards() {
        let command = Modifiers { ctrl: true, ..Modifiers::COMMAND };
        let shifted = Modifiers { shift: true, ..command };
        let stop = Command::StopNow.spec().shortcut.unwrap();
        let names: Vec<_> = TABLE.iter().filter_map(|spec| spec.shortcut).collect();
        let loops = KeyboardShortcut::new(Modifiers::COMMAND, Key::Num4);
        let settings = KeyboardShortcut::new(Modifiers::COMMAND, Key::Comma);
        for (key, place, modifiers, shortcut, taken) in [
            // German.
            (Key::Colon, Key::Period, shifted, stop, true),
            (Key::Colon, Key::Period, command, stop, false),
            // French.
            (Key::Quote, Key::Num4, command, loops, true),
            // Czech: the zoom comes first.
            (Key::Plus, Key::Num4, command, loops, false),
            // Dvorak: where an American keyboard has its comma there is a letter, with a shortcut of its own.
            (Key::W, Key::Comma, command, settings, false),
            (Key::Comma, Key::W, command, settings, true),
            // The number pad without Num Lock.
            (Key::ArrowLeft, Key::Num4, command, loops, false),
        ] {
            let mut input = placed(key, place, modifiers);
            assert_eq!(consume(&mut input, &shortcut, &names), taken, "{key:?} at {place:?}");
        }
        let close = KeyboardShortcut::new(Modifiers::COMMAND, Key::W);
        let mut input = placed(Key::Comma, Key::W, command);
        assert!(!consume(&mut input, &close, &names), "letters are found by name alone");
    }

    #[test]
    fn shift_makes_another_shortcut_of_a_key_and_not_of_a_sign() {
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
            (Key::F5, plain, true),
            (Key::F5, shifted, false),
            (Key::ArrowLeft, Modifiers { alt: true, ..plain }, false),
            (Key::Plus, plain, true),
            (Key::Plus, shifted, true),
        ] {
            let mut input = of(key, modifiers);
            let shortcut = KeyboardShortcut::new(command, key);
            assert_eq!(consume(&mut input, &shortcut, &[]), taken, "{key:?} {modifiers:?}");
            assert_eq!(input.events.is_empty(), taken, "what is not taken stays");
        }
    }
}
