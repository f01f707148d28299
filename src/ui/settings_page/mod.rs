//! The settings page: every key of the settings file with its value, what it costs and what it protects.
//!
//! The rows are data ([`crate::run::settings`]). What weakens protection is asked about beside its row before it is saved.

mod import;
mod keys;
mod model;
mod row;
mod rules;
#[cfg(test)]
mod tests;

use egui::{Id, Key, Margin, Modifiers, ScrollArea, Ui};

use super::action::{SettingsAction, WindowAction};
use super::notice::{Notice, notices_ui};
use super::{Action, Command, Commands, Look, Text, Tone, icon, narrow, scroll, widgets};
use crate::run::settings::Group;
pub use keys::take_keys as take_pressed;
pub use model::{ImportRow, ImportView, KeyNote, RowView, SettingsView};
pub use rules::{CheckedForm, RemovedRule, RuleForm};

/// The greatest width of the page, in points. Longer lines are hard to read.
const WIDTH: f32 = 760.0;

/// The zoom levels to choose from.
pub const ZOOMS: [f32; 7] = [0.8, 0.9, 1.0, 1.15, 1.3, 1.6, 2.0];

/// The zoom level that follows `last` in the direction of `wanted`, the zoom that the keys of egui lead to.
pub fn zoom_level(last: f32, wanted: f32) -> f32 {
    let mut levels = ZOOMS.to_vec();
    if wanted < last {
        levels.reverse();
    }
    let is_beyond = |level: &f32| (level - last) * (wanted - last).signum() > 0.01;
    match levels.iter().find(|level| (*level - wanted).abs() < 0.01) {
        Some(level) => *level,
        None => levels.into_iter().find(is_beyond).unwrap_or(last),
    }
}

/// Whether a field had the focus in the last frame.
fn typing_id() -> Id {
    Id::unique("typing in the settings")
}

/// The frame in which Escape left a field.
fn escaped_id() -> Id {
    Id::unique("left by Escape")
}

fn was_left_by_escape(ui: &Ui) -> bool {
    ui.data(|data| data.get_temp(escaped_id())) == Some(ui.ctx().cumulative_frame_nr())
}

fn search_id() -> Id {
    Id::unique("search of the settings")
}

/// Gives the keyboard to the search field.
pub fn focus_search(ctx: &egui::Context) {
    ctx.memory_mut(|memory| memory.request_focus(search_id().with("edit")));
}

/// Handles the keys of the page: Escape closes what is open on it, then the page. Call this before the page is drawn.
pub fn take_keys(ui: &Ui, view: &SettingsView, actions: &mut Vec<Action>) {
    let escaped = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
    // egui takes the focus away from a field before the frame begins. This key then only leaves the field.
    let was_typing = ui.data(|data| data.get_temp(typing_id())).unwrap_or(false);
    if escaped && was_typing {
        let frame = ui.ctx().cumulative_frame_nr();
        ui.data_mut(|data| data.insert_temp(escaped_id(), frame));
    }
    if escaped && !was_typing {
        let is_asked = view.rows.iter().any(|row| row.asks.is_some());
        actions.push(match () {
            () if view.rule_form.is_some() => Action::Window(WindowAction::DropRule),
            () if view.import.is_some() => Action::Settings(SettingsAction::DropImport),
            () if is_asked => Action::Settings(SettingsAction::Decline),
            () if view.key_note.is_some() => Action::Settings(SettingsAction::EndCapture),
            () => Action::Do(Command::GoBack),
        });
    }
}

/// Draws the settings, or the form for a rule, or what a file to import would change.
pub fn settings_page_ui(
    ui: &mut Ui,
    view: &SettingsView,
    notices: &[&Notice],
    commands: &mut Commands<'_>,
) {
    notices_ui(ui, notices, commands.actions);
    widgets::main_panel_ui(ui, |ui| {
        let side = if ui.available_width() < narrow::ONE_PANE { 12 } else { 24 };
        let top = if ui.available_height() < narrow::LOW { 8 } else { 14 };
        let margin = Margin { left: side, right: side, top, bottom: 8 };
        egui::Frame::NONE.inner_margin(margin).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 6.0;
            let actions = &mut *commands.actions;
            if let Some(form) = &view.rule_form {
                rules::form_ui(ui, view, form, actions);
            } else if let Some(import) = &view.import {
                import::import_ui(ui, import, actions);
            } else {
                values_ui(ui, view, actions);
            }
        });
    });
    let is_typing = ui.ctx().text_edit_focused();
    ui.data_mut(|data| data.insert_temp(typing_id(), is_typing));
}

/// A page with a title, a part that scrolls, and buttons below it that stay in sight.
fn with_footer(ui: &mut Ui, title: &str, body: impl FnOnce(&mut Ui), footer: impl FnOnce(&mut Ui)) {
    widgets::line(ui, title, Text::Title, Tone::Plain);
    // The footer is measured when it is drawn.
    let below = ui.scope_id().with(("footer", title));
    let height =
        ui.data(|data| data.get_temp(below)).unwrap_or(100.0) + ui.spacing().item_spacing.y;
    scrolled(ui, title, (ui.available_height() - height).max(60.0), body);
    let drawn = ui.scope(footer).response.rect.height();
    ui.data_mut(|data| data.insert_temp(below, drawn));
}

/// A part that scrolls, by the keyboard too: what gets the focus comes into sight.
fn scrolled(ui: &mut Ui, salt: &str, height: f32, body: impl FnOnce(&mut Ui)) {
    let area = ScrollArea::vertical().id_salt(salt).auto_shrink([false, false]).max_height(height);
    area.show(ui, |ui| {
        // The bar floats over the content, so that room for it is left at the right.
        ui.set_max_width((ui.available_width() - 12.0).min(WIDTH));
        body(ui);
        let focused = ui.memory(|memory| memory.focused());
        let focused = focused.and_then(|id| ui.ctx().read_response(id));
        if let Some(focused) = focused.filter(egui::Response::gained_focus) {
            widgets::reveal_focused(ui, &focused);
        }
        scroll::by_key(ui);
    });
}

/// Why nothing can be changed while the settings file has a fault.
const FAULTY_FILE: &str = "The settings can be changed here once the settings file has no fault.";

fn values_ui(ui: &mut Ui, view: &SettingsView, actions: &mut Vec<Action>) {
    let words = head_ui(ui, actions);
    if let Some((tone, text)) = &view.note {
        let icon = if *tone == Tone::Safe { icon::CHECK } else { icon::WARNING };
        widgets::remark(ui, icon, *tone, text);
    }
    if !view.can_change {
        widgets::remark(ui, icon::WARNING, Tone::Caution, FAULTY_FILE);
    }
    let height = ui.available_height();
    scrolled(ui, "settings", height, |ui| {
        let mut found = 0;
        for group in Group::ALL {
            let rows = view.rows_of(group, &words);
            if rows.is_empty() {
                continue;
            }
            found += rows.len();
            group_heading(ui, group.title());
            for row in rows {
                row::row_ui(ui, view, row, actions);
            }
        }
        found += keys::keys_ui(ui, view, &words, actions);
        if found == 0 {
            ui.add_space(8.0);
            widgets::line(ui, "No setting has these words.", Text::Body, Tone::Dim);
        }
        if words.is_empty() {
            computer_ui(ui, view, actions);
        }
        ui.add_space(24.0);
    });
}

fn group_heading(ui: &mut Ui, title: &str) {
    ui.add_space(14.0);
    widgets::line(ui, title, Text::Title, Tone::Plain);
    widgets::line_below(ui);
    ui.add_space(2.0);
}

/// The title, the search field, and the buttons that are about the whole file. Returns the words that are searched for.
fn head_ui(ui: &mut Ui, actions: &mut Vec<Action>) -> Vec<String> {
    let mut text: String = ui.data(|data| data.get_temp(search_id())).unwrap_or_default();
    let is_narrow = ui.available_width() < narrow::ONE_PANE;
    ui.horizontal_wrapped(|ui| {
        if !is_narrow {
            widgets::line(ui, "Settings", Text::Title, Tone::Plain);
            ui.add_space(8.0);
        }
        let edit = widgets::code_field(&mut text, search_id().with("edit"), 200.0);
        let response = ui.add(edit.hint_text("Find a setting")).accessible_name("Find a setting");
        widgets::focus_ring(ui, &response);
        for (name, hint, action) in [
            (
                "Import settings…",
                "Show what a file would change, then choose what to take over.",
                SettingsAction::Import,
            ),
            (
                "Export settings…",
                "Write the settings to a file, without secrets and what is about this computer.",
                SettingsAction::Export,
            ),
        ] {
            if widgets::tooltip_button(ui, Look::Plain, None, name, hint) {
                actions.push(Action::Settings(action));
            }
        }
        let hint = "Open the settings file in your editor, or show its folder.";
        if widgets::tooltip_button(ui, Look::Plain, icon::OPEN, "Open the file", hint) {
            actions.push(Action::Window(WindowAction::OpenSettingsFile));
        }
    });
    let words = text.split_whitespace().map(str::to_lowercase).collect();
    ui.data_mut(|data| data.insert_temp(search_id(), text));
    words
}

fn computer_ui(ui: &mut Ui, view: &SettingsView, actions: &mut Vec<Action>) {
    group_heading(ui, "This computer");
    for (name, value) in &view.computer {
        widgets::fact(ui, name, value, Text::Body);
    }
    for (name, path) in [("settings file", &view.file), ("evidence", &view.evidence)] {
        widgets::copyable_value(ui, name, path, &format!("the path of the {name}"));
    }
    let purge = Command::Purge.spec();
    let (icon, hint) = (purge.icon.unwrap_or(icon::DATABASE), purge.tooltip);
    if widgets::tooltip_button(ui, Look::Plain, icon, purge.text, hint) {
        actions.push(Action::Do(Command::Purge));
    }
}
