//! The settings of the person, in one TOML file.
//!
//! A file that cannot be read is reported and never overwritten, because it may have been stricter than the defaults.
//! Until it is corrected, every step asks for confirmation. If its policy cannot be used, nothing runs, as on the
//! command line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::plan::TOOLS;
use crate::risk::{PlannerNeeds, Policy};
use crate::ui::plan::RecentPlan;
use crate::worker::{ModelSettings, PolicySettings, read_policy};

/// The names of the themes in the file.
#[derive(Serialize, Deserialize)]
#[serde(remote = "egui::ThemePreference", rename_all = "snake_case")]
enum ThemeName {
    System,
    Light,
    Dark,
}

/// The contents of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Settings {
    #[serde(with = "ThemeName")]
    pub(super) theme: egui::ThemePreference,
    /// Whether the theme has a higher contrast.
    pub(super) high_contrast: bool,
    /// The zoom factor of the window; 1 is the normal size.
    pub(super) zoom: f32,
    /// The command that opens a file in the person's editor, with `{file}`, `{line}` and `{column}`; empty if none is
    /// set.
    pub(super) editor_command: String,
    /// The width and height of the window in points.
    pub(super) window: [f32; 2],
    /// The window reads this table and the next two, and does not write them.
    #[serde(skip_serializing)]
    pub(super) policy: PolicySettings,
    /// The model for the headless planner.
    #[serde(skip_serializing)]
    pub(super) model: ModelSettings,
    /// The permissions of planners, by the name of the planner.
    #[serde(skip_serializing)]
    pub(super) planners: BTreeMap<String, PlannerNeeds>,
    pub(super) recent: Vec<RecentPlan>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: egui::ThemePreference::System,
            high_contrast: false,
            zoom: 1.0,
            editor_command: String::new(),
            window: [1280.0, 800.0],
            policy: PolicySettings::default(),
            model: ModelSettings::default(),
            planners: BTreeMap::new(),
            recent: Vec::new(),
        }
    }
}

impl Settings {
    fn checked(mut self) -> Result<Self, String> {
        if !(0.5..=3.0).contains(&self.zoom) {
            return Err(format!("zoom is {}, and must lie between 0.5 and 3", self.zoom));
        }
        self.policy.policy()?;
        for side in &mut self.window {
            *side = if side.is_finite() { side.clamp(480.0, 8_192.0) } else { 800.0 };
        }
        Ok(self)
    }
}

/// A fault of the settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) summary: String,
    pub(super) details: String,
    pub(super) next: String,
}

/// The settings, and the fault of their file, if any.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) settings: Settings,
    /// The policy for runs.
    pub(super) policy: Policy,
    pub(super) file: Option<PathBuf>,
    pub(super) problem: Option<Problem>,
}

impl Loaded {
    fn defaults(file: Option<PathBuf>) -> Self {
        Self { settings: Settings::default(), policy: Policy::default(), file, problem: None }
    }

    fn faulty(file: Option<PathBuf>, details: String, policy: Result<Policy, String>) -> Self {
        let place = file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
        let mut policy = policy.unwrap_or_else(|why| {
            Policy::refusing(format!("the settings cannot be used: {} ({place})", why.trim_end()))
        });
        policy.confirm_tools = TOOLS.iter().map(|spec| spec.tool).collect();
        let summary = if policy.refusal.is_some() {
            "The settings file cannot be used. Until it can, no plan can be authorized or run."
        } else {
            "The settings file cannot be read. Until it can, every step asks."
        };
        let problem = Problem {
            summary: summary.into(),
            details,
            next: format!(
                "Correct {place}, then start Countersign again. Until then nothing is written to it."
            ),
        };
        Self { settings: Settings::default(), policy, file, problem: Some(problem) }
    }
}

/// Reads the file. Without one, returns the defaults.
pub(super) fn load(file: Option<PathBuf>) -> Loaded {
    let text = match file.as_ref().map(std::fs::read_to_string) {
        None => return Loaded::defaults(file),
        Some(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            return Loaded::defaults(file);
        }
        Some(Err(error)) => {
            return Loaded::faulty(file, error.to_string(), Err(error.to_string()));
        }
        Some(Ok(text)) => text,
    };
    let policy = read_policy(&text);
    match (parse(&text), policy) {
        (Ok(settings), Ok(policy)) => Loaded { settings, policy, file, problem: None },
        (Err(details), policy) => Loaded::faulty(file, details, policy),
        (Ok(_), Err(details)) => Loaded::faulty(file, details.clone(), Err(details)),
    }
}

fn parse(text: &str) -> Result<Settings, String> {
    toml::from_str::<Settings>(text).map_err(|error| error.to_string())?.checked()
}

/// The settings that the window writes, as TOML.
///
/// # Errors
/// A value cannot be represented in TOML.
pub(super) fn of_window(settings: &Settings) -> Result<String, toml::ser::Error> {
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
        let mut settings = Settings {
            zoom: 2.0,
            theme: egui::ThemePreference::Dark,
            high_contrast: true,
            editor_command: "code -g \"{file}:{line}\"".to_owned(),
            ..Settings::default()
        };
        settings.recent.push(RecentPlan {
            path: "/p.json".into(),
            name: "P".into(),
            detail: "".into(),
        });
        save(&file, &settings);
        let loaded = load(Some(file));
        assert_eq!(loaded.settings, settings);
        assert_eq!(loaded.problem, None);
    }

    #[test]
    fn no_file_means_the_defaults() {
        let loaded = load(Some("/nonexistent/settings.toml".into()));
        assert_eq!((loaded.settings, loaded.problem), (Settings::default(), None));
    }

    /// The fault is reported, and the file is not changed.
    #[test]
    fn a_faulty_file_makes_every_step_ask() {
        for text in ["zoom = 9", "zoom = \"big\"", "confirm = true"] {
            let policy = faulty(text).policy;
            assert_eq!(policy.confirm_tools.len(), TOOLS.len(), "{text}");
            assert_eq!(policy.refusal, None, "{text}");
        }
        // The rules for commands are kept although another setting is faulty.
        let policy = faulty(&format!("zoom = 9\n{RULE}")).policy;
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
            let policy = faulty(text).policy;
            assert!(policy.refusal.is_some(), "{text}");
            assert_eq!(policy.confirm_tools.len(), TOOLS.len(), "{text}");
        }
        let why = faulty(&RULE.replace("'make all'", "'cargo build'")).policy.refusal.unwrap();
        assert!(why.contains("\"mine\"") && why.contains("settings.toml"), "{why}");
    }

    #[test]
    fn saving_settings_keeps_command_rules() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        std::fs::write(&file, RULE).unwrap();
        let first = load(Some(file.clone()));
        assert_eq!((first.policy.command_rules.len(), first.problem), (1, None));
        save(&file, &first.settings);
        let again = load(Some(file));
        assert_eq!(again.policy.digest(), first.policy.digest());
        assert_eq!(again.policy.command_rules.len(), 1);
    }

    fn save(file: &std::path::Path, settings: &Settings) {
        let values = of_window(settings).unwrap();
        SaveSettings { file: file.to_owned(), values }.save().unwrap();
    }

    const RULE: &str = "[[policy.command_rules]]\nid = 'mine'\nprefix = ['make']\nlevel = 'blocked'\nreason = 'no'\nmust_match = ['make all']\nmust_not_match = ['ls']\n";

    fn faulty(text: &str) -> Loaded {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        std::fs::write(&file, text).unwrap();
        let loaded = load(Some(file.clone()));
        assert!(loaded.problem.is_some(), "{text}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "kept as it is");
        loaded
    }
}
