//! Applies the actions on overlays, notices and settings.

use super::recent::RecentChange;
use super::searches::SearchesChange;
use super::{App, settings};
use crate::ui::action::WindowAction;
use crate::ui::overlay::{Overlay, SettingsView};
use crate::ui::{Tone, format, theme};
use crate::worker::{EditorCommand, Query as _, SaveSettings};

impl App {
    pub(super) fn apply_window(&mut self, action: WindowAction, ctx: &egui::Context) {
        match action {
            WindowAction::TryAgain => self.shared.clear_view_panic(),
            WindowAction::DismissNotice(id) => self.shared.dismiss(id),
            WindowAction::PinRecent(path, pinned) => {
                self.change_recent(RecentChange::Pin(path, pinned));
            }
            WindowAction::RemoveRecent(path) => self.change_recent(RecentChange::Remove(path)),
            WindowAction::ToggleSearch(text) => {
                self.change_searches(SearchesChange::Toggle(text));
            }
            WindowAction::CloseOverlay => {
                self.overlay = None;
                self.rules.leave();
            }
            WindowAction::SetTheme(theme) => self.set_theme(theme, ctx),
            WindowAction::SetHighContrast(high) => {
                self.settings.high_contrast = high;
                theme::set_contrast(ctx, high);
                self.refresh_settings(ctx);
            }
            WindowAction::SetNotifications(on) => {
                self.settings.notifications = on;
                self.refresh_settings(ctx);
            }
            WindowAction::SetEditor(command) => {
                self.settings.editor_command = command.trim().to_owned();
                self.refresh_settings(ctx);
            }
            WindowAction::OpenSettingsFile => self.open_settings_file(),
            WindowAction::EditRule(form) => {
                (self.rules.form, self.rules.note) = (Some(form), None);
                self.update_settings_view(ctx);
            }
            WindowAction::DropRule => {
                self.rules.form = None;
                self.update_settings_view(ctx);
            }
            WindowAction::SaveRule => self.save_rule(ctx),
            WindowAction::AskToPurge(run_id) => self.ask_to_purge(Some(run_id)),
            WindowAction::ChoosePurge(rule) => self.choose_purge(rule),
            WindowAction::RestoreRule(id) => self.restore_rule(&id, ctx),
            WindowAction::RemoveRule(id) => self.remove_rule(id, ctx),
            WindowAction::SetZoom(zoom) => {
                ctx.set_zoom_factor(zoom);
                self.set_zoom(zoom, ctx);
            }
        }
    }

    pub(super) fn set_theme(&mut self, theme: egui::ThemePreference, ctx: &egui::Context) {
        self.settings.theme = theme;
        ctx.set_theme(theme);
        self.refresh_settings(ctx);
    }

    /// Keeps this zoom factor, which the window has already, within the bounds of the settings file.
    pub(super) fn set_zoom(&mut self, zoom: f32, ctx: &egui::Context) {
        self.settings.zoom = zoom.clamp(0.5, 3.0);
        self.refresh_settings(ctx);
    }

    /// Saves the settings, and updates the settings overlay if it is open.
    fn refresh_settings(&mut self, ctx: &egui::Context) {
        self.save_settings();
        self.update_settings_view(ctx);
    }

    pub(super) fn update_settings_view(&mut self, ctx: &egui::Context) {
        if matches!(self.overlay, Some(Overlay::Settings(_))) {
            self.overlay = Some(Overlay::Settings(Box::new(self.settings_view(ctx))));
        }
    }

    /// Saves the settings on the query thread.
    pub(super) fn save_settings(&mut self) {
        if let Some(query) = self.settings_to_save() {
            self.shared.query(query, |_, ()| {});
        }
    }

    /// The query that saves the settings; `None` if they have no file, its content is faulty, or the settings cannot
    /// be written as TOML.
    pub(super) fn settings_to_save(&mut self) -> Option<SaveSettings> {
        // The window then runs with default settings, which must not replace the person's own.
        if self.settings_have_fault {
            return None;
        }
        let file = self.settings_file.clone()?;
        match settings::to_toml(&self.settings) {
            Ok(values) => Some(SaveSettings { file, values }),
            Err(error) => {
                let summary = SaveSettings::FAILURE;
                self.shared.notify(Tone::Caution, summary, error.to_string(), "");
                None
            }
        }
    }

    pub(super) fn settings_view(&self, ctx: &egui::Context) -> SettingsView {
        let policy = &self.shared.setup.policy;
        let tools: Vec<_> =
            policy.confirm_tools.iter().map(|tool| tool.name().to_owned()).collect();
        let roots: Vec<_> =
            policy.extra_roots.iter().map(|root| root.display().to_string()).collect();
        let list_or = |list: Vec<String>, none: &str| {
            if list.is_empty() { none.to_owned() } else { list.join(", ") }
        };
        let rules = match policy.command_rules.len() {
            0 => "judged by the built-in rules alone".to_owned(),
            1 => "judged by the built-in rules and one of yours".to_owned(),
            many => format!("judged by the built-in rules and {many} of yours"),
        };
        let approval = format::remaining(policy.authorization_ttl_ms);
        let signatures = policy.signing.as_ref().map(|signing| signing.sentence());
        let signatures = signatures.unwrap_or_else(|| "nothing is signed".to_owned());
        let team =
            self.evidence.team.name().unwrap_or("no server is named (docs/team.md)").to_owned();
        SettingsView {
            theme: ctx.options(|options| options.theme_preference),
            high_contrast: self.settings.high_contrast,
            zoom: self.settings.zoom,
            notifications: self.settings.notifications,
            notification_fault: self.notifier.fault(),
            editor: self.settings.editor_command.clone(),
            editor_fault: Some(&self.settings.editor_command)
                .filter(|command| !command.is_empty())
                .and_then(|command| EditorCommand::parse(command).err()),
            file: self
                .settings_file
                .as_ref()
                .map_or_else(|| "none".to_owned(), |file| file.display().to_string()),
            evidence: self.shared.setup.location.evidence.display().to_string(),
            can_change_rules: self.settings_file.is_some() && !self.settings_have_fault,
            rules: policy.command_rules.clone(),
            rule_form: self.rules.form.clone().map(|form| form.checked(&policy.command_rules)),
            removed_rules: self.rules.removed.clone(),
            rules_note: self.rules.note.clone(),
            computer: self.computer_lines(),
            policy: [
                ("always ask for", list_or(tools, "no tool")),
                ("also reachable", list_or(roots, "nothing outside the workspace")),
                ("commands", rules),
                ("authorization", format!("valid for {approval}")),
                ("signatures", signatures),
                ("team", team),
                ("inbox", self.shared.setup.inbox.display().to_string()),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        }
    }
}
