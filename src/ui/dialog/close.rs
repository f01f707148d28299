//! The question whether to close the window while a run is in progress.

use egui::Ui;

use super::{Answer, Answers, PromptId, Shape, padded, question_ui};
use crate::ui::action::{Action, DialogAction};
use crate::ui::icon;
use crate::ui::theme::{Text, Tone};
use crate::ui::widgets;

pub(super) fn close_ui(ui: &mut Ui, prompt: PromptId, actions: &mut Vec<Action>) {
    let shape =
        Shape { title: "Stop the run and close?", risk: None, chip_prefix: "", width: 480.0 };
    let leave = Answer::leave("Keep running");
    let text = "The run is cancelled, then the window closes.";
    let stop = Answer::safe(Some(icon::STOP), "Stop and close", text, DialogAction::StopAndClose);
    let answers = Answers { safe: vec![leave], approve: Some(stop) };
    question_ui(
        ui,
        prompt,
        &shape,
        actions,
        |_| answers,
        |ui, _, _| {
            padded(ui, |ui| {
                let text = "A run is under way. Closing stops it now, with every process it \
                        started; the step under way is recorded as cancelled. A step that \
                        waits for your answer stays unanswered.";
                widgets::paragraph(ui, text, Text::Body, Tone::Plain);
            });
        },
    );
}
