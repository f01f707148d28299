//! What a file to import would change: each key with its present and its new value, to be chosen one by one.

use egui::{Role, Ui, WidgetInfo};

use super::model::{ImportRow, ImportView};
use super::with_footer;
use crate::ui::action::SettingsAction;
use crate::ui::{Action, Chip, Look, Text, Theme, Tone, format, icon, widgets};

pub(super) fn import_ui(ui: &mut Ui, import: &ImportView, actions: &mut Vec<Action>) {
    let rows = import.rows.as_deref().unwrap_or_default();
    let chosen = rows.iter().filter(|row| row.chosen).count();
    let weakening = rows.iter().filter(|row| row.chosen && row.weakens.is_some()).count();
    let mut footer_actions = Vec::new();
    with_footer(
        ui,
        "Import settings",
        |ui| {
            widgets::paragraph(ui, &import.file, Text::Mono, Tone::Dim);
            match &import.rows {
                Err(fault) => {
                    widgets::remark(ui, icon::WARNING, Tone::Danger, fault);
                    let text = "Nothing was changed.";
                    widgets::paragraph(ui, text, Text::Body, Tone::Dim);
                }
                Ok(rows) if rows.is_empty() => {
                    let text =
                        "The file would change nothing: your settings have all that it says.";
                    widgets::paragraph(ui, text, Text::Body, Tone::Dim);
                }
                Ok(rows) => {
                    let text = "Choose what to take over. What weakens protection is not chosen; look at each of it. Keys \
                                that the file does not have stay as they are.";
                    widgets::paragraph(ui, text, Text::Body, Tone::Dim);
                    rows.iter().for_each(|row| row_ui(ui, row, actions));
                }
            }
        },
        |ui| {
            ui.horizontal_wrapped(|ui| {
                let (look, text) = match (chosen, weakening) {
                    (0, _) => (Look::Plain, "Import nothing".to_owned()),
                    (_, 0) => {
                        (Look::Primary, format!("Import {}", format::counted(chosen, "setting")))
                    }
                    _ => {
                        let settings = format::counted(chosen, "setting");
                        let verb = if weakening == 1 { "weakens" } else { "weaken" };
                        (
                            Look::Danger,
                            format!("Import {settings}, of which {weakening} {verb} protection"),
                        )
                    }
                };
                if chosen > 0 && widgets::button(ui, look, None, &text, true).clicked() {
                    footer_actions.push(Action::Settings(SettingsAction::ApplyImport));
                }
                let leave = if chosen > 0 || !rows.is_empty() { "Import nothing" } else { "Close" };
                if widgets::button(ui, Look::Plain, None, leave, true).clicked() {
                    footer_actions.push(Action::Settings(SettingsAction::DropImport));
                }
            });
        },
    );
    actions.append(&mut footer_actions);
}

fn row_ui(ui: &mut Ui, row: &ImportRow, actions: &mut Vec<Action>) {
    ui.push_id(&row.key, |ui| {
        ui.add_space(6.0);
        ui.horizontal_wrapped(|ui| {
            let (look, word) = match row.chosen {
                true => (Look::Primary, "Imported"),
                false => (Look::Plain, "Not imported"),
            };
            let icon = if row.chosen { icon::CHECK } else { icon::CLOSE };
            let response = widgets::button(ui, look, Some(icon), word, true);
            let name = format!("Import {}: {word}", row.name);
            response.widget_info(|| WidgetInfo::selected(Role::Button, true, row.chosen, &name));
            if response.clicked() {
                let choose = SettingsAction::ChooseImport(row.key.clone(), !row.chosen);
                actions.push(Action::Settings(choose));
            }
            widgets::line(ui, &row.name, Text::Strong, Tone::Plain);
            ui.label(widgets::rich(&*row.key, Text::SmallMono, Theme::of(ui).dim));
            if row.weakens.is_some() {
                Chip::new(icon::WARNING, "weakens protection", Tone::Danger).ui(ui);
            }
        });
        widgets::paragraph(ui, format!("{}  →  {}", row.from, row.to), Text::Mono, Tone::Plain);
        if let Some(sentence) = row.weakens {
            widgets::remark(ui, icon::WARNING, Tone::Danger, sentence);
        }
    });
}
