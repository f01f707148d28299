//! The keys of commands: chosen, exchanged, and given back.

use toml::{Table, Value};

use super::{App, SettingsPage};
use crate::run::settings::{Keys, Shortcuts};
use crate::ui::Command;
use crate::ui::commands::shortcuts;
use crate::ui::settings_page::KeyNote;

impl SettingsPage {
    /// Whether the next key that is pressed is chosen for a command.
    pub(in crate::app) fn takes_next_key(&self) -> bool {
        self.capturing.is_some()
    }
}

impl App {
    pub(super) fn set_keys(&mut self, command: Command, keys: Option<Keys>, ctx: &egui::Context) {
        self.settings_page.capturing = None;
        self.settings_page.key_note = None;
        let refused = command.why_fixed().or(keys.as_ref().and_then(Keys::why_not));
        if let Some(why) = refused {
            self.settings_page.key_note = Some(KeyNote::Refused(command, why.to_owned()));
            return;
        }
        let other = keys.as_ref().and_then(|keys| shortcuts(ctx).command_of(keys));
        let other = other.and_then(Command::at).filter(|other| *other != command);
        match (keys, other) {
            (Some(keys), Some(other)) => {
                self.settings_page.key_note = Some(KeyNote::Clash(command, keys, other));
            }
            (keys, _) => self.save_keys(&[(command, keys)], ctx),
        }
    }

    /// Gives each of the two commands that clash the keys of the other one.
    pub(super) fn swap_keys(&mut self, ctx: &egui::Context) {
        let Some(KeyNote::Clash(command, keys, other)) = self.settings_page.key_note.take() else {
            return;
        };
        let old = shortcuts(ctx).at(command as usize).cloned();
        if other.why_fixed().is_none() {
            self.save_keys(&[(command, Some(keys)), (other, old)], ctx);
        }
    }

    fn save_keys(&mut self, changes: &[(Command, Option<Keys>)], ctx: &egui::Context) {
        let mut chosen = self.settings.shortcuts.clone();
        let usual = Shortcuts::default();
        for (command, keys) in changes {
            if usual.at(*command as usize) == keys.as_ref() {
                chosen.remove(command.name());
            } else {
                let text = keys.as_ref().map(Keys::to_string).unwrap_or_default();
                chosen.insert(command.name().to_owned(), text);
            }
        }
        if let Err(fault) = Shortcuts::of(&chosen)
            && let Some((command, _)) = changes.first()
        {
            self.settings_page.key_note = Some(KeyNote::Refused(*command, fault.to_string()));
            return;
        }
        let table: Table = chosen.into_iter().map(|(name, keys)| (name, keys.into())).collect();
        let value = (!table.is_empty()).then_some(Value::Table(table));
        self.set_setting("shortcuts".to_owned(), value, ctx);
    }
}
