//! Controls with a state or a menu; [`super::widgets`] has the plain ones.

use egui::{
    Align2, AsIdSalt, Button, CollapsingHeader, CornerRadius, Response, Role, Sense, Stroke, Ui,
    WidgetInfo, pos2, vec2,
};

use super::widgets::{focus_ring, paint_icon, paragraph, reveal_focused, rich};
use super::{Chip, Icon, Text, Theme, Tone, theme};
use crate::plan::drawable;

/// The lines of buttons that follow one another; one that does not fit begins another line.
pub(crate) struct Lines {
    gap: f32,
    width: f32,
    line: u8,
    end: f32,
}

impl Lines {
    /// Lines of this width, with this gap between two buttons, in points.
    pub(crate) fn new(gap: f32, width: f32) -> Self {
        Self { gap, width, line: 0, end: 0.0 }
    }

    /// The line, from 0, of the next button, which has this width.
    pub(crate) fn place(&mut self, button: f32) -> u8 {
        if self.end > 0.0 && self.end + self.gap + button > self.width {
            (self.line, self.end) = (self.line + 1, 0.0);
        }
        self.end += if self.end > 0.0 { self.gap + button } else { button };
        self.line
    }
}

/// The width of a button with this text, in points.
pub fn button_width(ui: &Ui, text: &str, has_icon: bool) -> f32 {
    let icon_width = if has_icon { 22.0 } else { 0.0 };
    Text::Body.width_of(ui, text) + 2.0 * ui.spacing().button_padding.x + icon_width
}

/// A part that is folded until the person unfolds it by its title.
pub fn folded(ui: &mut Ui, title: &str, id_salt: impl AsIdSalt, body: impl FnOnce(&mut Ui)) {
    let dim = Theme::of(ui).dim;
    // The header itself would not wrap, and push the scroll bar out of sight.
    let width = ui.available_width() - ui.spacing().indent - 8.0;
    let wrapped = ui.painter().layout(title.to_owned(), Text::Meta.font(), dim, width);
    let rows: Vec<_> = wrapped.rows.iter().map(|row| row.text()).collect();
    let title = rich(rows.join("\n"), Text::Meta, dim);
    let header = CollapsingHeader::new(title).id_salt(id_salt).show(ui, body).header_response;
    reveal_focused(ui, &header);
    focus_ring(ui, &header);
}

/// A toggle with an icon and a word; filled while it is on.
pub fn toggle(ui: &mut Ui, icon: Icon, text: &str, tone: Tone, on: bool) -> Response {
    let theme = Theme::of(ui);
    let chip = Chip::new(icon, text, tone);
    let size = vec2(chip.width(ui), 24.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let radius = CornerRadius::same(theme::RADIUS);
    let color = if on { theme.chip_text(tone) } else { theme.dim };
    if on {
        ui.painter().rect_filled(rect, radius, theme.chip(tone, theme.background));
    }
    let border = if response.hovered() {
        theme.dim
    } else if on {
        theme.chip(tone, theme.background)
    } else {
        theme.line
    };
    ui.painter().rect_stroke(rect, radius, Stroke::new(1.0, border), egui::StrokeKind::Inside);
    paint_icon(ui, pos2(rect.left() + 14.0, rect.center().y), icon, 14.0, color);
    let left = pos2(rect.left() + 25.0, rect.center().y);
    ui.painter().text(left, Align2::LEFT_CENTER, text, Text::Meta.font(), color);
    selectable(ui, &response, on, || text.to_owned());
    response
}

/// A choice with its icon, its name, and a sentence about it, which may be empty.
pub(crate) type Choice<T> = (T, Icon, &'static str, &'static str);

/// Several choices, with the sentence about the chosen one.
pub(crate) fn choices_ui<T: Copy + PartialEq>(ui: &mut Ui, chosen: &mut T, choices: &[Choice<T>]) {
    ui.horizontal_wrapped(|ui| {
        for (choice, icon, name, _) in choices {
            if toggle(ui, *icon, name, Tone::Accent, chosen == choice).clicked() {
                *chosen = *choice;
            }
        }
    });
    let chosen = choices.iter().find(|it| it.0 == *chosen);
    if let Some((.., sentence)) = chosen.filter(|it| !it.3.is_empty()) {
        paragraph(ui, sentence, Text::Meta, Tone::Dim);
    }
}

/// Gives a painted control that can be selected its accessible name and its focus ring. Returns whether it was
/// clicked.
pub fn selectable(ui: &Ui, control: &Response, selected: bool, name: impl Fn() -> String) -> bool {
    control.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, name()));
    focus_ring(ui, control);
    control.clicked()
}

/// Gives a painted button its accessible name and its focus ring. Returns whether it was clicked.
pub fn painted_button(ui: &Ui, button: &Response, name: impl Fn() -> String) -> bool {
    button.widget_info(|| WidgetInfo::labeled(Role::Button, true, name()));
    focus_ring(ui, button);
    button.clicked()
}

/// A button that opens a menu.
pub fn menu(ui: &mut Ui, icon: Icon, text: &str, add: impl FnOnce(&mut Ui)) -> Response {
    let theme = Theme::of(ui);
    let label = rich(text, Text::Body, theme.text);
    let button = Button::new((icon.text(16.0).color(theme.text), label))
        .min_size(vec2(0.0, theme::BUTTON))
        .gap(6.0);
    menu_of(ui, button, text, add)
}

/// A text that looks like a link and opens a menu. `name` is its accessible name.
pub fn menu_link(ui: &mut Ui, text: &str, name: &str, add: impl FnOnce(&mut Ui)) -> Response {
    let label = rich(drawable(text), Text::Mono, Theme::of(ui).accent);
    let button = Button::new(label).frame(false).truncate();
    menu_of(ui, button, name, add)
}

/// One item of a menu. Returns whether it was chosen; choosing it closes the menu.
pub fn menu_item(ui: &mut Ui, text: &str) -> bool {
    let chosen = ui.button(drawable(text)).clicked();
    if chosen {
        // egui closes the menu after a click, but not after a key.
        ui.close();
    }
    chosen
}

/// A menu that this button opens. `name` is the accessible name of the button.
pub fn menu_of(ui: &mut Ui, button: Button<'_>, name: &str, add: impl FnOnce(&mut Ui)) -> Response {
    let (response, _) = egui::containers::menu::MenuButton::from_button(button).ui(ui, add);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, drawable(name)));
    focus_ring(ui, &response);
    response
}
