//! The question whether to run a step. It shows everything the step would do before any answer counts.

use egui::{Align, Layout, Ui};

use super::arming::{DANGEROUS_DELAY_MS, DELAY_MS};
use super::{PromptId, Shape, field, padded, question_ui};
use crate::plan::visible;
use crate::risk::RiskLevel;
use crate::run::{ConfirmationRequest, Decision};
use crate::ui::action::{Action, DialogAction};
use crate::ui::icon;
use crate::ui::plan::{argument_ui, preview_ui, request_ui, risk_icon, short_first};
use crate::ui::widgets::{self, Chip, Look};

pub(super) fn confirm_ui(
    ui: &mut Ui,
    prompt: PromptId,
    request: &ConfirmationRequest,
    actions: &mut Vec<Action>,
) {
    let dangerous = request.risk.level >= RiskLevel::Dangerous;
    let word = request.target_word();
    let level = request.risk.level;
    let tool = visible(&request.tool);
    let (step, count) = (request.step_index + 1, request.step_count);
    let title = format!("Execute step {step} of {count}: {tool}?");
    let run = if request.guided { "Run this step" } else { "Approve this step" };
    let shape = Shape {
        title: &title,
        chip: Some(Chip::new(risk_icon(level), level.as_str(), level.into())),
        delay_ms: if dangerous { DANGEROUS_DELAY_MS } else { DELAY_MS },
        width: 760.0,
    };
    question_ui(
        ui,
        prompt,
        &shape,
        actions,
        |ui, asked, actions| {
            let hold_back = asked.allowed.hold_back;
            let mut answer = |decision| {
                actions.push(Action::Dialog(DialogAction::Answer {
                    run_id: request.run_id,
                    step_index: request.step_index,
                    decision,
                }));
            };
            let plain = Look::Plain;
            if widgets::button(ui, plain, Some(icon::FAILED), "Deny and stop", hold_back)
                .on_hover_text("Do not run this step, and end the run.")
                .clicked()
            {
                answer(Decision::Cancel);
            }
            if widgets::button(ui, plain, Some(icon::SKIP), "Skip this step", hold_back)
                .on_hover_text("Do not run this step, and go on with the next one.")
                .clicked()
            {
                answer(Decision::Skip);
            }
            if request.guided
                && widgets::button(ui, plain, Some(icon::HAND), "Mark as done", hold_back)
                    .on_hover_text(
                        "You have done it by hand: nothing is run, and it goes on with the next step.",
                    )
                    .clicked()
            {
                answer(Decision::DoneByHand);
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let named = !dangerous || request.names_target(asked.typed);
                let enabled = asked.allowed.approve && named;
                let why = if named {
                    "One moment: read it first.".to_owned()
                } else {
                    format!("Type “{}” first.", visible(word))
                };
                if widgets::button(ui, Look::Primary, Some(icon::DONE), run, enabled)
                    .on_disabled_hover_text(why)
                    .clicked()
                {
                    answer(Decision::Approve);
                }
            });
        },
        |ui, asked| {
            padded(ui, |ui| {
                request_ui(ui, request);
                if dangerous {
                    let what = if request.guided { "run" } else { "approve" };
                    let name = format!("Type {} to {what}", visible(word));
                    field(ui, asked.prompt.with("word"), &name, asked.typed, 200.0);
                }
            });
            preview_ui(ui, &request.preview);
            padded(ui, |ui| {
                for (name, value) in short_first(&request.arguments) {
                    // The command is shown above, as a card.
                    if name != "command" || request.command().is_none() {
                        argument_ui(ui, name, value);
                    }
                }
            });
        },
    );
}
