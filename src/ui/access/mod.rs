//! What a screen reader gets beside the names that the widgets give: roles, landmarks, states, reasons and announcements.
//!
//! Widgets write into the accessibility tree of the frame that is drawn. [`requests`] decides which requests of
//! assistive technology reach them, and makes sure that nothing hidden is in any name.

mod requests;
#[cfg(test)]
mod tests;

use egui::accesskit::{Action, HasPopup, Live, Node, Toggled};
use egui::{Id, Response, Role, Ui, UiKind};

pub(super) use requests::{Requests, is_press, refused_press};

/// Changes the node of a widget that was drawn in this frame. Does nothing while no assistive technology is there.
fn change(response: &Response, change: impl FnOnce(&mut Node)) {
    if response.ctx.has_accesskit_node(response.id) {
        response.ctx.accesskit_node_builder(response.id, change);
    }
}

/// Makes this part of the window one that a screen reader can jump to.
pub(super) fn landmark(ui: &Ui, role: Role, name: &str) {
    ui.ctx().accesskit_node_builder(ui.unique_id(), |node| {
        node.set_role(role);
        node.set_label(name);
    });
}

/// Names a part that egui has drawn, such as the edge of a panel.
pub(super) fn rename(ui: &Ui, id: Id, name: &str) {
    if ui.ctx().has_accesskit_node(id) {
        ui.ctx().accesskit_node_builder(id, |node| node.set_label(name));
    }
}

/// Makes this part of the window a list with this number of rows, of which only the visible ones may be drawn.
pub(super) fn list(ui: &Ui, role: Role, name: &str, rows: usize) {
    ui.ctx().accesskit_node_builder(ui.unique_id(), |node| {
        node.set_role(role);
        node.set_label(name);
        node.set_size_of_set(rows);
    });
}

/// Makes a control with a name a row of a list or one of several tabs, and says whether it is selected.
pub(super) fn option(response: &Response, role: Role, selected: bool) {
    change(response, |node| {
        node.set_role(role);
        node.clear_toggled();
        node.set_selected(selected);
    });
}

/// Says at which place of its list a row is, from 0.
pub(super) fn place(response: &Response, index: usize) {
    change(response, |node| node.set_position_in_set(index));
}

/// Makes a label a heading. `level` is 1 for the title of the page or of the dialog.
pub(super) fn heading(response: &Response, level: usize) {
    change(response, |node| {
        let text = node.value().map(str::to_owned);
        if let Some(text) = text {
            node.set_role(Role::Heading);
            node.set_label(text);
            node.clear_value();
            node.set_level(level);
        }
    });
}

/// Announces a text when it appears and whenever it changes, wherever the person is: at once, or after what is being said.
pub(super) fn announce(response: &Response, at_once: bool) {
    let live = if at_once { Live::Assertive } else { Live::Polite };
    change(response, |node| node.set_live(live));
}

/// Says whether what a control folds is shown.
pub(super) fn expanded(response: &Response, is_expanded: bool) {
    change(response, |node| {
        // AT-SPI knows only this of the two.
        node.set_toggled(Toggled::from(is_expanded));
        node.set_expanded(is_expanded);
    });
}

/// Says that a row has a menu, which assistive technology can open.
pub(super) fn offers_menu(response: &Response) {
    change(response, |node| {
        node.set_has_popup(HasPopup::Menu);
        node.add_action(Action::ShowContextMenu);
    });
}

/// Changes the role of a control that has its name.
pub(super) fn role(response: &Response, role: Role) {
    change(response, |node| node.set_role(role));
}

/// Says more about a control or a line than its name does.
pub(super) fn describe(response: &Response, text: &str) {
    change(response, |node| node.set_description(text));
}

/// The name of a dialog.
pub(super) enum Named<'a> {
    /// This text.
    As(&'a str),
    /// The title that was drawn.
    By(&'a Response),
}

/// Names the dialog that this is a part of, and says that nothing behind it can be used.
pub(super) fn modal(ui: &Ui, name: Named<'_>) {
    let Some(area) = ui.stack().iter().find(|it| it.kind() == Some(UiKind::Modal)) else { return };
    ui.ctx().accesskit_node_builder(area.unique_id, |node| {
        match name {
            Named::As(name) => node.set_label(name),
            Named::By(title) => node.push_labelled_by(title.id.accesskit_id()),
        }
        node.set_modal();
    });
}

/// A control that says why it is disabled.
pub(super) trait Reason {
    /// Shows the reason on hover while the control is disabled, and says it to a screen reader.
    fn or_why(self, why: &str) -> Self;
}

impl Reason for Response {
    fn or_why(self, why: &str) -> Self {
        if !self.enabled() && !why.is_empty() {
            describe(&self, why);
        }
        self.on_disabled_hover_text(why)
    }
}
