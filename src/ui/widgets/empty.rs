//! Areas without content.

use egui::{Label, ScrollArea, Ui, vec2};

use super::{Look, button, rich};
use crate::ui::{Icon, Text, Theme};

/// The content of an empty area: what will appear there, why it does not yet, and the one thing that can be done about it,
/// as a button with an icon and a text. Returns whether that was chosen.
#[must_use = "the button does nothing by itself"]
pub fn empty_state(
    ui: &mut Ui,
    icon: Icon,
    (title, text): (&str, &str),
    (offer_icon, offer): (Icon, &str),
) -> bool {
    // A low window does not have the room for all of it.
    let scroll = ScrollArea::vertical().id_salt("empty").auto_shrink(false);
    let shown = scroll.show(ui, |ui| {
        centered_ui(ui, icon, title, text);
        ui.add_space(12.0);
        let offered = ui.vertical_centered(|ui| {
            button(ui, Look::Plain, Some(offer_icon), offer, true).clicked()
        });
        ui.add_space(8.0);
        offered.inner
    });
    shown.inner
}

/// The content of an area whose content is being read. There is nothing to do but to wait a moment.
pub fn reading_state(ui: &mut Ui, icon: Icon, title: &str, text: &str) {
    centered_ui(ui, icon, title, text);
}

fn centered_ui(ui: &mut Ui, icon: Icon, title: &str, text: &str) {
    let theme = Theme::of(ui);
    ui.vertical_centered(|ui| {
        ui.add_space((ui.available_height() * 0.25).clamp(16.0, 140.0));
        // A low area has no room for the picture beside the text and the button.
        if ui.available_height() > 150.0 {
            ui.label(icon.text(36.0).color(theme.dim));
            ui.add_space(8.0);
        }
        ui.label(rich(title, Text::Strong, theme.text));
        ui.add_space(4.0);
        // Limits the line length for readability, however wide the window is.
        let width = (ui.available_width() - 24.0).clamp(0.0, 440.0);
        ui.allocate_ui(vec2(width, 0.0), |ui| {
            ui.vertical_centered(|ui| ui.add(Label::new(rich(text, Text::Body, theme.dim)).wrap()));
        });
    });
}
