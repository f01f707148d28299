//! The level of the log in the settings file.

use std::path::Path;

use log::LevelFilter;
use serde::Deserialize;

use super::SettingsError;
use super::policy::{load, unparsed};
use crate::logging::level_named;

/// The level of the log in the settings file of this folder; `None` if it names none.
///
/// # Errors
/// When the file cannot be read or is not TOML, or there is no level with this name.
pub fn load_log_level(settings: &Path) -> Result<Option<LevelFilter>, SettingsError> {
    #[derive(Deserialize)]
    struct OnlyLog {
        log: Option<String>,
    }
    // Commands that need no settings must not wait for the other end of a pipe.
    if std::fs::metadata(settings.join("settings.toml")).is_ok_and(|it| !it.is_file()) {
        return Ok(None);
    }
    load(settings, |text| {
        let file: OnlyLog = toml::from_str(text).map_err(|error| unparsed(text, &error))?;
        file.log.as_deref().map(log_level_of).transpose()
    })
}

/// The level with this name.
///
/// # Errors
/// A sentence with the names that there are.
pub fn log_level_of(name: &str) -> Result<LevelFilter, String> {
    level_named(name)
}
