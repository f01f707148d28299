//! The settings as the page shows them.

use std::sync::Arc;

use toml::{Table, Value};

use super::rules::{CheckedForm, RemovedRule};
use crate::risk::UserRules;
use crate::run::settings::{
    Group, Keys, Setting, Shortcuts, default_of, found_in, keys_of, shown, weaker,
};
use crate::ui::{Command, Tone};

/// A row of the page.
#[derive(Debug, Clone, PartialEq)]
pub struct RowView {
    /// The row of the table.
    pub row: &'static Setting,
    /// The key, with the name of the planner where the row has a `*`.
    pub key: String,
    /// The value in the file; `None` if it is not there.
    pub in_file: Option<Value>,
    /// Why the last change was refused.
    pub fault: Option<String>,
    /// The change that would weaken protection and waits for a confirmation: its new value in words, and what it gives up.
    pub asks: Option<(String, &'static str)>,
}

impl RowView {
    /// The rows for the settings in a file.
    pub fn all(file: &Table) -> Vec<Self> {
        let of = |(row, key): (_, String)| Self {
            in_file: found_in(file, &key).cloned(),
            row,
            key,
            fault: None,
            asks: None,
        };
        keys_of(file).into_iter().map(of).collect()
    }

    /// The value in force.
    pub fn value(&self) -> Option<Value> {
        self.in_file.clone().or_else(|| default_of(self.row))
    }

    /// The value in force, in words.
    pub fn shown(&self) -> String {
        shown(self.row, self.value().as_ref())
    }

    /// The name, with that of the planner.
    pub fn name(&self) -> String {
        let planner = self.key.strip_prefix("planners.").and_then(|rest| rest.rsplit_once('.'));
        match planner.filter(|(name, _)| *name != "*") {
            Some((name, _)) => format!("{} ({name})", self.row.name),
            None => self.row.name.to_owned(),
        }
    }

    /// Whether the value in force protects less than the default.
    pub fn is_weaker(&self) -> bool {
        let found = weaker(&self.key, None, self.in_file.as_ref());
        self.in_file.is_some() && found.is_some_and(|it| !it.of_others)
    }

    /// Whether every word is in what the row says.
    pub fn matches(&self, words: &[String]) -> bool {
        let row = self.row;
        let text = [&*self.key, row.name, row.meaning, row.costs, row.protects, row.group.title()];
        let text = format!("{} {}", text.join(" "), self.shown()).to_lowercase();
        words.iter().all(|word| text.contains(word))
    }
}

/// What became of the last keys that were pressed for a command.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyNote {
    /// They cannot be used, for this reason.
    Refused(Command, String),
    /// Another command has them.
    Clash(Command, Keys, Command),
}

/// A key that an import would change.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportRow {
    /// The key.
    pub key: String,
    /// The name for people.
    pub name: String,
    /// The present value.
    pub from: String,
    /// The new value.
    pub to: String,
    /// What the change gives up; `None` if nothing.
    pub weakens: Option<&'static str>,
    /// Whether it is imported.
    pub chosen: bool,
}

/// A file to import.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportView {
    /// The path of the file.
    pub file: String,
    /// What it would change, or its fault.
    pub rows: Result<Vec<ImportRow>, String>,
}

/// The settings, as shown.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsView {
    /// The rows.
    pub rows: Vec<RowView>,
    /// Why the last notification could not be shown; `None` if it could, or none was sent.
    pub notification_fault: Option<String>,
    /// Why the command of the editor cannot be used; `None` if it can.
    pub editor_fault: Option<String>,
    /// The path of the settings file, which has all settings.
    pub file: String,
    /// The path of the evidence.
    pub evidence: String,
    /// Whether the window can change the settings: there is a settings file and it has no fault.
    pub can_change: bool,
    /// The person's own rules for commands.
    pub rules: UserRules,
    /// The form for a rule, which replaces the settings while it is open.
    pub rule_form: Option<CheckedForm>,
    /// The rules that were removed since the settings were opened, in the order of their places.
    pub removed_rules: Vec<RemovedRule>,
    /// What came of the last change of the rules.
    pub rules_note: Option<(Tone, String)>,
    /// What came of an export or an import, or of a change in another window.
    pub note: Option<(Tone, String)>,
    /// What this computer has, by name: the walls, the code engines, and the planners.
    pub computer: Vec<(String, String)>,
    /// The keys of commands in force.
    pub shortcuts: Arc<Shortcuts>,
    /// The command for which keys are to be pressed.
    pub capturing: Option<Command>,
    /// What became of the last keys that were pressed.
    pub key_note: Option<KeyNote>,
    /// The file to import, which replaces the settings while it is looked at.
    pub import: Option<ImportView>,
}

impl SettingsView {
    /// The rows of a group that have these words.
    pub(super) fn rows_of(&self, group: Group, words: &[String]) -> Vec<&RowView> {
        self.rows.iter().filter(|it| it.row.group == group && it.matches(words)).collect()
    }
}
