//! The reason why the buttons of a dialog do not count yet.

use egui::{TextStyle, TextWrapMode, Ui};

use super::arming::Allowed;
use crate::ui::{Text, Theme, widgets};

/// Says why the buttons are disabled, if there is room for it.
pub(super) fn wait_ui(ui: &mut Ui, allowed: Allowed) {
    if allowed.approve {
        return;
    }
    let text = if allowed.focused { "Enabled in a moment…" } else { "Click the window first." };
    let text = widgets::rich(text, Text::Meta, Theme::of(ui).dim);
    let text = egui::WidgetText::from(text);
    let galley = text.into_galley(ui, Some(TextWrapMode::Extend), f32::INFINITY, TextStyle::Body);
    if galley.size().x <= ui.available_width() {
        ui.label(galley);
    }
}
