//! The keys of commands: shown, changed by pressing others, and given back.

use egui::{Event, Key, Role, Ui, WidgetInfo};

use super::model::KeyNote;
use super::{FAULTY_FILE, SettingsView, group_heading};
use crate::run::settings::Keys;
use crate::ui::access::Reason as _;
use crate::ui::action::SettingsAction;
use crate::ui::commands::{Spec, TABLE, pressed_keys, shortcut_of, shortcut_text};
use crate::ui::{Action, Command, Look, Text, Theme, Tone, icon, widgets};

/// Takes the keys that are pressed for a command out of the input. Escape ends that. Call this before anything else
/// handles keys but *Stop now*; `stopped` says whether its key was pressed.
pub fn take_keys(ui: &Ui, view: &SettingsView, stopped: bool, actions: &mut Vec<Action>) {
    let Some(command) = view.capturing else { return };
    if let Some(keys) = view.shortcuts.at(Command::StopNow as usize).filter(|_| stopped) {
        // Says that they are taken.
        let action = SettingsAction::SetKeys(command, Some(keys.clone()));
        actions.push(Action::Settings(action));
    }
    let mut pressed = None;
    ui.input_mut(|input| {
        input.events.retain(|event| match event {
            Event::Key { key, pressed: true, modifiers, .. } => {
                if !is_modifier(*key) {
                    pressed = pressed.or(Some((*key, *modifiers)));
                }
                false
            }
            // The window's library makes these of Ctrl with C, X and V.
            Event::Copy | Event::Cut | Event::Paste(_) | Event::Text(_) => false,
            _ => true,
        });
    });
    let Some((key, modifiers)) = pressed else { return };
    let action = match pressed_keys(modifiers, key) {
        _ if key == Key::Escape && modifiers.is_none() => SettingsAction::EndCapture,
        // The person presses on; these keys have no name.
        None => return,
        keys => SettingsAction::SetKeys(command, keys),
    };
    actions.push(Action::Settings(action));
}

fn is_modifier(key: Key) -> bool {
    use Key::{
        AltLeft, AltRight, ControlLeft, ControlRight, ShiftLeft, ShiftRight, SuperLeft, SuperRight,
    };
    matches!(
        key,
        AltLeft
            | AltRight
            | ControlLeft
            | ControlRight
            | ShiftLeft
            | ShiftRight
            | SuperLeft
            | SuperRight
    )
}

/// Draws the commands that have these words. Returns how many there are.
pub(super) fn keys_ui(
    ui: &mut Ui,
    view: &SettingsView,
    words: &[String],
    actions: &mut Vec<Action>,
) -> usize {
    let has = |spec: &&Spec| {
        let keys = view.shortcuts.at(spec.command as usize).map(Keys::to_string);
        let name = spec.command.name();
        let text =
            format!("keys {} {} {name} {}", spec.text, spec.tooltip, keys.unwrap_or_default());
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let found: Vec<_> = TABLE.iter().filter(has).collect();
    if found.is_empty() {
        return 0;
    }
    group_heading(ui, "Keys of commands");
    let text = "Press Change, then the new keys; Escape leaves them as they are. Keys in dialogs cannot be changed: an \
                answer is always given in the same way.";
    widgets::paragraph(ui, text, Text::Body, Tone::Dim);
    let all = "Give all commands their usual keys";
    let usual = widgets::button(ui, Look::Plain, None, all, view.can_change);
    if usual.or_why(FAULTY_FILE).clicked() {
        actions.push(Action::Settings(SettingsAction::UsualKeys(None)));
    }
    for spec in &found {
        ui.push_id(spec.command.name(), |ui| command_ui(ui, view, spec, actions));
    }
    found.len()
}

fn command_ui(ui: &mut Ui, view: &SettingsView, spec: &Spec, actions: &mut Vec<Action>) {
    let command = spec.command;
    let keys = view.shortcuts.at(command as usize);
    let shortcut = keys.and_then(shortcut_of);
    let text = shortcut.as_ref().map_or_else(|| "no key".to_owned(), |it| shortcut_text(ui, it));
    let name = spec.text.trim_end_matches('…');
    let mut act = |action| actions.push(Action::Settings(action));
    ui.horizontal_wrapped(|ui| {
        let tone = if keys.is_some() { Tone::Plain } else { Tone::Dim };
        let width = Text::Body.width_of(ui, name);
        widgets::line(ui, name, Text::Body, Tone::Plain).on_hover_text(format!(
            "{}\nIn the settings file: {}",
            spec.tooltip,
            command.name()
        ));
        // The keys of all commands begin at the same place, where that is possible.
        ui.add_space((220.0 - width).min(ui.available_width()).max(0.0));
        if view.capturing == Some(command) {
            let text = "Press the new keys…";
            ui.label(widgets::rich(text, Text::Strong, Theme::of(ui).accent));
            if button(ui, name, "Cancel", true) {
                act(SettingsAction::EndCapture);
            }
            return;
        }
        ui.label(widgets::rich(&*text, Text::Mono, Theme::of(ui).tone(tone)));
        if let Some(why) = command.why_fixed() {
            ui.label(widgets::rich(format!("Fixed. {why}"), Text::Small, Theme::of(ui).dim));
            return;
        }
        if button(ui, name, "Change", view.can_change) {
            act(SettingsAction::Capture(command));
        }
        if keys.is_some() && button(ui, name, "No key", view.can_change) {
            act(SettingsAction::SetKeys(command, None));
        }
        if shortcut != spec.shortcut && button(ui, name, "Usual key", view.can_change) {
            act(SettingsAction::UsualKeys(Some(command)));
        }
    });
    note_ui(ui, view, command, actions);
}

fn note_ui(ui: &mut Ui, view: &SettingsView, command: Command, actions: &mut Vec<Action>) {
    match &view.key_note {
        Some(KeyNote::Refused(of, why)) if *of == command => {
            widgets::remark(ui, icon::WARNING, Tone::Caution, why);
        }
        Some(KeyNote::Clash(of, keys, other)) if *of == command => {
            let other = other.spec();
            let name = other.text.trim_end_matches('…');
            let text = match view.shortcuts.at(other.command as usize) {
                Some(theirs) if theirs != keys => format!(
                    "“{name}” has {theirs}, and the press of {keys} may be meant for it: a sign needs Shift or Alt on some keyboards."
                ),
                _ => format!("{keys} are the keys of “{name}”."),
            };
            widgets::remark(ui, icon::WARNING, Tone::Caution, text);
            if other.command.why_fixed().is_some() {
                return;
            }
            ui.horizontal_wrapped(|ui| {
                let hint = "Each of the two commands gets the keys of the other one.";
                if widgets::tooltip_button(ui, Look::Plain, None, "Exchange the keys", hint) {
                    actions.push(Action::Settings(SettingsAction::SwapKeys));
                }
                if widgets::button(ui, Look::Plain, None, "Leave them", true).clicked() {
                    actions.push(Action::Settings(SettingsAction::EndCapture));
                }
            });
        }
        _ => {}
    }
}

/// A small button, named after the command that it is about.
fn button(ui: &mut Ui, of: &str, text: &str, enabled: bool) -> bool {
    let response = widgets::button(ui, Look::Bare, None, text, enabled);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, format!("{of}: {text}")));
    response.or_why(FAULTY_FILE).clicked()
}
