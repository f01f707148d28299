//! Controls with a state or a menu; [`super::widgets`] has the plain ones.

use egui::accesskit::Action as Request;
use egui::{
    Align2, AsIdSalt, Button, CollapsingHeader, CornerRadius, Id, Key, Modifiers, Popup, Response,
    Role, Sense, SetOpenCommand, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::access::Reason as _;
use super::widgets::{
    focus_ring, paint_icon, paragraph, reveal_focused, rich, ring, row_ring, selected_line,
};
use super::{Chip, Icon, Text, Theme, Tone, access, theme};
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
    if on {
        selected_line(ui, rect);
    }
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

/// As [`selectable`], for a row of a list, at this place from 0.
pub(crate) fn list_row(
    ui: &Ui,
    row: &Response,
    (selected, index): (bool, usize),
    name: impl Fn() -> String,
) -> bool {
    row.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, name()));
    row_ring(ui, row);
    access::option(row, Role::ListBoxOption, selected);
    access::place(row, index);
    row.clicked()
}

/// As [`selectable`], for one of several tabs, whose icon and text begin at its edges, so that its ring stands apart
/// from them.
pub(crate) fn tab(ui: &Ui, tab: &Response, selected: bool, name: impl Fn() -> String) -> bool {
    tab.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, name()));
    access::option(tab, Role::Tab, selected);
    reveal_focused(ui, tab);
    ring(ui, tab, tab.rect.expand2(vec2(6.0, -4.0)), Theme::of(ui).accent);
    tab.clicked()
}

/// As [`selectable`], for what shows and hides a part of the page.
pub(crate) fn folding(
    ui: &Ui,
    control: &Response,
    is_expanded: bool,
    name: impl Fn() -> String,
) -> bool {
    let clicked = painted_button(ui, control, name);
    access::expanded(control, is_expanded);
    clicked
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
    menu_item_unless(ui, text, None)
}

/// As [`menu_item`], but disabled if there is a reason why it cannot be chosen now.
pub(crate) fn menu_item_unless(ui: &mut Ui, text: &str, why_not: Option<&str>) -> bool {
    let item = ui.add_enabled(why_not.is_none(), Button::new(drawable(text)));
    access::role(&item, Role::MenuItem);
    let item = item.or_why(why_not.unwrap_or_default());
    ring(ui, &item, item.rect.expand2(vec2(4.0, 0.0)), Theme::of(ui).accent);
    if item.enabled() && ui.data_mut(take_first) {
        item.request_focus();
    }
    let chosen = item.clicked();
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

/// The menu of a row that was opened without the pointer.
#[derive(Debug, Clone, Copy)]
struct OpenedByKey {
    row: Id,
    /// Whether its first item is still to get the keyboard.
    is_new: bool,
}

fn opened_by_key() -> Id {
    Id::unique("the row whose menu a key has opened")
}

/// Whether the item that is drawn now is the first one of a menu that a key has opened.
fn take_first(data: &mut egui::util::IdTypeMap) -> bool {
    let opened = data.get_temp::<OpenedByKey>(opened_by_key()).filter(|it| it.is_new);
    if let Some(opened) = opened {
        data.insert_temp(opened_by_key(), OpenedByKey { is_new: false, ..opened });
    }
    opened.is_some()
}

/// The menu of a row. The right button of the mouse opens it at the pointer. The menu key or Shift+F10, while the row has the
/// keyboard, and assistive technology open it below the row, with the keyboard on its first item; the row gets the keyboard
/// back when it closes.
pub(crate) fn row_menu(ui: &Ui, row: &Response, add: impl FnOnce(&mut Ui)) {
    access::offers_menu(row);
    let is_pressed = row.has_focus()
        && ui.input_mut(|input| {
            input.consume_key(Modifiers::NONE, Key::Menu)
                || input.consume_key(Modifiers::SHIFT, Key::F10)
        });
    let is_asked_for =
        ui.input(|input| input.has_accesskit_action_request(row.id, Request::ShowContextMenu));
    let mut menu = Popup::context_menu(row);
    if is_pressed || is_asked_for {
        let opened = OpenedByKey { row: row.id, is_new: true };
        ui.data_mut(|data| data.insert_temp(opened_by_key(), opened));
        menu = menu.open_memory(Some(SetOpenCommand::Bool(true)));
    } else if row.secondary_clicked() {
        ui.data_mut(|data| data.remove::<OpenedByKey>(opened_by_key()));
    }
    let opened = ui.data(|data| data.get_temp::<OpenedByKey>(opened_by_key()));
    let is_by_key = opened.is_some_and(|it| it.row == row.id);
    if is_by_key {
        menu = menu.anchor(row);
    }
    let id = menu.get_id();
    menu.show(add);
    if is_by_key && !Popup::is_id_open(ui.ctx(), id) {
        ui.data_mut(|data| data.remove::<OpenedByKey>(opened_by_key()));
        // A click elsewhere has moved the keyboard.
        if !ui.input(|input| input.pointer.any_click()) {
            row.request_focus();
        }
    }
}
