//! Settings that are exported to a file, and those of a file that are imported.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::App;
use crate::ui::settings_page::{ImportRow, ImportView};
use crate::ui::{Tone, format};
use crate::worker::settings_file::{
    Difference, ExportSettings, ImportSettings, ReadImport, SettingsProblem,
};

/// A file to import.
pub(super) struct Import {
    file: PathBuf,
    found: Result<Vec<Difference>, SettingsProblem>,
    pub(super) chosen: BTreeSet<String>,
}

impl Import {
    pub(super) fn view(&self) -> ImportView {
        let row = |it: &Difference| ImportRow {
            key: it.key.clone(),
            name: it.row.name.to_owned(),
            from: it.from.clone(),
            to: it.to.clone(),
            weakens: it.weakens,
            chosen: self.chosen.contains(&it.key),
        };
        let rows = self.found.as_ref().map(|rows| rows.iter().map(row).collect());
        let rows = rows.map_err(|problem| problem.to_string());
        ImportView { file: self.file.display().to_string(), rows }
    }
}

impl App {
    /// Exports the settings to a file.
    pub(in crate::app) fn export_settings(&mut self, out: PathBuf, ctx: &egui::Context) {
        let Some(settings) = self.settings_file.clone() else { return };
        let ctx = ctx.clone();
        self.shared.query(ExportSettings { settings, out }, move |app, (file, left_out)| {
            let left = match left_out.as_slice() {
                [] => "Nothing was left out.".to_owned(),
                keys => {
                    format!("Left out, as secrets or about this computer: {}.", keys.join(", "))
                }
            };
            let text = format!("The settings are in {}. {left}", file.display());
            app.settings_page.note = Some((Tone::Safe, text));
            app.update_settings_view(&ctx);
        });
    }

    /// Shows what a file to import would change.
    pub(super) fn compare_import(&mut self, file: PathBuf, ctx: &egui::Context) {
        let Some(settings) = self.settings_file.clone() else { return };
        let ctx = ctx.clone();
        self.shared.query(ReadImport { settings, file }, move |app, (file, found)| {
            let rows = found.as_ref().map(Vec::as_slice).unwrap_or_default();
            let harmless = rows.iter().filter(|row| row.weakens.is_none());
            let chosen = harmless.map(|row| row.key.clone()).collect();
            app.settings_page.import = Some(Import { file, found, chosen });
            app.update_settings_view(&ctx);
        });
    }

    pub(super) fn apply_import(&mut self, ctx: &egui::Context) {
        let Some(settings) = self.settings_file.clone().filter(|_| !self.settings_have_fault)
        else {
            return;
        };
        let Some(Import { file, found: Ok(shown), chosen: keys }) =
            self.settings_page.import.take()
        else {
            return;
        };
        let (ctx, count) = (ctx.clone(), keys.len());
        let query = ImportSettings { settings, shown, keys };
        self.shared.query(query, move |app, answer| {
            match answer {
                Ok(applied) => {
                    app.use_settings(applied.found, &ctx);
                    let copy = applied
                        .copy
                        .map(|copy| format!(" The file from before is {}.", copy.display()));
                    let settings = format::counted(count, "setting");
                    let text = format!("Imported {settings}.{}", copy.unwrap_or_default());
                    app.settings_page.note = Some((Tone::Safe, text));
                }
                Err(problem) => {
                    let found = Err(problem);
                    let chosen = BTreeSet::new();
                    app.settings_page.import = Some(Import { file, found, chosen });
                }
            }
            app.update_settings_view(&ctx);
        });
    }
}
