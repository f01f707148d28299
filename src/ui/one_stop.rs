//! Lists that are one stop of Tab each, however many rows they have: Tab reaches the selected row, or the first one, and
//! the arrow keys move from row to row.
//!
//! The other rows cannot get the focus, but they keep their accessible names and can be clicked.

use egui::{AsIdSalt, Id, Key, Modifiers, Response, Sense, Ui, Vec2};

use super::artifact::keep_keyboard;

/// A list that is one stop of Tab.
pub struct OneStop {
    /// The ids of the rows.
    rows: Vec<Id>,
    /// The row that Tab reaches.
    stop: usize,
    /// Whether a key has just moved the focus.
    has_moved: bool,
}

impl OneStop {
    /// A list of rows with these keys, which are different. Moves the focus if one of the rows has it and an arrow key,
    /// Home or End was pressed. Call this before the rows are drawn.
    pub fn new<K: AsIdSalt>(
        ui: &Ui,
        name: &str,
        keys: impl Iterator<Item = K>,
        selected: Option<usize>,
    ) -> Self {
        let list = ui.scope_id().with(name);
        let rows: Vec<Id> = keys.map(|key| list.with(key)).collect();
        let focused = ui.memory(|memory| memory.focused());
        let at = rows.iter().position(|row| Some(*row) == focused);
        let mut new = Self { rows, stop: at.or(selected).unwrap_or(0), has_moved: false };
        if let Some(at) = at {
            new.take_keys(ui, at);
        }
        new
    }

    fn take_keys(&mut self, ui: &Ui, at: usize) {
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        if let Some(row) = self.rows.get(at).filter(|_| pressed(Key::Escape)) {
            ui.memory_mut(|memory| memory.surrender_focus(*row));
            return;
        }
        let last = self.rows.len().saturating_sub(1);
        let moves = [
            (Key::ArrowDown, (at + 1).min(last)),
            (Key::ArrowUp, at.saturating_sub(1)),
            (Key::Home, 0),
            (Key::End, last),
        ];
        for (_, to) in moves.into_iter().filter(|(key, _)| pressed(*key)) {
            if let Some(row) = self.rows.get(to) {
                ui.memory_mut(|memory| memory.request_focus(*row));
                (self.stop, self.has_moved) = (to, true);
            }
        }
    }

    /// The row that Tab reaches. It has to be drawn, even out of sight.
    pub fn stop(&self) -> usize {
        self.stop
    }

    /// Allocates a row, which reacts to clicks.
    pub fn row(&self, ui: &mut Ui, index: usize, size: Vec2) -> Response {
        let (auto_id, rect) = ui.allocate_space(size);
        let id = self.rows.get(index).copied().unwrap_or(auto_id);
        let sense = if index == self.stop { Sense::click() } else { Sense::CLICK };
        let response = ui.interact(rect, id, sense);
        if response.has_focus() {
            keep_keyboard(ui, id);
            if self.has_moved || response.gained_focus() {
                response.scroll_to_me(None);
            }
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use super::*;
    use crate::ui::tests::{Window, window};
    use crate::ui::{Action, PlanAction};

    fn focused(harness: &Harness<'_, Window>) -> Option<String> {
        let nodes = harness.root().children_recursive();
        let mut focused = nodes.filter(|node| node.accesskit_node().is_focused());
        focused.next()?.accesskit_node().label()
    }

    #[test]
    fn the_lists_at_the_left_are_one_stop_each() {
        let mut harness = window("plan", [1280.0, 800.0]);
        harness.get_by_label("Open plan…").focus();
        harness.run_ok();
        let mut stops = Vec::new();
        for _ in 0..3 {
            harness.key_press(Key::Tab);
            harness.run_ok();
            stops.push(focused(&harness).unwrap());
        }
        assert!(stops[0].starts_with("Plan Fix E0425"), "{stops:?}");
        assert!(stops[1].starts_with("Run of "), "{stops:?}");
        assert!(!stops[2].starts_with("Run of "), "{stops:?}");
    }

    #[test]
    fn arrow_keys_move_inside_a_list() {
        let mut harness = window("plan", [1280.0, 800.0]);
        harness.get_by_label("Open plan…").focus();
        harness.run_ok();
        for key in [Key::Tab, Key::ArrowDown] {
            harness.key_press(key);
            harness.run_ok();
        }
        assert_eq!(
            focused(&harness).as_deref(),
            Some("Plan Rename Config to Settings, interrupted")
        );
        assert_eq!(harness.state().actions, [], "the selected step stays");
        harness.key_press(Key::Enter);
        harness.run_ok();
        let is_open = |it: &Action| matches!(it, Action::Plan(PlanAction::Open(_)));
        assert!(harness.state().actions.iter().any(is_open), "{:?}", harness.state().actions);
        for (key, label) in [(Key::End, "retry"), (Key::Home, "Fix E0425")] {
            harness.key_press(key);
            harness.run_ok();
            assert!(focused(&harness).unwrap().contains(label), "{key:?}");
        }
        harness.key_press(Key::Escape);
        harness.run_ok();
        assert_eq!(focused(&harness), None);
    }

    /// Assistive technology clicks without the pointer and without the focus.
    #[test]
    fn every_row_can_be_clicked_by_its_name() {
        let mut harness = window("plan", [1280.0, 800.0]);
        harness.get_by_label_contains("Plan Rename Config to Settings").click_accesskit();
        harness.run_ok();
        let is_open = |it: &Action| matches!(it, Action::Plan(PlanAction::Open(_)));
        assert!(harness.state().actions.iter().any(is_open), "{:?}", harness.state().actions);
    }
}
