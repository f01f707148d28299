//! The question whether to close the window while a run is in progress.

use egui::{Align, Layout, Ui};

use super::arming::DELAY_MS;
use super::{PromptId, Shape, padded, question_ui};
use crate::ui::action::{Action, DialogAction};
use crate::ui::icon;
use crate::ui::theme::{Text, Tone};
use crate::ui::widgets::{self, Look};

pub(super) fn close_ui(ui: &mut Ui, prompt: PromptId, actions: &mut Vec<Action>) {
    let shape =
        Shape { title: "Stop the run and close?", chip: None, delay_ms: DELAY_MS, width: 480.0 };
    question_ui(
        ui,
        prompt,
        &shape,
        actions,
        |ui, asked, actions| {
            let hold_back = asked.allowed.hold_back;
            if widgets::button(ui, Look::Plain, None, "Keep running", hold_back).clicked() {
                actions.push(Action::Dialog(DialogAction::LeaveUndecided));
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let enabled = asked.allowed.approve;
                if widgets::button(ui, Look::Plain, Some(icon::STOP), "Stop and close", enabled)
                    .clicked()
                {
                    actions.push(Action::Dialog(DialogAction::StopAndClose));
                }
            });
        },
        |ui, _| {
            padded(ui, |ui| {
                let text = "A run is under way. Closing stops it now, with every process it \
                            started; the step under way is recorded as cancelled. A step that \
                            waits for your answer stays unanswered.";
                widgets::paragraph(ui, text, Text::Body, Tone::Plain);
            });
        },
    );
}
