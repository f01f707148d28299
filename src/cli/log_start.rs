//! Starts the log of the program, for the window and for commands.

use log::LevelFilter;

use super::args::LevelWord;
use crate::logging::{self, DEFAULT, VARIABLE, level_named};
use crate::worker::{default_folders, load_log_level};

/// Starts the log at the level of the command line, else of the environment, else of the settings, and logs the start of
/// `what`: a command or the window.
pub(super) fn start_log(word: Option<LevelWord>, what: &str) {
    let folders = default_folders();
    let named = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty());
    let named = named.as_deref().map(level_named);
    let of_settings =
        || folders.as_ref().and_then(|folders| load_log_level(&folders.settings).transpose());
    let level = match (word, &named) {
        (Some(word), _) => Ok(LevelFilter::from(word)),
        (None, Some(Ok(level))) => Ok(*level),
        (None, _) => of_settings().unwrap_or(Ok(DEFAULT)),
    };
    let state = folders.as_ref().map(|folders| folders.state.as_path());
    logging::start(state, *level.as_ref().unwrap_or(&DEFAULT));
    log::info!("started command={what} version={}", env!("CARGO_PKG_VERSION"));
    if let Some(Err(why)) = named {
        log::warn!("{VARIABLE} is not used reason={why:?}");
    }
    if level.is_err() {
        // The details may quote the settings, and are said where all of the settings are read.
        log::warn!("the level of the settings is not used");
    }
}
