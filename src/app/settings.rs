//! The settings of the person, in one TOML file.
//!
//! A file with a fault is reported and never overwritten, because it may have been stricter than the defaults. Until it
//! is corrected, every step asks for confirmation. If its policy is unusable (unreadable file, invalid TOML, invalid
//! policy), nothing runs, as on the command line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::plan::TOOLS;
use crate::risk::{PlannerNeeds, Policy};
use crate::run::settings::Shortcuts;
use crate::ui::plan::{MustSee, RecentPlan};
use crate::ui::splits::Splits;
use crate::worker::settings_file::read_file;
use crate::worker::{
    ModelSettings, PolicySettings, SignatureSettings, log_level_of, read_policy, team_of,
};

/// The names of the themes in the settings file.
#[derive(Serialize, Deserialize)]
#[serde(remote = "egui::ThemePreference", rename_all = "snake_case")]
enum ThemeName {
    System,
    Light,
    Dark,
}

/// How much may move in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Motion {
    /// As much as on the desktop.
    #[default]
    System,
    /// Nothing.
    Reduced,
    /// Everything.
    Full,
}

/// The table `[agents]` of the settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AgentSettings {
    /// Whether the window offers rules for identical calls of one session of an agent.
    pub(super) session_rules: bool,
}

/// The content of the settings file. With the others only the sizes of the window and its panels are saved; each of the
/// other values is saved by itself when it is changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Settings {
    #[serde(with = "ThemeName", skip_serializing)]
    pub(super) theme: egui::ThemePreference,
    /// Whether the theme is used with higher contrast.
    #[serde(skip_serializing)]
    pub(super) high_contrast: bool,
    /// How much may move.
    #[serde(skip_serializing)]
    pub(super) motion: Motion,
    /// The zoom factor of the window; 1 is the normal size.
    #[serde(skip_serializing)]
    pub(super) zoom: f32,
    /// The keys of commands that the person chose, by the names of the commands.
    #[serde(skip_serializing)]
    pub(super) shortcuts: BTreeMap<String, String>,
    /// The command that opens a file in the person's editor, with the placeholders `{file}`, `{line}` and `{column}`;
    /// empty if none is set.
    #[serde(skip_serializing)]
    pub(super) editor_command: String,
    /// Whether the desktop notifies the person while the window is not in front.
    #[serde(skip_serializing)]
    pub(super) notifications: bool,
    /// The folder of the inbox; `None` for the one in the user's data folder.
    #[serde(skip_serializing)]
    pub(super) inbox: Option<PathBuf>,
    /// The level of the log.
    #[serde(skip_serializing)]
    pub(super) log: Option<String>,
    /// The server of the team's evidence, without a password.
    #[serde(skip_serializing)]
    pub(super) team: Option<String>,
    /// The width and height of the window, in points.
    pub(super) window: [f32; 2],
    /// The steps that must be looked at before a plan can be authorized.
    #[serde(skip_serializing)]
    pub(super) must_see: MustSee,
    #[serde(skip_serializing)]
    pub(super) policy: PolicySettings,
    /// The model for the headless planner.
    #[serde(skip_serializing)]
    pub(super) model: ModelSettings,
    /// The permissions of planners, by name of the planner.
    #[serde(skip_serializing)]
    pub(super) planners: BTreeMap<String, PlannerNeeds>,
    /// What agents may get without a question.
    #[serde(skip_serializing)]
    pub(super) agents: AgentSettings,
    /// The key that signs, and what it signs.
    #[serde(skip_serializing)]
    pub(super) signatures: SignatureSettings,
    /// The sizes that the person gave to panels, in points, by the name of the panel.
    pub(super) panels: Splits,
    /// The recent plans. Each change of the list is saved by itself (`recent.rs`), because all windows share it.
    #[serde(skip_serializing)]
    pub(super) recent: Vec<RecentPlan>,
    /// The saved searches of the evidence, likewise (`searches.rs`).
    #[serde(skip_serializing)]
    pub(super) searches: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: egui::ThemePreference::System,
            high_contrast: false,
            motion: Motion::default(),
            zoom: 1.0,
            shortcuts: BTreeMap::new(),
            editor_command: String::new(),
            must_see: MustSee::default(),
            notifications: true,
            inbox: None,
            log: Some("info".to_owned()),
            team: None,
            window: [1280.0, 800.0],
            policy: PolicySettings::default(),
            model: ModelSettings::default(),
            planners: BTreeMap::new(),
            agents: AgentSettings::default(),
            signatures: SignatureSettings::default(),
            panels: Splits::default(),
            recent: Vec::new(),
            searches: Vec::new(),
        }
    }
}

impl Settings {
    /// The settings with the size of the window limited.
    ///
    /// # Errors
    /// The zoom factor is out of bounds or the policy is invalid.
    fn validated(mut self) -> Result<Self, String> {
        if !(0.5..=3.0).contains(&self.zoom) {
            return Err(format!("zoom is {}, and must lie between 0.5 and 3", self.zoom));
        }
        self.policy.policy()?;
        self.signatures.signing()?;
        self.team.as_deref().map(team_of).transpose()?;
        Shortcuts::of(&self.shortcuts).map_err(|fault| fault.to_string())?;
        self.log.as_deref().map(log_level_of).transpose()?;
        for side in &mut self.window {
            *side = if side.is_finite() { side.clamp(480.0, 8_192.0) } else { 800.0 };
        }
        Ok(self)
    }
}

/// A fault of the settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SettingsFault {
    pub(super) summary: String,
    pub(super) details: String,
    pub(super) next: String,
}

/// The settings that apply, and the fault of their file, if any.
#[derive(Debug)]
pub(super) struct LoadedSettings {
    /// The defaults if the file has a fault.
    pub(super) settings: Settings,
    /// The policy for reviews and runs.
    pub(super) policy: Policy,
    pub(super) file: Option<PathBuf>,
    /// The keys and values of the file.
    pub(super) table: toml::Table,
    pub(super) fault: Option<SettingsFault>,
}

impl LoadedSettings {
    fn defaults(file: Option<PathBuf>) -> Self {
        let table = toml::Table::new();
        Self { settings: Settings::default(), policy: Policy::default(), file, table, fault: None }
    }

    /// The result for a file with the fault `details`. Every step asks for confirmation; with an unusable policy,
    /// nothing runs.
    fn with_fault(file: Option<PathBuf>, details: String, policy: Result<Policy, String>) -> Self {
        let path = file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
        let mut policy = policy.unwrap_or_else(|why| {
            Policy::refusing(format!("the settings cannot be used: {} ({path})", why.trim_end()))
        });
        policy.confirm_tools = TOOLS.iter().map(|spec| spec.tool).collect();
        let summary = if policy.refusal.is_some() {
            "The settings file cannot be used. Until it is corrected, no plan can be authorized or run."
        } else {
            "The settings file has an invalid value. Until it is corrected, every step asks for confirmation."
        };
        let fault = SettingsFault {
            summary: summary.into(),
            details,
            next: format!(
                "Correct {path}, then start Countersign again. Until then Countersign does not change the file."
            ),
        };
        let table = toml::Table::new();
        Self { settings: Settings::default(), policy, file, table, fault: Some(fault) }
    }
}

/// Reads the settings file. If there is none, returns the defaults.
pub(super) fn load(file: Option<PathBuf>) -> LoadedSettings {
    let text = match file.as_deref().map(read_file) {
        None => return LoadedSettings::defaults(file),
        Some(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            return LoadedSettings::defaults(file);
        }
        Some(Err(error)) => {
            return LoadedSettings::with_fault(file, error.to_string(), Err(error.to_string()));
        }
        Some(Ok(text)) => text,
    };
    let policy = read_policy(&text);
    match (parse(&text), policy) {
        (Ok(settings), Ok(policy)) => {
            let table = text.parse().unwrap_or_default();
            LoadedSettings { settings, policy, file, table, fault: None }
        }
        (Err(details), policy) => LoadedSettings::with_fault(file, details, policy),
        (Ok(_), Err(details)) => LoadedSettings::with_fault(file, details.clone(), Err(details)),
    }
}

/// The settings in the text of a file.
///
/// # Errors
/// Its fault.
pub(super) fn parse(text: &str) -> Result<Settings, String> {
    toml::from_str::<Settings>(text).map_err(|error| error.to_string())?.validated()
}

/// The sizes of the window and its panels, as TOML.
///
/// # Errors
/// A value cannot be represented in TOML.
pub(super) fn to_toml(settings: &Settings) -> Result<String, toml::ser::Error> {
    toml::to_string_pretty(settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::SaveSettings;

    #[test]
    fn settings_read_back_as_they_were_saved() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deeper/settings.toml");
        let panels = [("inspector".to_owned(), 512.0)].into();
        let settings = Settings { window: [900.0, 600.0], panels, ..Settings::default() };
        save(&file, &settings);
        let loaded = load(Some(file));
        assert_eq!(loaded.settings, settings);
        assert_eq!(loaded.fault, None);
    }

    /// The headless commands refuse every other entry, and the window by this type.
    #[test]
    fn the_headless_commands_know_the_same_entries() {
        let error = parse("heron = 1").unwrap_err();
        let known = error.split("expected one of ").nth(1).unwrap();
        let known: std::collections::BTreeSet<&str> =
            known.split(['`', ',', '\n']).map(str::trim).filter(|it| !it.is_empty()).collect();
        assert_eq!(known, crate::worker::SETTINGS.into());
    }

    /// A key cannot be in the file without a row on the settings page, in the documentation and in `countersign settings`.
    #[test]
    fn every_key_has_a_row() {
        use crate::run::settings::{SETTINGS, row_of};
        let tables = ["policy", "model", "agents", "signatures", "planners.it"];
        let mut found = std::collections::BTreeSet::new();
        for table in [""].iter().chain(&tables) {
            let text = match *table {
                "" => "heron = 1".to_owned(),
                table => format!("[{table}]\nheron = 1"),
            };
            let error = parse(&text).unwrap_err();
            let known = error.split("expected ").nth(1).unwrap_or_else(|| panic!("{error}"));
            let known = known.split('`').skip(1).step_by(2).filter(|it| !it.contains('\n'));
            for key in known {
                let is_table =
                    table.is_empty() && tables.iter().any(|it| it.split('.').next() == Some(key));
                let key = if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") };
                if !is_table {
                    let row = row_of(&key).unwrap_or_else(|| panic!("{key} has no row"));
                    found.insert(row.key);
                }
            }
        }
        let rows: std::collections::BTreeSet<_> = SETTINGS.iter().map(|row| row.key).collect();
        assert_eq!(found, rows, "every row is about a key");
    }

    /// The defaults of the rows are those of the program.
    #[test]
    fn the_rows_have_the_defaults() {
        use crate::run::settings::{SETTINGS, default_of};
        use crate::worker::settings_file::FoundSettings;
        for row in SETTINGS.iter().filter(|row| !row.key.contains('*')) {
            let Some(default) = default_of(row) else { continue };
            let (table, key) = row.key.split_once('.').unwrap_or(("", row.key));
            let text = match table {
                "" => format!("{key} = {default}"),
                table => format!("[{table}]\n{key} = {default}"),
            };
            assert_eq!(parse(&text), Ok(Settings::default()), "{text}");
            assert!(FoundSettings::of(text).is_ok());
        }
    }

    /// What the window and the headless commands accept in a change is what the window can read at its start.
    #[test]
    fn what_is_saved_can_be_read() {
        use crate::worker::settings_file::FoundSettings;
        for text in [
            "zoom = 1",
            "zoom = 9",
            "theme = 'red'",
            "motion = 'reduced'",
            "motion = 'little'",
            "must_see = 'everything'",
            "must_see = 'all'",
            "inbox = '/a'",
            "inbox = 'a'",
            "team = 'postgres://ada@db/evidence'",
            "team = 'a'",
            "[agents]\nsession_rules = true",
            "[agents]\nsession_rules = 1",
            "[shortcuts]\npalette = 'F12'",
            "[shortcuts]\npalette = 'Ctrl+O'",
            "[shortcuts]\nfly = 'F12'",
            "[policy]\nextra_roots = ['a']",
            "[policy]\nengine = 'embedded'",
            "[policy]\nengine = 'steam'",
            "[signatures]\nseconds = 0",
            "[signatures]\nrequired = 2",
            "[planners.'a.py']\nnetwork = true\nwrite = ['.']",
            "[planners.a]\nfly = true",
            "[model]\nstream = 1",
        ] {
            let saved = FoundSettings::of(text.to_owned()).map(|_| ());
            let window = parse(text).map(|_| ()).and(read_policy(text).map(|_| ()));
            assert_eq!(window.is_ok(), saved.is_ok(), "{text}: {window:?} {saved:?}");
        }
    }

    #[test]
    fn clashing_keys_are_a_fault_that_names_both() {
        let fault = load_faulty("[shortcuts]\npalette = 'Ctrl+O'").fault.unwrap();
        assert!(
            fault.details.contains("palette") && fault.details.contains("open_plan"),
            "{fault:?}"
        );
    }

    #[test]
    fn no_file_means_the_defaults() {
        let loaded = load(Some("/nonexistent/settings.toml".into()));
        assert_eq!((loaded.settings, loaded.fault), (Settings::default(), None));
    }

    /// The fault is reported, and the file is not changed.
    #[test]
    fn a_faulty_file_makes_every_step_ask() {
        for text in ["zoom = 9", "zoom = \"big\"", "confirm = true", "walls = \"off\""] {
            let policy = load_faulty(text).policy;
            assert_eq!(policy.confirm_tools.len(), TOOLS.len(), "{text}");
            assert_eq!(policy.refusal, None, "{text}");
        }
        // The rules for commands still apply if another setting is faulty.
        let policy = load_faulty(&format!("zoom = 9\n{RULE}")).policy;
        assert_eq!(policy.command_rules.len(), 1);
    }

    #[test]
    fn an_unusable_policy_refuses_runs() {
        for text in [
            "zoom =",
            "[policy]\nconfirm_tools = [\"file_wirte\"]",
            "[policy]\nauthorization_minutes = 0",
            "[policy]\nextra_roots = [\"relative\"]",
            &RULE.replace("'make all'", "'cargo build'"),
            &RULE.replace("reason = 'no'", ""),
        ] {
            let policy = load_faulty(text).policy;
            assert!(policy.refusal.is_some(), "{text}");
            assert_eq!(policy.confirm_tools.len(), TOOLS.len(), "{text}");
        }
        let why = load_faulty(&RULE.replace("'make all'", "'cargo build'")).policy.refusal.unwrap();
        assert!(why.contains("\"mine\"") && why.contains("settings.toml"), "{why}");
    }

    #[test]
    fn saving_settings_keeps_command_rules() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        std::fs::write(&file, RULE).unwrap();
        let first = load(Some(file.clone()));
        assert_eq!((first.policy.command_rules.len(), first.fault), (1, None));
        save(&file, &first.settings);
        let reloaded = load(Some(file));
        assert_eq!(reloaded.policy.digest(), first.policy.digest());
        assert_eq!(reloaded.policy.command_rules.len(), 1);
    }

    fn save(file: &std::path::Path, settings: &Settings) {
        let values = to_toml(settings).unwrap();
        SaveSettings { file: file.to_owned(), values }.save().unwrap();
    }

    const RULE: &str = "[[policy.command_rules]]\nid = 'mine'\nprefix = ['make']\nlevel = 'blocked'\nreason = 'no'\nmust_match = ['make all']\nmust_not_match = ['ls']\n";

    /// Loads a settings file with this text, which must have a fault.
    fn load_faulty(text: &str) -> LoadedSettings {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        std::fs::write(&file, text).unwrap();
        let loaded = load(Some(file.clone()));
        assert!(loaded.fault.is_some(), "{text}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "the file is unchanged");
        loaded
    }
}
