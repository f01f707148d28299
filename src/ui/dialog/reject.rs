//! The dialog that asks for the reason of a rejection.

use egui::{Align, Layout, Margin, TextEdit, Ui};

use super::arming::DELAY_MS;
use super::{PromptId, Shape, padded, question_ui};
use crate::plan::Digest;
use crate::ui::action::{Action, DialogAction};
use crate::ui::icon;
use crate::ui::theme::{Text, Tone};
use crate::ui::widgets::{self, Look};

pub(super) fn reject_ui(
    ui: &mut Ui,
    prompt: PromptId,
    digest: Digest,
    name: &str,
    ends_loop: bool,
    actions: &mut Vec<Action>,
) {
    let shape = Shape { title: "Reject this plan?", chip: None, delay_ms: DELAY_MS, width: 520.0 };
    question_ui(
        ui,
        prompt,
        &shape,
        actions,
        |ui, asked, actions| {
            if widgets::button(ui, Look::Plain, None, "Not now", asked.allowed.hold_back).clicked()
            {
                actions.push(Action::Dialog(DialogAction::LeaveUndecided));
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let reason = asked.typed.trim();
                let enabled = asked.allowed.approve && !reason.is_empty();
                if widgets::button(ui, Look::Primary, Some(icon::PROHIBIT), "Reject", enabled)
                    .on_disabled_hover_text("Say why first.")
                    .clicked()
                {
                    let reason = reason.to_owned();
                    actions.push(Action::Dialog(DialogAction::Reject { digest, reason }));
                }
            });
        },
        |ui, asked| {
            padded(ui, |ui| {
                widgets::paragraph(ui, name, Text::Strong, Tone::Plain);
                let text = if ends_loop {
                    "It ends the loop. The rejection and its reason are kept in the evidence."
                } else {
                    "The rejection and its reason are kept in the evidence."
                };
                widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
                let label = widgets::line(ui, "Reason", Text::Meta, Tone::Dim);
                let edit = TextEdit::multiline(asked.typed)
                    .id(asked.prompt.with("reason"))
                    .desired_rows(4)
                    .desired_width(f32::INFINITY)
                    .margin(Margin::symmetric(10, 8));
                ui.add(edit).labelled_by(label.id);
            });
        },
    );
}
