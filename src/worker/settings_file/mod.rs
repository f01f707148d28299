//! The settings file as a whole: reading it with every check, changing one key of it, exporting and importing it.
//!
//! What is not changed keeps its place and its comments. A change that would leave a file with a fault is not written.

mod edit;
mod escapes;
mod export;
mod file;
mod lists;
mod queries;
mod secrets;
mod transfer;

use super::{SETTINGS, read_policy, team_of};
use crate::risk::Policy;
use crate::run::settings::check;

pub use edit::line_of;
pub use export::{ExportSettings, exported, write_export};
pub use file::{read_file, read_text};
pub use queries::{ReadSettings, SetSetting, SettingsAnswer};
pub(super) use secrets::shown_fault;
pub use secrets::{has_secret, shown_key, without_secrets};
pub use transfer::{Applied, Difference, ImportSettings, ReadImport, differences};

/// What is wrong with a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsProblem {
    /// The message.
    pub message: String,
    /// The key that it is about; empty if it is about the whole file.
    pub key: String,
    /// The line, from 1, if it is known.
    pub line: Option<usize>,
}

impl std::fmt::Display for SettingsProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            // The messages of the parser quote the line themselves.
            Some(line) if !self.message.contains("at line ") => {
                write!(f, "line {line}: {}", self.message)
            }
            _ => f.write_str(&self.message),
        }
    }
}

/// The settings of a file without a fault.
#[derive(Debug, Clone)]
pub struct FoundSettings {
    /// The text of the file; empty if there is none.
    pub text: String,
    /// Its keys and values.
    pub table: toml::Table,
    /// Its policy.
    pub policy: Policy,
}

impl FoundSettings {
    /// The settings in the text of a file.
    ///
    /// # Errors
    /// The first fault.
    pub fn of(text: String) -> Result<Self, SettingsProblem> {
        let table = checked(&text)?;
        let policy = read_policy(&text).map_err(|message| {
            // The message names the key, sometimes without its table; of several, the first one is meant.
            let place = |key: &str| {
                message.find(key).or_else(|| message.find(key.rsplit('.').next().unwrap_or(key)))
            };
            let keys = crate::run::settings::SETTINGS.iter().map(|row| row.key);
            let named =
                keys.filter_map(|key| Some((place(key)?, std::cmp::Reverse(key.len()), key)));
            let key = named.min().map_or("", |(_, _, key)| key);
            // A rule is named by its id.
            let key = if message.contains("risk rule") { "policy.command_rules" } else { key };
            problem(&text, key, message)
        })?;
        Ok(Self { text, table, policy })
    }
}

/// A problem of a key in this text.
fn problem(text: &str, key: &str, message: String) -> SettingsProblem {
    let message = shown_fault(key, message);
    SettingsProblem { message, key: key.to_owned(), line: line_of(text, key) }
}

/// The keys and values of a text, each of which can be used for itself.
///
/// # Errors
/// The first fault.
fn checked(text: &str) -> Result<toml::Table, SettingsProblem> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map(|span| line_at(text, span.start));
        // The whole message would quote the line, which may have a secret.
        SettingsProblem { message: error.message().to_owned(), key: String::new(), line }
    })?;
    if let Some(other) = table.keys().find(|key| !SETTINGS.contains(&key.as_str())) {
        return Err(problem(text, other, format!("there is no setting {other:?}")));
    }
    check(&table).map_err(|fault| problem(text, &fault.key, fault.message))?;
    if let Some(Err(why)) = table.get("team").and_then(|team| team.as_str()).map(team_of) {
        return Err(problem(text, "team", format!("team: {why}")));
    }
    Ok(table)
}

/// The number of the line with this byte, from 1.
fn line_at(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_its_line() {
        for (text, line, part) in [
            ("zoom = 1.0\nzoom = = 2", 2, "duplicate"),
            ("# a\n\nzoom = 9", 3, "0.5 and 3"),
            ("[policy]\n# why\nwalls = 'none'", 3, "\"required\""),
            ("[agents]\n\nrule = 1", 3, "no setting"),
            ("heron = 1", 1, "no setting"),
            ("zoom = 1.0\nteam = 'nowhere'", 2, "team"),
            ("[policy]\n[[policy.command_rules]]\nid = 'a'", 2, "a"),
            ("[signatures]\nrequired = 2", 2, "allowed_signers"),
            ("\n[shortcuts]\npalette = 'Ctrl+O'", 3, "open_plan"),
            ("[shortcuts]\nfind = ''\n# why\nrun = 'Ctrl+.'", 4, "stop_now"),
            ("[shortcuts]\nfind = ''\nfly = 'F12'", 3, "no such command"),
            ("[shortcuts]\nfind = ''\npalette = 1", 3, "as a text"),
            ("[shortcuts]\nfind = ''\npalette = 'Ctrl+Nothing'", 3, "is no key"),
            ("[shortcuts]\nfind = ''\npalette = 'Enter'", 3, "dialogs"),
        ] {
            let problem = FoundSettings::of(text.to_owned()).unwrap_err();
            assert_eq!(problem.line, Some(line), "{text}: {problem}");
            assert!(problem.message.contains(part) || line == 2, "{text}: {problem}");
        }
        assert!(FoundSettings::of(String::new()).is_ok());
    }

    #[test]
    fn a_fault_does_not_quote_the_key_of_a_model() {
        let problem = FoundSettings::of("[model]\nkey = sk-heron".to_owned()).unwrap_err();
        assert!(!problem.to_string().contains("heron"), "{problem}");
    }
}
