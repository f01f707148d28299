//! Reads the settings file, and changes one key of it.

use std::path::PathBuf;

use toml::Value;

use super::edit::with_value;
use super::{FoundSettings, SettingsProblem, read_text};
use crate::run::settings::found_in;
use crate::worker::files::cannot_write;
use crate::worker::save_settings::replace;
use crate::worker::{Query, QueryContext, QueryError};

/// What a change or a reading found: the settings as they are in the file now, or the fault.
pub type SettingsAnswer = Result<FoundSettings, SettingsProblem>;

/// Reads the settings file, which another window or program may have changed.
pub struct ReadSettings(pub PathBuf);

impl Query for ReadSettings {
    type Answer = SettingsAnswer;
    const FAILURE: &str = "The settings could not be read.";

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        let found = match read_text(&self.0) {
            Ok(text) => FoundSettings::of(text),
            Err(error) => {
                let (message, key) = (error.to_string(), String::new());
                Err(SettingsProblem { message, key, line: None })
            }
        };
        if let Ok(found) = &found {
            context.setup.policy.take_settings(&found.policy);
        }
        Ok(found)
    }
}

/// Changes one key of the settings file. Everything else stays as it is, with its comments. A file that would have a
/// fault is not written.
pub struct SetSetting {
    /// The settings file. It is created if it does not exist.
    pub file: PathBuf,
    /// The key with its table.
    pub key: String,
    /// The value that the window knows, if the change is to be made only as long as the file has it: the inner value is
    /// `None` for a missing key.
    pub known: Option<Option<Value>>,
    /// The new value; `None` for the default.
    pub value: Option<Value>,
}

impl SetSetting {
    /// Changes the file. Returns what is in it now; the fault, if it would have one.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn save(&self) -> std::io::Result<SettingsAnswer> {
        let mut answer = FoundSettings::of(String::new());
        replace(&self.file, |text| {
            // A fault that is there already is reported as it is, and nothing is changed.
            let before = match FoundSettings::of(text.to_owned()) {
                Ok(before) => before,
                fault => {
                    answer = fault;
                    return Ok(None);
                }
            };
            let now = found_in(&before.table, &self.key).cloned();
            if self.known.as_ref().is_some_and(|known| *known != now) {
                answer = Err(SettingsProblem {
                    message: "It was changed in another window or in the settings file. Look at it again."
                        .to_owned(),
                    key: self.key.clone(),
                    line: None,
                });
                return Ok(None);
            }
            let changed = with_value(text, &self.key, self.value.as_ref())?;
            answer = FoundSettings::of(changed.clone());
            Ok((answer.is_ok() && changed != text).then_some(changed))
        })?;
        Ok(answer)
    }
}

impl Query for SetSetting {
    type Answer = SettingsAnswer;
    const FAILURE: &str = "The setting could not be saved.";

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        let next = "Correct the settings file, then try again.";
        let answer = self.save().map_err(|error| cannot_write(&self.file, &error, next))?;
        if let Ok(found) = &answer {
            context.setup.policy.take_settings(&found.policy);
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(
        file: &std::path::Path,
        key: &str,
        known: Option<Option<Value>>,
        value: Option<Value>,
    ) -> SettingsAnswer {
        SetSetting { file: file.to_owned(), key: key.to_owned(), known, value }.save().unwrap()
    }

    #[test]
    fn a_value_is_saved_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deeper/settings.toml");
        let found = set(&file, "policy.walls", None, Some("required".into())).unwrap();
        assert_eq!(found.policy.walls, crate::risk::WallSetting::Required);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "[policy]\nwalls = \"required\"\n");
        let found = set(&file, "policy.walls", Some(Some("required".into())), None).unwrap();
        assert_eq!(found.policy.walls, crate::risk::WallSetting::Preferred);
    }

    /// Neither an invalid value, nor a file with a fault, nor one that has changed meanwhile is written.
    #[test]
    fn nothing_is_lost_by_a_refused_change() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        let text = "# mine\nzoom = 2.0 # large\n";
        std::fs::write(&file, text).unwrap();
        for (key, value, part) in [
            ("zoom", Value::from(9), "0.5 and 3"),
            ("policy.authorization_minutes", Value::from("soon"), "1 and 1440"),
            ("signatures.required", Value::from(3), "allowed_signers"),
            ("inbox", Value::from("relative"), "not absolute"),
            ("team", Value::from("nowhere"), "team"),
            ("shortcuts", toml::toml! { palette = "Enter" }.into(), "dialogs"),
        ] {
            let problem = set(&file, key, None, Some(value)).unwrap_err();
            assert!(problem.message.contains(part), "{key}: {problem}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
        let stale = set(&file, "zoom", Some(None), Some(1.0.into())).unwrap_err();
        assert!(stale.message.contains("another window"), "{stale}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        std::fs::write(&file, "zoom = = 2").unwrap();
        assert!(set(&file, "zoom", None, Some(1.0.into())).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "zoom = = 2");
    }
}
