//! The part of the settings file that names a model for the planner `openai-compatible` (SPEC §10).

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::policy::{SettingsError, load};

/// The table `[model]` of the settings file. Variables of the environment come before it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelSettings {
    /// The address in front of `/chat/completions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The model's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The key; better kept in the environment than in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How long an answer may take, in seconds.
    pub timeout_seconds: u32,
    /// Whether answers are wanted in pieces as they are made.
    pub stream: bool,
    /// Whether the form of a plan is given as a function to call.
    pub tools: bool,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self { url: None, name: None, key: None, timeout_seconds: 100, stream: true, tools: true }
    }
}

impl fmt::Debug for ModelSettings {
    /// Everything but the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelSettings")
            .field("url", &self.url)
            .field("name", &self.name)
            .field("key", &self.key.as_ref().map(|_| "…"))
            .field("timeout_seconds", &self.timeout_seconds)
            .field("stream", &self.stream)
            .field("tools", &self.tools)
            .finish()
    }
}

/// The file, as far as it matters here.
#[derive(Deserialize)]
struct SettingsFile {
    #[serde(default)]
    model: ModelSettings,
}

/// The model of the settings file in this folder; the default one where there is no file.
///
/// # Errors
/// A file that cannot be read or is no settings file.
pub fn load_model(settings: &Path) -> Result<ModelSettings, SettingsError> {
    load(settings, |text| {
        let file = toml::from_str::<SettingsFile>(text);
        // The parser's full error shows the line at fault, which may be the one with the key.
        file.map(|file| file.model).map_err(|error| error.message().to_owned())
    })
}
