//! Applies the actions on overlays and notices, and saves what the window remembers.

use super::recent::RecentChange;
use super::searches::SearchesChange;
use super::settings_page::theme_value;
use super::{App, settings};
use crate::ui::Tone;
use crate::ui::action::WindowAction;
use crate::ui::overlay::Overlay;
use crate::worker::{Query as _, SaveSettings};

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
            WindowAction::CloseOverlay => self.overlay = None,
            WindowAction::OpenHelp(topic) => self.open_help(topic),
            WindowAction::OpenSecondPlan => self.open_second_plan(ctx),
            WindowAction::ShowFirstRun => self.show_first_run(ctx),
            WindowAction::CopyBugReport => self.copy_bug_report(ctx),
            WindowAction::OpenSettingsFile => self.open_settings_file(None),
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
        }
    }

    /// Opens the help at the entry with this name; empty for its beginning.
    pub(super) fn open_help(&mut self, topic: String) {
        self.overlay = Some(Overlay::help(topic, &self.shared.setup.policy.command_rules));
    }

    pub(super) fn set_theme(&mut self, theme: egui::ThemePreference, ctx: &egui::Context) {
        self.settings.theme = theme;
        ctx.set_theme(theme);
        self.save_setting("theme".to_owned(), None, Some(theme_value(theme)), ctx);
        self.update_settings_view(ctx);
    }

    /// Keeps this zoom factor, which the window has already, within the bounds of the settings file.
    pub(super) fn set_zoom(&mut self, zoom: f32, ctx: &egui::Context) {
        self.settings.zoom = zoom.clamp(0.5, 3.0);
        // As it is written by hand: 1.15, and not the next number that the window can calculate with.
        let value = (f64::from(self.settings.zoom) * 100.0).round() / 100.0;
        self.save_setting("zoom".to_owned(), None, Some(value.into()), ctx);
        self.update_settings_view(ctx);
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
}
