//! The part of the settings file that names a model for the planner `openai-compatible` (SPEC §10).

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::policy::{SettingsError, load};

/// The table `[model]` of the settings file. Environment variables override it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelSettings {
    /// The address that `/chat/completions` is appended to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The model's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The API key; the environment is a better place for it than a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The time limit for an answer, in seconds.
    pub timeout_seconds: u32,
    /// Whether the model is asked to stream its answer.
    pub stream: bool,
    /// Whether the schema of a plan is sent as a function that the model calls.
    pub tools: bool,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self { url: None, name: None, key: None, timeout_seconds: 100, stream: true, tools: true }
    }
}

impl fmt::Debug for ModelSettings {
    /// All fields except the key.
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

/// The part of the settings file that this module reads.
#[derive(Deserialize)]
struct SettingsFile {
    #[serde(default)]
    model: ModelSettings,
}

/// The model in the settings file of this folder; the default one if the file does not exist.
///
/// # Errors
/// When the file cannot be read or is no settings file.
pub fn load_model(settings: &Path) -> Result<ModelSettings, SettingsError> {
    load(settings, |text| {
        let file = toml::from_str::<SettingsFile>(text);
        // The parser's full error quotes the faulty line, which may contain the key.
        file.map(|file| file.model).map_err(|error| error.message().to_owned())
    })
}
