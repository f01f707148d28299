//! The part of the settings file that decides about confirmations and limits. The window and the headless commands
//! both read it here, so that the same policy applies to both.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::settings_file::{read_file, shown_fault};
use super::{ModelSettings, SignatureSettings};
use crate::plan::Tool;
use crate::risk::{EngineChoice, PlannerNeeds, PlannerSettings, Policy, UserRules, WallSetting};

/// The table `[policy]` of the settings file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicySettings {
    /// Tools whose steps always require a confirmation.
    pub confirm_tools: BTreeSet<Tool>,
    /// Folders outside the workspace that tools may use.
    pub extra_roots: Vec<PathBuf>,
    /// The time in which an authorized plan must be started, in minutes: 1 to 1440.
    pub authorization_minutes: u32,
    /// The symbol engine: `auto`, `embedded` or `external`.
    pub engine: EngineChoice,
    /// The absolute path of the program `splice`; by default the one on `PATH`.
    pub splice_program: Option<PathBuf>,
    /// The absolute path of the settings file of the SSH client; by default the client's own.
    pub ssh_config: Option<PathBuf>,
    /// Whether local processes of a run are isolated: `required`, `preferred` or `off`.
    pub walls: WallSetting,
    /// The person's own rules for commands, unparsed, so that an error can name the rule.
    pub command_rules: Vec<toml::Table>,
}

/// The parts of the settings file that this module reads.
#[derive(Deserialize)]
struct SettingsFile {
    #[serde(default)]
    policy: PolicySettings,
    #[serde(default)]
    planners: BTreeMap<String, PlannerNeeds>,
    #[serde(default)]
    model: ModelSettings,
    #[serde(default)]
    signatures: SignatureSettings,
    inbox: Option<PathBuf>,
}

/// The entries of the settings file. The window, which reads all of them, refuses any other one by itself.
pub const SETTINGS: [&str; 20] = [
    "theme",
    "high_contrast",
    "motion",
    "shortcuts",
    "zoom",
    "editor_command",
    "notifications",
    "inbox",
    "log",
    "team",
    "window",
    "must_see",
    "policy",
    "model",
    "planners",
    "agents",
    "signatures",
    "panels",
    "recent",
    "searches",
];

/// The settings file exists and cannot be used. It may have been stricter than the defaults, so nothing runs under
/// the defaults instead.
#[derive(Debug, thiserror::Error)]
#[error("the settings cannot be used: {message} ({})", path.display())]
pub struct SettingsError {
    /// What is wrong with the file.
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
    /// The policy of these settings.
    ///
    /// # Errors
    /// A message that names the value out of bounds, the relative path or the invalid rule.
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
        let paths = [("splice_program", &self.splice_program), ("ssh_config", &self.ssh_config)];
        for (name, path) in paths {
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

/// The policy in the text of a settings file, from its tables `policy`, `planners`, `model` and `signatures`. Other entries are
/// ignored.
///
/// # Errors
/// When the text is not TOML, one of these tables is invalid, or [`PolicySettings::policy`] fails.
pub fn read_policy(text: &str) -> Result<Policy, String> {
    let file: SettingsFile = toml::from_str(text).map_err(|error| unparsed(text, &error))?;
    let model = serde_json::to_string(&file.model).map_err(|error| error.to_string())?;
    let planner_settings = Some(PlannerSettings(model));
    // The default inbox is in one of the folders that are the program's own anyway.
    let own_folders = inbox_of(file.inbox)?.into_iter().collect();
    let signing = file.signatures.signing()?;
    let policy = file.policy.policy()?;
    Ok(Policy { planners: file.planners, planner_settings, own_folders, signing, ..policy })
}

/// The policy in the settings file of this folder; the default one if the file does not exist.
///
/// # Errors
/// When the file cannot be read, has an entry that is not known, or [`read_policy`] fails.
pub fn load_policy(settings: &Path) -> Result<Policy, SettingsError> {
    let loaded = load(settings, |text| {
        check_entries(text)?;
        read_policy(text)
    });
    match &loaded {
        Ok(_) => log::info!("settings loaded"),
        // The message may quote them.
        Err(error) => log::error!("settings cannot be used file={:?}", error.path),
    }
    loaded
}

/// Refuses an entry that nothing reads. The person may have meant to be stricter by it.
fn check_entries(text: &str) -> Result<(), String> {
    let file: toml::Table = toml::from_str(text).map_err(|error| unparsed(text, &error))?;
    let other = file.into_iter().find(|(key, _)| !SETTINGS.contains(&key.as_str()));
    let Some((other, value)) = other else { return Ok(()) };
    // An entry of a table at the wrong place.
    let of_policy = toml::Table::from_iter([(other.clone(), value)]);
    let hint = match of_policy.try_into::<PolicySettings>() {
        Ok(_) => ": it belongs into the table [policy]",
        Err(_) => "",
    };
    Err(format!("there is no setting {other:?}{hint}"))
}

/// The folder of the inbox in the settings file of this folder; `None` for the one in the user's data folder.
///
/// # Errors
/// When the file cannot be read or is not TOML, or the path is not absolute.
pub fn load_inbox(settings: &Path) -> Result<Option<PathBuf>, SettingsError> {
    #[derive(Deserialize)]
    struct OnlyInbox {
        inbox: Option<PathBuf>,
    }
    load(settings, |text| {
        let file: OnlyInbox = toml::from_str(text).map_err(|error| unparsed(text, &error))?;
        inbox_of(file.inbox)
    })
}

fn inbox_of(inbox: Option<PathBuf>) -> Result<Option<PathBuf>, String> {
    match inbox {
        Some(path) if !path.is_absolute() => {
            Err(format!("inbox is {}, which is not absolute", path.display()))
        }
        inbox => Ok(inbox),
    }
}

/// Applies `parse` to the settings file in this folder. Returns the default if the file does not exist.
///
/// # Errors
/// When the file cannot be read, or `parse` fails.
pub(super) fn load<T: Default>(
    settings: &Path,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, SettingsError> {
    let path = settings.join("settings.toml");
    let parsed = match read_file(&path) {
        Ok(text) => parse(&text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(T::default()),
        Err(error) => Err(error.to_string()),
    };
    parsed.map_err(|message| SettingsError { message: shown_fault("", message), path })
}

/// What a parser says of a text, with the line. Its whole message would quote the line, which may have a secret.
pub(super) fn unparsed(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    match before {
        Some(before) => {
            let line = before.matches('\n').count() + 1;
            format!("{} at line {line}", error.message())
        }
        None => error.message().to_owned(),
    }
}
