//! The dialog that asks for the reason of a rejection.

use egui::{Margin, TextEdit, Ui};

use super::{Answer, Answers, PromptId, Shape, padded, question_ui};
use crate::plan::Digest;
use crate::ui::action::{Action, DialogAction};
use crate::ui::icon;
use crate::ui::theme::{Text, Tone};
use crate::ui::widgets;

pub(super) fn reject_ui(
    ui: &mut Ui,
    prompt: PromptId,
    digest: Digest,
    name: &str,
    ends_loop: bool,
    actions: &mut Vec<Action>,
) {
    let shape = Shape { title: "Reject this plan?", risk: None, chip_prefix: "", width: 520.0 };
    let answers = |typed: &str| {
        let reason = typed.trim().to_owned();
        let ready = !reason.is_empty();
        let action = DialogAction::Reject { digest, reason };
        let reject = Answer::approve(icon::PROHIBIT, "Reject", "Enter the reason first.", action);
        Answers { safe: vec![Answer::leave("Not now")], approve: Some(Answer { ready, ..reject }) }
    };
    question_ui(ui, prompt, &shape, actions, answers, |ui, typed, id| {
        padded(ui, |ui| {
            widgets::paragraph(ui, name, Text::Strong, Tone::Plain);
            let text = if ends_loop {
                "It ends the loop. The rejection and its reason are kept in the evidence."
            } else {
                "The rejection and its reason are kept in the evidence."
            };
            widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
            let label = widgets::line(ui, "Reason", Text::Meta, Tone::Dim);
            let edit = TextEdit::multiline(typed)
                .id(id.with("reason"))
                .desired_rows(4)
                .desired_width(f32::INFINITY)
                .margin(Margin::symmetric(10, 8));
            ui.add(edit).labelled_by(label.id);
        });
    });
}
