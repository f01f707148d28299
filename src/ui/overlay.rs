//! Overlays without decisions: the palette, the help and the bug report.

use egui::{Align, Frame, Id, Key, Layout, Margin, Modal, ScrollArea, TextEdit, Ui, vec2};

mod bug_report;
mod help;

use super::action::WindowAction;
use super::commands::{Spec, TABLE};
use super::{Action, Commands, Situation, Text, Theme, Tone, access, icon, narrow, rows, widgets};
use crate::help::Help;
use crate::risk::UserRules;
pub use bug_report::BugReportView;
pub use help::explain_ui;
pub(super) use help::take_request;

/// The open overlay.
#[derive(Debug, Clone, PartialEq)]
pub enum Overlay {
    /// The palette: all commands, searched by name.
    Palette,
    /// The help.
    Help {
        /// The name of the entry at which it was opened; empty for its beginning.
        topic: String,
        /// What it has.
        help: Help,
    },
    /// What a report about a fault of the program needs.
    BugReport(Box<BugReportView>),
}

impl Overlay {
    /// The help, opened at the entry with this name, with the rules of the settings.
    pub fn help(topic: String, rules: &UserRules) -> Self {
        Self::Help { topic, help: Help::with(rules) }
    }
}

/// Draws the open overlay.
pub fn overlay_ui(ui: &mut Ui, overlay: &Overlay, commands: &mut Commands<'_>) {
    let theme = Theme::of(ui);
    let frame = Frame::window(ui.style()).fill(theme.raised).inner_margin(Margin::same(16));
    let (name, title) = match overlay {
        Overlay::Palette => ("palette", "Commands"),
        Overlay::Help { .. } => ("help", "Help"),
        Overlay::BugReport(_) => ("bug report", "Bug report"),
    };
    let modal = Modal::new(Id::unique(name)).frame(frame).backdrop_color(theme.backdrop);
    let screen = ui.ctx().content_rect();
    let response = modal.show(ui.ctx(), |ui| {
        access::modal(ui, access::Named::As(title));
        let width = match overlay {
            Overlay::Help { .. } => help::WIDTH,
            Overlay::BugReport(_) => bug_report::WIDTH,
            Overlay::Palette => 560.0,
        };
        ui.set_width(width.min(screen.width() - 64.0));
        ui.set_max_height(
            screen.height() - if screen.height() < narrow::LOW { 48.0 } else { 96.0 },
        );
        match overlay {
            Overlay::Palette => palette_ui(ui, commands),
            Overlay::Help { topic, help } => help::help_ui(ui, topic, help, commands.actions),
            Overlay::BugReport(report) => bug_report::report_ui(ui, report, commands.actions),
        }
    });
    if response.should_close() {
        commands.actions.push(Action::Window(WindowAction::CloseOverlay));
    }
}

/// The text and the selected row of the open palette.
type PaletteState = (String, usize);

fn palette_id() -> Id {
    Id::unique("palette text")
}

/// Forgets what was typed in the palette. Call this in every frame without an overlay.
pub fn clean_up(ctx: &egui::Context) {
    ctx.data_mut(|data| data.remove::<PaletteState>(palette_id()));
    help::clean_up(ctx);
}

/// The commands whose name and tooltip contain every word of `text`, in the order of the table.
pub fn matching(text: &str) -> Vec<&'static Spec> {
    let words: Vec<_> = text.split_whitespace().map(str::to_lowercase).collect();
    TABLE
        .iter()
        .filter(|spec| {
            let searched = format!("{} {}", spec.text, spec.tooltip).to_lowercase();
            words.iter().all(|word| searched.contains(word))
        })
        .collect()
}

fn palette_ui(ui: &mut Ui, commands: &mut Commands<'_>) {
    let theme = Theme::of(ui);
    let situation = commands.situation;
    let id = palette_id();
    let (mut text, mut selected) =
        ui.data_mut(|data| data.get_temp::<PaletteState>(id)).unwrap_or_default();
    let (down, up, enter) = ui.input_mut(|input| {
        let mut take = |key| input.consume_key(egui::Modifiers::NONE, key);
        (take(Key::ArrowDown), take(Key::ArrowUp), take(Key::Enter))
    });
    let edit = TextEdit::singleline(&mut text)
        .id(id.with("edit"))
        .hint_text("Type what you want to do")
        .margin(Margin::symmetric(10, 8))
        .desired_width(f32::INFINITY);
    let response = ui.add(edit).accessible_name("Find a command");
    // A request while it has the focus would end what an input method composes.
    if !response.has_focus() {
        response.request_focus();
    }
    if response.changed() {
        selected = 0;
    }
    let mut found = matching(&text);
    let lower = text.trim().to_lowercase();
    found.sort_by_key(|spec| {
        let name = spec.text.to_lowercase();
        let rank = [name.starts_with(&lower), name.contains(&lower)];
        ((spec.unavailable)(situation).is_some(), rank.map(|is| !is))
    });
    selected = (selected + usize::from(down)).saturating_sub(usize::from(up && !down));
    selected = selected.min(found.len().saturating_sub(1));
    ui.add_space(6.0);
    let mut chosen = enter.then(|| found.get(selected)).flatten().copied();
    // A fixed height, so that the field stays where it is.
    let list = ScrollArea::vertical().max_height(380.0).auto_shrink([false, false]);
    list.show(ui, |ui| {
        access::list(ui, egui::Role::ListBox, "Commands found", found.len());
        ui.spacing_mut().item_spacing.y = 0.0;
        if found.is_empty() {
            ui.label(widgets::rich("No command has these words.", Text::Body, theme.dim));
        }
        for (index, spec) in found.iter().enumerate() {
            if palette_row_ui(ui, spec, (index == selected, index), situation) {
                chosen = Some(spec);
            }
        }
    });
    ui.data_mut(|data| data.insert_temp(id, (text, selected)));
    if let Some(spec) = chosen.filter(|spec| (spec.unavailable)(situation).is_none()) {
        commands.actions.push(Action::Window(WindowAction::CloseOverlay));
        commands.actions.push(Action::Do(spec.command));
    }
}

fn palette_row_ui(
    ui: &mut Ui,
    spec: &Spec,
    (selected, index): (bool, usize),
    situation: &Situation,
) -> bool {
    let theme = Theme::of(ui);
    let why_not = (spec.unavailable)(situation);
    let size = vec2(ui.available_width(), 32.0);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::click());
    rows::item_background(ui, &response, selected);
    if selected {
        response.scroll_to_me(None);
    }
    let color = if why_not.is_some() { theme.dim } else { theme.text };
    let middle = rect.center().y;
    if let Some(icon) = spec.icon {
        let center = egui::pos2(rect.left() + 18.0, middle);
        widgets::paint_icon(ui, center, icon, 16.0, color);
    }
    let key = spec.shortcut_text(ui).unwrap_or_default();
    let right = egui::pos2(rect.right() - 10.0, middle);
    let key_width = widgets::paint_right(ui, right, (&key, Text::Meta, theme.dim));
    let sentence = why_not.unwrap_or(spec.tooltip);
    let parts = [(spec.text, Text::Body, color), (sentence, Text::Small, theme.dim)];
    let width = (rect.width() - key_width - 60.0).max(0.0);
    widgets::paint_parts(ui, egui::pos2(rect.left() + 36.0, middle), width, &parts);
    response.widget_info(|| {
        egui::WidgetInfo::selected(egui::Role::Button, why_not.is_none(), selected, spec.text)
    });
    access::option(&response, egui::Role::ListBoxOption, selected);
    access::describe(&response, sentence);
    access::place(&response, index);
    response.clicked()
}

/// The title of an overlay, with a button that closes it.
fn title_ui(ui: &mut Ui, title: &str, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::icon_button(ui, icon::CLOSE, "Close").clicked() {
                actions.push(Action::Window(WindowAction::CloseOverlay));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                widgets::line(ui, title, Text::Title, Tone::Plain);
            });
        });
    });
    ui.add_space(4.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn palette_finds_commands_by_any_words() {
        let names = |text: &str| matching(text).iter().map(|spec| spec.text).collect::<Vec<_>>();
        assert_eq!(names("stop every process"), ["Stop now"]);
        assert!(names("").len() == TABLE.len() && names("xyzzy").is_empty());
    }
}
