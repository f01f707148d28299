//! How a row of the table of commands is written.

use egui::{Key, KeyboardShortcut, Modifiers};

use super::{Command, Situation, Spec};
use crate::ui::Icon;

impl Spec {
    /// A command that is always available, without a tooltip and a key.
    pub(super) const fn new(command: Command, text: &'static str, icon: Option<Icon>) -> Self {
        Self { command, text, icon, tooltip: "", shortcut: None, unavailable: |_| None }
    }

    pub(super) const fn tooltip(self, tooltip: &'static str) -> Self {
        Self { tooltip, ..self }
    }

    pub(super) const fn key(self, modifiers: Modifiers, key: Key) -> Self {
        Self { shortcut: Some(KeyboardShortcut::new(modifiers, key)), ..self }
    }

    /// Makes the command unavailable whenever `unavailable` returns a reason.
    pub(super) const fn unless(self, unavailable: fn(&Situation) -> Option<&'static str>) -> Self {
        Self { unavailable, ..self }
    }
}
