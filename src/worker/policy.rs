//! The part of the settings file that decides about prompts and limits. The window and the headless commands read
//! it here, so that neither bypasses it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::model::ModelSettings;
use crate::plan::Tool;
use crate::risk::{EngineChoice, PlannerNeeds, PlannerSettings, Policy, UserRules, WallSetting};

/// The table `[policy]` of the settings file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicySettings {
    /// Tools that ask at every step.
    pub confirm_tools: BTreeSet<Tool>,
    /// Folders besides the workspace that tools may reach.
    pub extra_roots: Vec<PathBuf>,
    /// How long an approval waits for its run, in minutes: 1 to 1440.
    pub authorization_minutes: u32,
    /// The code engine: `auto`, `embedded` or `external`.
    pub engine: EngineChoice,
    /// The program `splice`, absolute; the one on `PATH` where this is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub splice_program: Option<PathBuf>,
    /// The settings file of the SSH client, absolute; the client's own where this is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssh_config: Option<PathBuf>,
    /// Whether local processes of a run are isolated: `required`, `preferred` or `off`.
    pub walls: WallSetting,
    /// The person's own rules for commands, unparsed, so that an error can name the rule.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command_rules: Vec<toml::Table>,
}

/// The file, as far as it matters here; the window reads the rest.
#[derive(Deserialize)]
struct SettingsFile {
    #[serde(default)]
    policy: PolicySettings,
    #[serde(default)]
    planners: BTreeMap<String, PlannerNeeds>,
    #[serde(default)]
    model: ModelSettings,
}

/// The settings exist and cannot be used. They may have been stricter than the defaults, so nothing runs
/// under the defaults instead.
#[derive(Debug, thiserror::Error)]
#[error("the settings cannot be used: {message} ({})", path.display())]
pub struct SettingsError {
    /// What is wrong.
    pub message: String,
    /// The settings file.
    pub path: PathBuf,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self {
            confirm_tools: BTreeSet::new(),
            extra_roots: Vec::new(),
            authorization_minutes: 30,
            engine: EngineChoice::default(),
            splice_program: None,
            ssh_config: None,
            walls: WallSetting::default(),
            command_rules: Vec::new(),
        }
    }
}

impl PolicySettings {
    /// The policy that the settings make.
    ///
    /// # Errors
    /// The sentence that says which value is out of its bounds, or which rule is bad.
    pub fn policy(&self) -> Result<Policy, String> {
        if !(1..=1_440).contains(&self.authorization_minutes) {
            let minutes = self.authorization_minutes;
            return Err(format!(
                "authorization_minutes is {minutes}, and must lie between 1 and 1440"
            ));
        }
        if let Some(root) = self.extra_roots.iter().find(|root| !root.is_absolute()) {
            return Err(format!("extra_roots has {}, which is not absolute", root.display()));
        }
        let named = [("splice_program", &self.splice_program), ("ssh_config", &self.ssh_config)];
        for (name, path) in named {
            if let Some(path) = path.as_ref().filter(|path| !path.is_absolute()) {
                return Err(format!("{name} is {}, which is not absolute", path.display()));
            }
        }
        Ok(Policy {
            confirm_tools: self.confirm_tools.clone(),
            extra_roots: self.extra_roots.clone(),
            authorization_ttl_ms: i64::from(self.authorization_minutes) * 60_000,
            engine: self.engine,
            splice_program: self.splice_program.clone(),
            ssh_config: self.ssh_config.clone(),
            command_rules: UserRules::read(&self.command_rules).map_err(|bad| bad.to_string())?,
            walls: self.walls,
            ..Policy::default()
        })
    }
}

/// The policy in the text of a settings file, whatever the rest of the file says.
///
/// # Errors
/// A text that is no settings file, a value out of its bounds, or a bad rule.
pub fn read_policy(text: &str) -> Result<Policy, String> {
    let file: SettingsFile = toml::from_str(text).map_err(|error| error.to_string())?;
    let model = serde_json::to_string(&file.model).map_err(|error| error.to_string())?;
    let planner_settings = Some(PlannerSettings(model));
    Ok(Policy { planners: file.planners, planner_settings, ..file.policy.policy()? })
}

/// The policy of the settings file in this folder; the default one where there is no file.
///
/// # Errors
/// A file that cannot be read, is no settings file, or holds a value out of its bounds.
pub fn load_policy(settings: &Path) -> Result<Policy, SettingsError> {
    load(settings, read_policy)
}

/// What a settings file in this folder says; the default where there is no file.
///
/// # Errors
/// A file that cannot be read, or that `read` refuses.
pub(super) fn load<T: Default>(
    settings: &Path,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, SettingsError> {
    let path = settings.join("settings.toml");
    let read = match std::fs::read_to_string(&path) {
        Ok(text) => read(&text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(T::default()),
        Err(error) => Err(error.to_string()),
    };
    read.map_err(|message| SettingsError { message, path })
}
