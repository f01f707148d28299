//! One row of the settings: its name and value, its control, and what it costs and protects.

use egui::{Role, Ui, WidgetInfo};
use toml::Value;

use super::{FAULTY_FILE, RowView, SettingsView, ZOOMS, rules};
use crate::plan::TOOLS;
use crate::run::settings::{Effect, Kind};
use crate::ui::access::Reason as _;
use crate::ui::action::SettingsAction;
use crate::ui::{Action, Chip, Look, Text, Theme, Tone, controls, icon, widgets};

/// Draws a row.
pub(super) fn row_ui(ui: &mut Ui, view: &SettingsView, row: &RowView, actions: &mut Vec<Action>) {
    ui.push_id(&row.key, |ui| {
        ui.add_space(8.0);
        head_ui(ui, view, row, actions);
        match row.row.key {
            "policy.command_rules" => rules::list_ui(ui, view, actions),
            "shortcuts" => {
                widgets::paragraph(
                    ui,
                    "They are listed below, with a button each.",
                    Text::Small,
                    Tone::Dim,
                );
            }
            _ if row.row.is_changeable() => control_ui(ui, view, row, actions),
            _ => file_only_ui(ui, row, actions),
        }
        if let Some(fault) = &row.fault {
            widgets::remark(ui, icon::WARNING, Tone::Danger, fault);
        }
        let fault = match row.row.key {
            "editor_command" => view.editor_fault.as_ref().map(|it| (Tone::Caution, it.clone())),
            "notifications" => view
                .notification_fault
                .as_ref()
                .map(|it| (Tone::Dim, format!("The last one could not be shown: {it}"))),
            _ => None,
        };
        if let Some((tone, fault)) = fault {
            widgets::remark(ui, icon::WARNING, tone, fault);
        }
        if let Some((new, sentence)) = &row.asks {
            ask_ui(ui, row, new, sentence, actions);
        }
        widgets::paragraph(ui, row.row.meaning, Text::Body, Tone::Plain);
        for (word, text) in [("Costs", row.row.costs), ("Protects", row.row.protects)] {
            widgets::paragraph(ui, format!("{word}: {text}"), Text::Small, Tone::Dim);
        }
        if row.row.effect == Effect::NextStart {
            widgets::paragraph(
                ui,
                "A change takes effect at the next start.",
                Text::Small,
                Tone::Dim,
            );
        }
    });
}

/// The name, the value in force, where it comes from, and the way back to the default.
fn head_ui(ui: &mut Ui, view: &SettingsView, row: &RowView, actions: &mut Vec<Action>) {
    let name = row.name();
    ui.horizontal_wrapped(|ui| {
        widgets::line(ui, &name, Text::Strong, Tone::Plain);
        ui.label(widgets::rich(&*row.key, Text::SmallMono, Theme::of(ui).dim));
        let chip = match row.in_file {
            Some(_) if row.is_weaker() => {
                let tooltip = "The value of the file protects less than the default.";
                Chip::new(icon::WARNING, "weaker than the default", Tone::Caution)
                    .with_tooltip(tooltip)
            }
            Some(_) => Chip::new(icon::FILE_TEXT, "from the file", Tone::Accent),
            None => Chip::new(icon::CHECK, "default", Tone::Dim),
        };
        chip.ui(ui);
        if row.in_file.is_some() && row.row.is_changeable() && view.can_change {
            let response = widgets::button(ui, Look::Bare, None, "Use the default", true);
            named(&response, &format!("{name}: use the default"));
            if response.clicked() {
                actions.push(Action::Settings(SettingsAction::Set(row.key.clone(), None)));
            }
        }
    });
}

/// A value that is changed in the file.
fn file_only_ui(ui: &mut Ui, row: &RowView, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        widgets::line(ui, row.shown(), Text::Mono, Tone::Plain);
        let response = widgets::button(ui, Look::Plain, Some(icon::OPEN), "Open in the file", true);
        named(&response, &format!("{}: open in the file", row.name()));
        let hint = "Only the file changes this. It is opened in your editor, at its line.";
        if response.on_hover_text(hint).clicked() {
            actions.push(Action::Settings(SettingsAction::OpenAt(row.key.clone())));
        }
    });
    widgets::paragraph(ui, "Changed in the file only.", Text::Small, Tone::Dim);
}

/// The question before a change that weakens protection.
fn ask_ui(ui: &mut Ui, row: &RowView, new: &str, sentence: &str, actions: &mut Vec<Action>) {
    widgets::card(ui).show(ui, |ui| {
        let text = format!("Change “{}” to “{new}”? {sentence}", row.name());
        widgets::remark(ui, icon::WARNING, Tone::Danger, text);
        ui.horizontal_wrapped(|ui| {
            let keep = widgets::button(ui, Look::Plain, None, "Leave it as it is", true);
            // A second press of the same key must not weaken anything.
            let (drawn, frame) = (keep.id.with("drawn"), ui.ctx().cumulative_frame_nr());
            let before = ui.data(|data| data.get_temp::<u64>(drawn));
            ui.data_mut(|data| data.insert_temp(drawn, frame));
            if before.is_none_or(|before| before + 1 < frame) {
                keep.request_focus();
            }
            if keep.clicked() {
                actions.push(Action::Settings(SettingsAction::Decline));
            }
            if widgets::button(ui, Look::Danger, None, "Weaken the protection", true).clicked() {
                actions.push(Action::Settings(SettingsAction::Confirm));
            }
        });
    });
}

fn named(response: &egui::Response, name: &str) {
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
}

/// A button for one of several choices. Returns whether it was clicked.
fn choice_ui(ui: &mut Ui, of: &str, word: &str, chosen: bool, enabled: bool) -> bool {
    let look = if chosen { Look::Primary } else { Look::Plain };
    let response = widgets::button(ui, look, None, word, enabled);
    response.widget_info(|| {
        WidgetInfo::selected(Role::Button, enabled, chosen, format!("{of}: {word}"))
    });
    response.or_why(FAULTY_FILE).clicked() && !chosen
}

fn control_ui(ui: &mut Ui, view: &SettingsView, row: &RowView, actions: &mut Vec<Action>) {
    let (value, name, can_change) = (row.value(), row.name(), view.can_change);
    let mut set = |value: Value| {
        actions.push(Action::Settings(SettingsAction::Set(row.key.clone(), Some(value))));
    };
    match row.row.kind {
        Kind::Choice(words) => {
            ui.horizontal_wrapped(|ui| {
                for (word, text) in words {
                    let chosen = value.as_ref().and_then(Value::as_str) == Some(word);
                    if choice_ui(ui, &name, text, chosen, can_change) {
                        set((*word).into());
                    }
                }
            });
        }
        Kind::Switch => {
            ui.horizontal_wrapped(|ui| {
                for (text, on) in [("On", true), ("Off", false)] {
                    let chosen = value.as_ref().and_then(Value::as_bool) == Some(on);
                    if choice_ui(ui, &name, text, chosen, can_change) {
                        set(on.into());
                    }
                }
            });
        }
        Kind::Zoom => zoom_ui(ui, &name, value.as_ref(), can_change, &mut set),
        Kind::Several(words) => several_ui(ui, words, value.as_ref(), can_change, &mut set),
        Kind::Tools => {
            let words: Vec<_> =
                TOOLS.iter().map(|spec| (spec.tool.name(), spec.tool.name())).collect();
            several_ui(ui, &words, value.as_ref(), can_change, &mut set);
        }
        Kind::Folders => folders_ui(ui, row, can_change, actions),
        Kind::Number(_, _, unit) => {
            let text = value.map(|it| it.to_string()).unwrap_or_default();
            ui.horizontal(|ui| {
                if let Some(text) = field_ui(ui, &name, &text, "", 90.0, can_change) {
                    let number = text.trim().parse::<i64>();
                    set(number.map_or_else(|_| text.into(), Value::from));
                }
                widgets::line(ui, unit, Text::Meta, Tone::Dim);
            });
        }
        Kind::Text(hint) => {
            let text = value.as_ref().and_then(Value::as_str).unwrap_or_default();
            if let Some(text) = field_ui(ui, &name, text, hint, f32::INFINITY, can_change) {
                let text = text.trim();
                let value = (!text.is_empty()).then(|| text.into());
                actions.push(Action::Settings(SettingsAction::Set(row.key.clone(), value)));
            }
        }
        Kind::File { .. } | Kind::Folder { .. } => path_ui(ui, row, can_change, actions),
        Kind::Secret | Kind::Table => {}
    }
}

fn zoom_ui(ui: &mut Ui, name: &str, value: Option<&Value>, can: bool, set: &mut impl FnMut(Value)) {
    let zoom = value.and_then(|it| it.as_float().or_else(|| it.as_integer().map(|it| it as f64)));
    let zoom = zoom.unwrap_or(1.0) as f32;
    let is_chosen = |it: &f32| (zoom - it).abs() < 0.01;
    let mut zooms = ZOOMS.to_vec();
    // A size written by hand into the settings file may be none of these.
    if !zooms.iter().any(is_chosen) {
        zooms.push(zoom);
        zooms.sort_by(f32::total_cmp);
    }
    ui.horizontal_wrapped(|ui| {
        for zoom in zooms {
            let text = format!("{:.0} %", zoom * 100.0);
            if choice_ui(ui, name, &text, is_chosen(&zoom), can) {
                // As it is written by hand: 1.15, and not the next number that the window can calculate with.
                set(Value::Float((f64::from(zoom) * 100.0).round() / 100.0));
            }
        }
    });
}

fn several_ui(
    ui: &mut Ui,
    words: &[(&str, &str)],
    value: Option<&Value>,
    can_change: bool,
    set: &mut impl FnMut(Value),
) {
    let list: Vec<_> = value.and_then(Value::as_array).cloned().unwrap_or_default();
    let has = |word: &str| list.iter().any(|it| it.as_str() == Some(word));
    ui.horizontal_wrapped(|ui| {
        for (word, text) in words {
            let on = has(word);
            let look = if on { Look::Primary } else { Look::Plain };
            let response = widgets::button(ui, look, None, text, can_change);
            response.widget_info(|| WidgetInfo::selected(Role::Button, can_change, on, *text));
            if response.or_why(FAULTY_FILE).clicked() {
                let mut new = list.clone();
                match on {
                    true => new.retain(|it| it.as_str() != Some(word)),
                    false => new.push((*word).into()),
                }
                set(Value::Array(new));
            }
        }
    });
}

fn folders_ui(ui: &mut Ui, row: &RowView, can_change: bool, actions: &mut Vec<Action>) {
    let value = row.value();
    let list = value.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
    for folder in &list {
        let text = folder.as_str().unwrap_or_default();
        ui.horizontal(|ui| {
            let remove = format!("Remove the folder {text}");
            if can_change && widgets::icon_button(ui, icon::CLOSE, &remove).clicked() {
                let rest: Vec<_> = list.iter().filter(|it| *it != folder).cloned().collect();
                let set = SettingsAction::Set(row.key.clone(), Some(Value::Array(rest)));
                actions.push(Action::Settings(set));
            }
            widgets::line(ui, text, Text::Mono, Tone::Plain);
        });
    }
    let response = widgets::button(ui, Look::Plain, Some(icon::OPEN), "Add a folder…", can_change);
    named(&response, &format!("{}: add a folder…", row.name()));
    if response.or_why(FAULTY_FILE).clicked() {
        let pick = SettingsAction::Pick { key: row.key.clone(), folder: true, add: true };
        actions.push(Action::Settings(pick));
    }
}

fn path_ui(ui: &mut Ui, row: &RowView, can_change: bool, actions: &mut Vec<Action>) {
    let (value, name) = (row.value(), row.name());
    let text = value.as_ref().and_then(Value::as_str).unwrap_or_default();
    let folder = matches!(row.row.kind, Kind::Folder { .. });
    ui.horizontal(|ui| {
        let button = controls::button_width(ui, "Choose…", true) + 8.0;
        let width = (ui.available_width() - button).max(80.0);
        if let Some(text) = field_ui(ui, &name, text, "none", width, can_change) {
            let text = text.trim();
            let value = (!text.is_empty()).then(|| text.into());
            actions.push(Action::Settings(SettingsAction::Set(row.key.clone(), value)));
        }
        let response = widgets::button(ui, Look::Plain, Some(icon::OPEN), "Choose…", can_change);
        named(&response, &format!("{name}: choose…"));
        if response.or_why(FAULTY_FILE).clicked() {
            let pick = SettingsAction::Pick { key: row.key.clone(), folder, add: false };
            actions.push(Action::Settings(pick));
        }
    });
}

/// What is typed in a field and not set yet.
#[derive(Clone)]
struct Draft {
    text: String,
    /// The pass that drew the field. One that was not drawn since has lost its draft.
    pass: u64,
}

/// A field for a text. Returns the new text once the field has lost the focus to another control. A dialog or an overlay in
/// front of the page leaves the draft in the field; Escape and another page drop it.
fn field_ui(
    ui: &mut Ui,
    name: &str,
    value: &str,
    hint: &str,
    width: f32,
    can_change: bool,
) -> Option<String> {
    let id = ui.scope_id().with("typed");
    let pass = ui.ctx().cumulative_pass_nr();
    let draft = ui.data(|data| data.get_temp::<Draft>(id)).filter(|it| it.pass + 1 >= pass);
    let has_draft = draft.is_some();
    let mut text = draft.map_or_else(|| value.to_owned(), |it| it.text);
    let edit = widgets::code_field(&mut text, id.with("edit"), width).hint_text(hint);
    let response = ui.add_enabled(can_change, edit).accessible_name(name).or_why(FAULTY_FILE);
    let is_behind = !ui.memory(|memory| memory.allows_interaction(ui.layer_id()));
    // Also while the window does not have the focus.
    let focused = ui.memory(egui::Memory::focused);
    let was_interrupted = has_draft && (is_behind || !response.lost_focus() && focused.is_none());
    if focused == Some(response.id) || was_interrupted {
        ui.data_mut(|data| data.insert_temp(id, Draft { text, pass }));
        if focused.is_none() && !is_behind {
            response.request_focus();
        }
        return None;
    }
    ui.data_mut(|data| data.remove::<Draft>(id));
    // Assistive technology may fill in a field that does not have the focus.
    let is_set = response.lost_focus() && !super::was_left_by_escape(ui) || response.changed();
    (is_set && text != value).then_some(text)
}
