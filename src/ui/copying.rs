//! Values and texts that a click copies.

use egui::{Label, Response, Role, Sense, Ui, WidgetInfo};

use super::widgets::{focus_ring, icon_button, rich, value_label};
use super::{Text, Theme, icon};
use crate::plan::{drawable, drawable_lines};

/// Shows `short`; a click copies `full`. `what` names the copied text in the tooltip.
pub fn copyable(ui: &mut Ui, short: &str, full: &str, what: &str) -> Response {
    let theme = Theme::of(ui);
    let label =
        Label::new(rich(drawable(short), Text::Mono, theme.dim)).sense(Sense::click()).truncate();
    let response = ui.add(label);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Copy {what}")));
    focus_ring(ui, &response);
    if response.clicked() {
        ui.ctx().copy_text(full.to_owned());
    }
    response
        .on_hover_cursor(egui::CursorIcon::Copy)
        .on_hover_text(format!("{}\nClick to copy {what}.", drawable_lines(full)))
}

/// A name and its value in two columns; a click on the value copies it. `what` names the value in the tooltip.
pub fn copyable_value(ui: &mut Ui, name: &str, value: &str, what: &str) {
    ui.horizontal(|ui| {
        value_label(ui, name);
        copyable(ui, value, value, what);
    });
}

/// An icon button that copies `text`. `what` names the text in the tooltip.
pub fn copy_button(ui: &mut Ui, text: &str, what: &str) -> Response {
    let button = icon_button(ui, icon::COPY, &format!("Copy {what}"));
    if button.clicked() {
        ui.ctx().copy_text(text.to_owned());
    }
    button
}
