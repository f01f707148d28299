//! What the person has chosen, in one TOML file.
//!
//! A file that cannot be read is said so, kept, and meanwhile every step asks: what it settled may
//! have been stricter than the defaults.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::plan::TOOLS;
use crate::ui::plan::RecentPlan;
use crate::worker::PolicySettings;

/// Which theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ThemeChoice {
    /// The system's.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl ThemeChoice {
    pub(super) fn preference(self) -> egui::ThemePreference {
        match self {
            Self::System => egui::ThemePreference::System,
            Self::Light => egui::ThemePreference::Light,
            Self::Dark => egui::ThemePreference::Dark,
        }
    }

    pub(super) fn of(preference: egui::ThemePreference) -> Self {
        match preference {
            egui::ThemePreference::System => Self::System,
            egui::ThemePreference::Light => Self::Light,
            egui::ThemePreference::Dark => Self::Dark,
        }
    }
}

/// Everything in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Settings {
    pub(super) theme: ThemeChoice,
    /// Whether the theme has more contrast than usual.
    pub(super) high_contrast: bool,
    /// The size of everything, 1 being the usual one.
    pub(super) zoom: f32,
    /// How a file is opened in the person's editor, with `{file}`, `{line}` and `{column}`; empty where
    /// none is set.
    pub(super) editor_command: String,
    /// Width and height of the window in points.
    pub(super) window: [f32; 2],
    pub(super) policy: PolicySettings,
    pub(super) recent: Vec<Recent>,
}

/// A plan that was open lately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recent {
    path: PathBuf,
    name: String,
    #[serde(default)]
    detail: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: ThemeChoice::default(),
            high_contrast: false,
            zoom: 1.0,
            editor_command: String::new(),
            window: [1280.0, 800.0],
            policy: PolicySettings::default(),
            recent: Vec::new(),
        }
    }
}

impl Settings {
    /// The recent plans as the list shows them.
    pub(super) fn recent_plans(&self) -> Vec<RecentPlan> {
        self.recent
            .iter()
            .map(|recent| RecentPlan {
                path: recent.path.clone(),
                name: recent.name.clone(),
                detail: recent.detail.clone(),
            })
            .collect()
    }

    /// Takes the recent plans in.
    pub(super) fn remember(&mut self, plans: &[RecentPlan]) {
        self.recent = plans
            .iter()
            .map(|plan| Recent {
                path: plan.path.clone(),
                name: plan.name.clone(),
                detail: plan.detail.clone(),
            })
            .collect();
    }

    fn checked(mut self) -> Result<Self, String> {
        if !(0.5..=3.0).contains(&self.zoom) {
            return Err(format!("zoom is {}, and must lie between 0.5 and 3", self.zoom));
        }
        self.policy.check()?;
        for side in &mut self.window {
            *side = if side.is_finite() { side.clamp(480.0, 8_192.0) } else { 800.0 };
        }
        Ok(self)
    }
}

/// What went wrong with the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) summary: String,
    pub(super) details: String,
    pub(super) next: String,
}

/// The settings, and what was wrong with their file.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) settings: Settings,
    pub(super) file: Option<PathBuf>,
    pub(super) problem: Option<Problem>,
}

/// Reads the file; without one, the defaults.
pub(super) fn load(file: Option<PathBuf>) -> Loaded {
    let text = match file.as_ref().map(std::fs::read_to_string) {
        None => return Loaded { settings: Settings::default(), file, problem: None },
        Some(Ok(text)) => Ok(text),
        Some(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            return Loaded { settings: Settings::default(), file, problem: None };
        }
        Some(Err(error)) => Err(error.to_string()),
    };
    match text.and_then(|text| parse(&text)) {
        Ok(settings) => Loaded { settings, file, problem: None },
        Err(details) => {
            let mut settings = Settings::default();
            settings.policy.confirm_tools = TOOLS.iter().map(|spec| spec.tool).collect();
            let place = file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
            let problem = Problem {
                summary: "The settings file cannot be read. Until it can, every step asks.".into(),
                details,
                next: format!("Mend {place} and start again. Until then nothing is written to it."),
            };
            Loaded { settings, file, problem: Some(problem) }
        }
    }
}

fn parse(text: &str) -> Result<Settings, String> {
    toml::from_str::<Settings>(text).map_err(|error| error.to_string())?.checked()
}

/// The text of the file.
///
/// # Errors
/// A value that has no text form.
pub(super) fn text(settings: &Settings) -> Result<String, toml::ser::Error> {
    toml::to_string_pretty(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_read_back_as_they_were_saved() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deeper/settings.toml");
        let mut settings = Settings {
            zoom: 2.0,
            theme: ThemeChoice::Dark,
            high_contrast: true,
            editor_command: "code -g \"{file}:{line}\"".to_owned(),
            ..Settings::default()
        };
        settings.policy.confirm_tools.insert(crate::plan::Tool::FileWrite);
        settings.recent.push(Recent {
            path: "/p.json".into(),
            name: "P".into(),
            detail: "".into(),
        });
        crate::worker::keep_file(&file, &text(&settings).unwrap()).unwrap();
        let loaded = load(Some(file));
        assert_eq!(loaded.settings, settings);
        assert_eq!(loaded.problem, None);
    }

    #[test]
    fn no_file_means_the_defaults() {
        let loaded = load(Some("/nonexistent/settings.toml".into()));
        assert_eq!((loaded.settings, loaded.problem), (Settings::default(), None));
    }

    #[test]
    fn a_faulty_file_is_said_kept_and_makes_every_step_ask() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        for text in [
            "zoom = 9",
            "zoom = \"big\"",
            "confirm = true",
            "[policy]\nconfirm_tools = [\"file_wirte\"]",
            "[policy]\nauthorization_minutes = 0",
            "[policy]\nextra_roots = [\"relative\"]",
        ] {
            std::fs::write(&file, text).unwrap();
            let loaded = load(Some(file.clone()));
            assert!(loaded.problem.is_some(), "{text}");
            assert_eq!(loaded.settings.policy.confirm_tools.len(), TOOLS.len());
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "kept as it is");
        }
    }
}
