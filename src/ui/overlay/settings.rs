//! The settings.

use egui::{ScrollArea, Ui};

use super::rules::{self, CheckedForm, RemovedRule};
use super::title_ui;
use crate::risk::UserRules;
use crate::ui::action::WindowAction;
use crate::ui::{Action, Command, Icon, Look, Text, Theme, Tone, icon, widgets};

/// The settings, as shown.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsView {
    /// The theme.
    pub theme: egui::ThemePreference,
    /// Whether the theme has higher contrast.
    pub high_contrast: bool,
    /// The zoom; 1 is the normal size.
    pub zoom: f32,
    /// Whether the desktop notifies the person while the window is not in front.
    pub notifications: bool,
    /// Why the last notification could not be shown; `None` if it could, or none was sent.
    pub notification_fault: Option<String>,
    /// The command that opens a file in the person's editor; empty when none is set.
    pub editor: String,
    /// Why `editor` cannot be used; `None` if it can.
    pub editor_fault: Option<String>,
    /// The path of the settings file, which has all settings.
    pub file: String,
    /// The path of the evidence.
    pub evidence: String,
    /// Whether the window can change the rules: there is a settings file and it has no fault.
    pub can_change_rules: bool,
    /// The person's own rules for commands.
    pub rules: UserRules,
    /// The form for a rule, which replaces the settings while it is open.
    pub rule_form: Option<CheckedForm>,
    /// The rules that were removed since the settings were opened, in the order of their places.
    pub removed_rules: Vec<RemovedRule>,
    /// What came of the last change of the rules.
    pub rules_note: Option<(Tone, String)>,
    /// What this computer has, by name: the walls, the code engines, and the planners.
    pub computer: Vec<(String, String)>,
    /// The names and values of the settings that only the file can change.
    pub policy: Vec<(String, String)>,
}

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

/// Draws the settings, or the form for a rule.
pub(super) fn settings_ui(ui: &mut Ui, settings: &SettingsView, actions: &mut Vec<Action>) {
    ui.spacing_mut().item_spacing.y = 6.0;
    let title = match &settings.rule_form {
        None => "Settings",
        Some(checked) if checked.form.replaces.is_some() => "Change a rule for commands",
        Some(_) => "New rule for commands",
    };
    title_ui(ui, title, actions);
    // The buttons of the form stay in sight below its fields. They are measured when they are drawn.
    let below = ui.scope_id().with("below the form");
    let height = settings.rule_form.as_ref().map_or(0.0, |_| {
        ui.data(|data| data.get_temp(below)).unwrap_or(100.0) + ui.spacing().item_spacing.y
    });
    let area = ScrollArea::vertical().auto_shrink([false, true]);
    area.max_height(ui.available_height() - height).show(ui, |ui| {
        // The bar floats over the content, so that room for it is left at the right.
        ui.set_max_width(ui.available_width() - 12.0);
        match &settings.rule_form {
            Some(form) => rules::fields_ui(ui, form, actions),
            None => values_ui(ui, settings, actions),
        }
        // The keyboard reaches controls that a small window does not show.
        let focused = ui.memory(|memory| memory.focused());
        let focused = focused.and_then(|id| ui.ctx().read_response(id));
        if let Some(focused) = focused.filter(egui::Response::gained_focus) {
            focused.scroll_to_me(None);
        }
    });
    if let Some(form) = &settings.rule_form {
        let note = settings.rules_note.as_ref();
        let drawn = ui.scope(|ui| rules::save_ui(ui, form, note, actions)).response.rect;
        ui.data_mut(|data| data.insert_temp(below, drawn.height()));
    }
}

fn values_ui(ui: &mut Ui, settings: &SettingsView, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    widgets::heading(ui, "Theme");
    ui.horizontal_wrapped(|ui| {
        for (icon, name, choice) in [
            (icon::SYSTEM, "Same as the system", egui::ThemePreference::System),
            (icon::SUN, "Light", egui::ThemePreference::Light),
            (icon::MOON, "Dark", egui::ThemePreference::Dark),
        ] {
            if choice_ui(ui, Some(icon), name, settings.theme == choice) {
                actions.push(Action::Window(WindowAction::SetTheme(choice)));
            }
        }
    });
    widgets::heading(ui, "Contrast");
    ui.horizontal_wrapped(|ui| {
        for (name, high) in [("Normal", false), ("High", true)] {
            if choice_ui(ui, None, name, settings.high_contrast == high) {
                actions.push(Action::Window(WindowAction::SetHighContrast(high)));
            }
        }
    });
    widgets::heading(ui, "Size");
    ui.horizontal_wrapped(|ui| {
        let is_chosen = |zoom: &f32| (settings.zoom - zoom).abs() < 0.01;
        let mut zooms = ZOOMS.to_vec();
        // A size written by hand into the settings file may be none of these.
        if !zooms.iter().any(is_chosen) {
            zooms.push(settings.zoom);
            zooms.sort_by(f32::total_cmp);
        }
        for zoom in zooms {
            let chosen = is_chosen(&zoom);
            if choice_ui(ui, None, &format!("{:.0} %", zoom * 100.0), chosen) {
                actions.push(Action::Window(WindowAction::SetZoom(zoom)));
            }
        }
    });
    widgets::heading(ui, "Notifications while the window is not in front");
    ui.horizontal_wrapped(|ui| {
        for (name, on) in [("On", true), ("Off", false)] {
            if choice_ui(ui, None, name, settings.notifications == on) {
                actions.push(Action::Window(WindowAction::SetNotifications(on)));
            }
        }
    });
    if let Some(fault) = settings.notification_fault.as_ref().filter(|_| settings.notifications) {
        let text = format!("The last one could not be shown: {fault}");
        widgets::remark(ui, icon::INFO, Tone::Dim, text);
    }
    editor_ui(ui, settings, actions);
    ui.add_space(6.0);
    rules::list_ui(ui, settings, actions);
    ui.add_space(6.0);
    widgets::heading(ui, "This computer");
    for (name, value) in &settings.computer {
        widgets::fact(ui, name, value, Text::Body);
    }
    let purge = Command::Purge.spec();
    let (icon, hint) = (purge.icon.unwrap_or(icon::DATABASE), purge.tooltip);
    if widgets::tooltip_button(ui, Look::Plain, icon, purge.text, hint) {
        actions.push(Action::Do(Command::Purge));
    }
    ui.add_space(6.0);
    widgets::heading(ui, "From the settings file");
    for (name, value) in &settings.policy {
        widgets::fact(ui, name, value, Text::Body);
    }
    ui.add_space(6.0);
    for (name, path) in [("settings file", &settings.file), ("evidence", &settings.evidence)] {
        widgets::copyable_value(ui, name, path, &format!("the path of the {name}"));
    }
    let text = "Your rules count as soon as the file is saved, in every window; other values that are edited in it take \
                effect at the next start.";
    ui.label(widgets::rich(text, Text::Small, theme.dim));
    let (name, hint) = match settings.editor.is_empty() {
        false => ("Open in editor", "Opens the settings file in your editor"),
        true => ("Show in file manager", "Shows the folder of the settings file"),
    };
    if widgets::tooltip_button(ui, Look::Plain, icon::OPEN, name, hint) {
        actions.push(Action::Window(WindowAction::OpenSettingsFile));
    }
}

/// A button for one of several choices. Returns whether it was clicked.
fn choice_ui(ui: &mut Ui, icon: Option<Icon>, name: &str, chosen: bool) -> bool {
    let look = if chosen { Look::Primary } else { Look::Plain };
    widgets::button(ui, look, icon, name, true).clicked()
}

/// The field for the command that opens a file in an editor. The change takes effect when the field loses the
/// focus.
fn editor_ui(ui: &mut Ui, settings: &SettingsView, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    widgets::heading(ui, "Editor");
    let id = ui.scope_id().with("editor command");
    let typed = ui.data_mut(|data| data.get_temp::<String>(id));
    let mut text = typed.unwrap_or_else(|| settings.editor.clone());
    let edit = widgets::code_field(&mut text, id.with("edit"), f32::INFINITY)
        .hint_text("code -g {file}:{line}:{column}");
    let response = ui.add(edit).accessible_name("Editor command");
    if response.lost_focus() {
        ui.data_mut(|data| data.remove::<String>(id));
        if text != settings.editor {
            actions.push(Action::Window(WindowAction::SetEditor(text)));
        }
    } else if response.has_focus() {
        ui.data_mut(|data| data.insert_temp(id, text));
    }
    match &settings.editor_fault {
        Some(fault) => widgets::remark(ui, icon::WARNING, Tone::Caution, fault),
        None => {
            let text = "The program and its arguments; {file}, {line} and {column} are filled in. \
                        It is run without a shell.";
            ui.label(widgets::rich(text, Text::Small, theme.dim));
        }
    }
}
