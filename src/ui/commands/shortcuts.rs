//! The keys of commands in force: the usual ones, or those that the person chose in the settings.

use std::sync::{Arc, LazyLock};

use egui::{Context, Id, Key, KeyboardShortcut, Modifiers};

use super::{Command, Spec, TABLE};
use crate::run::settings::{COMMANDS, Keys, Shortcuts, why_fixed};

/// The keys of all commands, as the settings and as the window have them.
#[derive(Debug, PartialEq)]
struct InForce {
    chosen: Shortcuts,
    keys: Vec<Option<KeyboardShortcut>>,
}

impl From<Shortcuts> for InForce {
    fn from(chosen: Shortcuts) -> Self {
        let keys = (0..COMMANDS.len()).map(|place| shortcut_of(chosen.at(place)?)).collect();
        Self { chosen, keys }
    }
}

static USUAL: LazyLock<Arc<InForce>> =
    LazyLock::new(|| Arc::new(InForce::from(Shortcuts::default())));

fn id() -> Id {
    Id::unique("keys of commands")
}

fn in_force(ctx: &Context) -> Arc<InForce> {
    ctx.data(|data| data.get_temp(id())).unwrap_or_else(|| Arc::clone(&USUAL))
}

/// Uses these keys from now on.
pub fn set_shortcuts(ctx: &Context, shortcuts: Shortcuts) {
    ctx.data_mut(|data| data.insert_temp(id(), Arc::new(InForce::from(shortcuts))));
}

/// The keys that are in force.
pub fn shortcuts(ctx: &Context) -> Shortcuts {
    in_force(ctx).chosen.clone()
}

/// The keys as the window knows them; `None` if it does not know the key.
pub fn shortcut_of(keys: &Keys) -> Option<KeyboardShortcut> {
    let modifiers = Modifiers {
        alt: keys.alt,
        shift: keys.shift,
        ..if keys.ctrl { Modifiers::COMMAND } else { Modifiers::NONE }
    };
    Some(KeyboardShortcut::new(modifiers, Key::from_name(keys.key())?))
}

/// A pressed key as the settings write it; `None` if they have no word for it.
pub fn pressed_keys(modifiers: Modifiers, key: Key) -> Option<Keys> {
    Keys::new(modifiers.command || modifiers.ctrl, modifiers.alt, modifiers.shift, key.name())
}

impl Command {
    /// The name of the command in the settings file.
    pub fn name(self) -> &'static str {
        COMMANDS.get(self as usize).map_or("", |(name, _)| name)
    }

    /// The command at this place of the table.
    pub fn at(place: usize) -> Option<Self> {
        TABLE.get(place).map(|spec| spec.command)
    }

    /// Why the keys of the command cannot be changed; `None` if they can.
    pub fn why_fixed(self) -> Option<&'static str> {
        why_fixed(self.name())
    }
}

impl Spec {
    /// The keys of the command that are in force.
    pub fn keys(&self, ctx: &Context) -> Option<KeyboardShortcut> {
        in_force(ctx).keys.get(self.command as usize).copied().flatten()
    }
}

/// All commands that have keys, with those in force.
pub(in crate::ui) fn bound(ctx: &Context) -> Vec<(KeyboardShortcut, &'static Spec)> {
    let in_force = in_force(ctx);
    TABLE.iter().zip(&in_force.keys).filter_map(|(spec, keys)| Some(((*keys)?, spec))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_know_every_command_and_its_usual_key() {
        assert_eq!(COMMANDS.len(), TABLE.len());
        for spec in &TABLE {
            let variant = format!("{:?}", spec.command);
            let mut snake = String::new();
            for letter in variant.chars() {
                if letter.is_uppercase() && !snake.is_empty() {
                    snake.push('_');
                }
                snake.extend(letter.to_lowercase());
            }
            assert_eq!(spec.command.name(), snake);
            let usual = Shortcuts::default();
            let keys = usual.at(spec.command as usize).and_then(shortcut_of);
            assert_eq!(keys, spec.shortcut, "{snake}");
            // Every usual key is one that a person could choose, or fixed.
            let keys = usual.at(spec.command as usize);
            let refused = keys.and_then(Keys::why_not);
            assert!(
                refused.is_none() || spec.command.why_fixed().is_some(),
                "{snake}: {refused:?}"
            );
        }
    }

    #[test]
    fn every_key_of_the_settings_is_one_of_the_window() {
        for key in Key::ALL {
            for modifiers in
                [Modifiers::NONE, Modifiers::COMMAND | Modifiers::SHIFT, Modifiers::ALT]
            {
                let Some(keys) = pressed_keys(modifiers, *key) else { continue };
                assert_eq!(Keys::parse(&keys.to_string()), Ok(keys.clone()), "{keys}");
                assert_eq!(
                    shortcut_of(&keys),
                    Some(KeyboardShortcut::new(modifiers, *key)),
                    "{keys}"
                );
            }
        }
    }
}
