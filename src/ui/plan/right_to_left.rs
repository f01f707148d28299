//! Says that a step contains text of a script that is written from right to left. It is drawn in the order in which it is
//! stored (`ui::glyphs`), so that nothing around it is mirrored; a reader of the script expects the opposite.

use egui::{Id, Ui};

use super::PlanView;
use super::inspector::indented;
use crate::plan::{ShownStep, has_right_to_left};
use crate::ui::{Tone, icon, widgets};

/// The note of a step in a list.
pub(crate) const RIGHT_TO_LEFT: &str = "right-to-left text";

/// Whether an argument of a step has text that is written from right to left.
pub(crate) fn step_has_right_to_left(step: &ShownStep) -> bool {
    step.arguments.values().any(|value| has_right_to_left(value))
}

/// Shows that a step has such text, if it has.
pub(super) fn right_to_left_ui(ui: &mut Ui, view: &PlanView<'_>, step: &ShownStep) {
    // Arguments may be large, so they are not searched in every frame.
    let id = Id::unique(("right to left", view.digest, step.step_index));
    let has_it =
        ui.data_mut(|data| *data.get_temp_mut_or_insert_with(id, || step_has_right_to_left(step)));
    if has_it {
        indented(ui, |ui| {
            let text = "Right-to-left text: each line is shown in the order of its characters, from left to right.";
            widgets::remark(ui, icon::INFO, Tone::Caution, text);
        });
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use crate::ui::action::Tab;
    use crate::ui::tests::window;

    #[test]
    fn a_step_with_right_to_left_text_says_how_it_is_shown() {
        for (contents, is_said) in [("a = 1 # \u{5E9}\u{5DC}\n", true), ("a = 1 # Grüße\n", false)]
        {
            let mut harness = window("unseen", [1280.0, 800.0]);
            harness.state_mut().scene.show_contents(contents, Tab::WillDo);
            harness.run_ok();
            let said = harness.query_by_label_contains("in the order of its characters");
            assert_eq!(said.is_some(), is_said, "{contents}");
        }
    }
}
