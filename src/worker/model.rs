//! The table `[model]` of the settings file: the model for the planner `openai-compatible` (SPEC §10).

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::SettingsError;
use super::policy::load;
use crate::risk::Policy;
use crate::run::text::address_without_secrets;

/// The table `[model]`. Environment variables override it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelSettings {
    /// The base URL, to which `/chat/completions` is appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The model's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The API key. An environment variable is safer than this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The time limit for an answer, in seconds.
    pub timeout_seconds: u32,
    /// Whether to request a streamed answer.
    pub stream: bool,
    /// Whether to send the schema of a plan as a function for the model to call.
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

impl ModelSettings {
    /// The environment variables that name the server; the first one that is set counts.
    pub const URL_VARIABLES: [&str; 2] = ["COUNTERSIGN_MODEL_URL", "OPENAI_BASE_URL"];
    /// The environment variables that name the model; the first one that is set counts.
    pub const NAME_VARIABLES: [&str; 2] = ["COUNTERSIGN_MODEL", "OPENAI_MODEL"];

    /// The settings with the address and the name in environment variables in place of their own. `variable` returns the
    /// value of one.
    #[must_use]
    pub fn overridden(self, variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let url = Self::URL_VARIABLES.into_iter().find_map(set).or(self.url);
        let name = Self::NAME_VARIABLES.into_iter().find_map(set).or(self.name);
        Self { url, name, ..self }
    }

    /// The settings that a policy passes to the planner.
    pub fn of(policy: &Policy) -> Self {
        let settings = policy.planner_settings.as_ref();
        settings.and_then(|settings| serde_json::from_str(&settings.0).ok()).unwrap_or_default()
    }

    /// The model and its server in words, without secrets; `None` if one of them is not set.
    pub fn server(&self) -> Option<String> {
        let (url, name) = (self.url.as_ref()?, self.name.as_ref()?);
        Some(format!("{name} at {}", address_without_secrets(url)))
    }
}

/// The parts of the settings file that this module reads.
#[derive(Deserialize)]
struct SettingsFile {
    #[serde(default)]
    model: ModelSettings,
}

/// The model settings in the settings file of this folder; the defaults if the file does not exist.
///
/// # Errors
/// When the file cannot be read, is not TOML, or has an invalid table `[model]`.
pub fn load_model(settings: &Path) -> Result<ModelSettings, SettingsError> {
    load(settings, |text| {
        let file = toml::from_str::<SettingsFile>(text);
        // The complete error quotes the faulty line, which may contain the key.
        file.map(|file| file.model).map_err(|error| error.message().to_owned())
    })
}
