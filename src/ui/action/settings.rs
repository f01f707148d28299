//! Actions on the settings page.

use std::path::PathBuf;

use toml::Value;

use crate::run::settings::Keys;
use crate::ui::Command;

/// An action on the settings page.
#[derive(Debug, Clone, PartialEq)]
pub enum SettingsAction {
    /// Set the value of this key; `None` for the default. What weakens protection is asked about first.
    Set(String, Option<Value>),
    /// Save the change that was asked about.
    Confirm,
    /// Leave everything as it is.
    Decline,
    /// Choose a path for this key in a file dialog.
    Pick {
        /// The key.
        key: String,
        /// Whether a folder is chosen.
        folder: bool,
        /// Whether the path is added to a list.
        add: bool,
    },
    /// Open the settings file at the line of this key.
    OpenAt(String),
    /// The next keys that are pressed are for this command.
    Capture(Command),
    /// Wait for no keys any more.
    EndCapture,
    /// These keys were pressed for the command; `None` for no keys.
    SetKeys(Command, Option<Keys>),
    /// Exchange the keys of the two commands that clash.
    SwapKeys,
    /// Give this command its usual keys again; `None` for all commands.
    UsualKeys(Option<Command>),
    /// Choose a file and export the settings to it.
    Export,
    /// Choose a file to import, and show what it would change.
    Import,
    /// Show what this file would change.
    Compare(PathBuf),
    /// Import this key, or do not.
    ChooseImport(String, bool),
    /// Import the chosen keys.
    ApplyImport,
    /// Import nothing.
    DropImport,
}
