//! Whether to run a step: everything it would do, in full, before any answer counts.

use egui::{Align, Layout, Ui};

use super::arming::{DANGEROUS_DELAY_MS, DELAY_MS};
use super::{PromptId, Shape, field, padded, question_ui};
use crate::plan::visible;
use crate::risk::RiskLevel;
use crate::run::{ConfirmationRequest, Decision};
use crate::ui::action::{Action, DialogAction};
use crate::ui::icon;
use crate::ui::plan::{argument_ui, command_ui, preview_ui, risk_icon, short_first, whole_ui};
use crate::ui::theme::{Text, Theme, Tone};
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
    let (title, run) = if request.guided {
        (format!("Step {step} of {count}: run it, or do it by hand?"), "Run this step")
    } else {
        (format!("Execute step {step} of {count}: {tool}?"), "Approve this step")
    };
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
            let theme = Theme::of(ui);
            padded(ui, |ui| {
                ui.horizontal_wrapped(|ui| {
                    ui.spacing_mut().item_spacing.x = 6.0;
                    let host = request.host.as_deref().or(request.target.as_deref());
                    let host = host.unwrap_or("this computer");
                    for (text, strong) in [
                        ("on", false),
                        (host, true),
                        ("in", false),
                        (&*request.cwd, true),
                        ("as", false),
                        (&*request.user, true),
                    ] {
                        let (kind, color) =
                            if strong { (Text::Mono, theme.text) } else { (Text::Meta, theme.dim) };
                        ui.label(widgets::rich(visible(text), kind, color));
                    }
                });
                if let Some(command) = request.command() {
                    command_ui(ui, "command", command, Some(&request.risk));
                }
                if let Some(purpose) = &request.purpose {
                    whole_ui(ui, "purpose", purpose, |ui, text| {
                        widgets::paragraph(ui, text, Text::Strong, Tone::Plain);
                    });
                }
                let icon = risk_icon(level);
                let reason = &request.risk.reason;
                widgets::remark(
                    ui,
                    icon,
                    level.into(),
                    visible(&format!("{reason} (rule {})", request.risk.rule)),
                );
                if let Some(warning) = &request.warning {
                    let text = format!("The plan's author warns: {warning}");
                    whole_ui(ui, "warning", &text, |ui, text| {
                        widgets::remark(ui, icon::WARNING, Tone::Caution, text);
                    });
                }
                if let Some(suggestion) = &request.risk.suggestion {
                    widgets::remark(ui, icon::INFO, Tone::Dim, format!("Safer: {suggestion}"));
                }
                widgets::remark(
                    ui,
                    icon::HAND,
                    Tone::Dim,
                    visible(&format!("You are asked because {}", lower(&request.why))),
                );
                if dangerous {
                    let what = if request.guided { "run" } else { "approve" };
                    let name = format!("Type {} to {what}", visible(word));
                    field(ui, asked.prompt.with("word"), &name, asked.typed, 200.0);
                }
            });
            preview_ui(ui, &request.preview);
            padded(ui, |ui| {
                for (name, value) in short_first(&request.arguments) {
                    // The command stands above, as a card.
                    if name != "command" || request.command().is_none() {
                        argument_ui(ui, name, value);
                    }
                }
            });
        },
    );
}

/// A sentence as the second half of another one.
fn lower(sentence: &str) -> String {
    let mut chars = sentence.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "the plan says so.".to_owned(),
    }
}
