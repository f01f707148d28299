//! The bar above the list of steps, which filters it.

use egui::{Frame, Key, Margin, Modifiers, Ui, vec2};

use super::{PlanView, StepFilter, StepKind, StepList};
use crate::ui::widgets::focus_ring;
use crate::ui::{Action, PlanAction, Text, controls, format, icon, widgets};

/// What the text field above the list finds, and its keys.
pub(crate) const FIELD_HELP: &str = "Words in a step's number, arguments, title, reason, tool or id; all of them must occur. Enter and \
                                     Shift+Enter go through the hits; Escape lists all steps.";

/// The number of steps from which on the bar is always there.
const LONG: usize = 12;

/// Below this width, in points, the field for text is shorter.
const NARROW: f32 = 440.0;

/// The bar above the list: a field for text, and a toggle for each kind that there is.
pub(super) fn filter_ui(ui: &mut Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    let list = view.list;
    let count = view.plan.map_or(0, |plan| plan.steps.len());
    if count == 0 || (count < LONG && !list.is_open && list.filter.is_empty()) {
        return;
    }
    let margin = Margin { left: 18, right: 18, top: 6, bottom: 6 };
    Frame::NONE.inner_margin(margin).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing = vec2(6.0, 4.0);
        ui.horizontal_wrapped(|ui| {
            field_ui(ui, list, actions);
            for (kind, number) in StepKind::ALL.into_iter().zip(list.counts) {
                let on = list.filter.kinds.contains(&kind);
                if number == 0 && !on {
                    continue;
                }
                let (word, icon, tone) = kind.look();
                let text = format!("{word} {}", format::count(number as u64));
                let toggle = controls::toggle(ui, icon, &text, tone, on);
                if toggle.on_hover_text(kind.meaning()).clicked() {
                    let mut filter = list.filter.clone();
                    if !filter.kinds.remove(&kind) {
                        filter.kinds.insert(kind);
                    }
                    actions.push(Action::Plan(PlanAction::FilterSteps(filter)));
                }
            }
            if !list.filter.is_empty() {
                let listed = format::count(list.len(count) as u64);
                let text = format!("{listed} of {}", format::counted(count, "step"));
                ui.label(widgets::rich(text, Text::Meta, crate::ui::Theme::of(ui).dim));
                if widgets::icon_button(ui, icon::CLOSE, "List all steps").clicked() {
                    actions.push(Action::Plan(PlanAction::CloseFilter));
                }
            }
        });
    });
    widgets::line_below(ui);
}

fn field_ui(ui: &mut Ui, list: &StepList, actions: &mut Vec<Action>) {
    let id = ui.scope_id().with("find step");
    let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
    // Taken before the field, which would lose the focus.
    let focused = ui.ctx().memory(|memory| memory.has_focus(id));
    if focused {
        for (modifiers, by) in [(Modifiers::SHIFT, -1), (Modifiers::NONE, 1)] {
            if pressed(modifiers, Key::Enter) {
                actions.push(Action::Plan(PlanAction::SelectListed(by)));
            }
        }
    }
    let mut text = list.filter.text.clone();
    // In a narrow list, the field and the toggles of a long plan still fit into one line.
    let width = if ui.max_rect().width() < NARROW { 96.0 } else { 150.0 };
    let field = widgets::code_field(&mut text, id, width)
        .margin(Margin::symmetric(8, 3))
        .hint_text("Find a step");
    let response = ui.add(field).accessible_name("Find a step");
    focus_ring(ui, &response);
    if list.focus {
        response.request_focus();
    }
    // egui takes the focus away with this key before the frame begins.
    if response.lost_focus() && ui.input(|input| input.key_pressed(Key::Escape)) {
        actions.push(Action::Plan(PlanAction::CloseFilter));
    } else if response.changed() {
        let filter = StepFilter { text, ..list.filter.clone() };
        actions.push(Action::Plan(PlanAction::FilterSteps(filter)));
    }
    response.on_hover_text(FIELD_HELP);
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::ui::tests::{Window, window};

    #[test]
    fn the_field_finds_steps_by_key() {
        let mut harness = window("large", [1280.0, 800.0]);
        let field = |harness: &Harness<'_, Window>| harness.get_by_label("Find a step").rect();
        assert!(field(&harness).is_positive(), "a long plan has the bar");
        let listed = |harness: &Harness<'_, Window>| {
            harness.state().scene.view().plan.unwrap().list.len(10_000)
        };
        harness.get_by_label("Find a step").focus();
        harness.run_ok();
        harness.get_by_label("Find a step").type_text("changelog");
        harness.run_ok();
        assert_eq!(listed(&harness), 2_000);
        let label = "2,000 of 10,000 steps";
        assert!(harness.query_by_label(label).is_some());
        harness.state_mut().actions.clear();
        harness.key_press(Key::Enter);
        harness.run_ok();
        harness.key_press_modifiers(Modifiers::SHIFT, Key::Enter);
        harness.run_ok();
        let by = |by| Action::Plan(PlanAction::SelectListed(by));
        assert_eq!(harness.state().actions, [by(1), by(-1)], "the field keeps the focus");
        harness.get_by_label_contains("writes 4,000").click();
        harness.run_ok();
        harness.get_by_label("Find a step").focus();
        harness.run_ok();
        harness.key_press(Key::Escape);
        harness.run_ok();
        assert_eq!(listed(&harness), 10_000);
    }
}
