//! What a step that is over did: how it ended, its command, and the recorded change of its files.

use egui::Ui;

use super::inspector::{error_ui, indented};
use super::{PlanView, command_ui, outcome_look};
use crate::plan::ShownStep;
use crate::run::text::capitalized;
use crate::run::{Outcome, StepState};
use crate::ui::artifact::{ArtifactView, artifacts_ui};
use crate::ui::{Action, Text, Tone, format, widgets};

pub(super) const DONE_BY_HAND: &str = "You did this step yourself; nothing was run for it.";

/// Whether the selected step is over.
pub(super) fn is_done(view: &PlanView<'_>) -> bool {
    matches!(view.run.steps.get(view.selected), Some(StepState::Done(_)))
}

/// What a step that is over did: how it ended, its command, and the recorded change of its files.
pub(super) fn did_ui(
    ui: &mut Ui,
    view: &PlanView<'_>,
    step: &ShownStep,
    actions: &mut Vec<Action>,
) {
    let Some(StepState::Done(result)) = view.run.steps.get(view.selected) else { return };
    ui.add_space(10.0);
    indented(ui, |ui| {
        let (icon, word, tone) = outcome_look(result.outcome);
        let took = match result.outcome.never_started() {
            true => String::new(),
            false => format!(", {}", format::duration(result.duration_ms)),
        };
        widgets::remark(ui, icon, tone, format!("{}{took}", capitalized(word)));
        error_ui(ui, result);
        if let Some(command) = step.arguments.get("command").filter(|_| step.tool_name == "shell") {
            command_ui(ui, ("command", step.step_index), command, None);
        }
    });
    let Some(execution) = view.execution else { return };
    let change = ArtifactView::changes(execution);
    if change.is_empty() {
        indented(ui, |ui| {
            let text = match result.outcome {
                Outcome::Succeeded | Outcome::Failed => {
                    "No change of a file was recorded. What it printed is under Output."
                }
                outcome => no_diagnostics(outcome),
            };
            widgets::paragraph(ui, text, Text::Body, Tone::Dim);
        });
    } else {
        let (id, height) = (("did", execution.row.execution_id), ui.available_height());
        artifacts_ui(ui, id, &change, "diff", view.contents, height, actions);
    }
}

/// Why a step that is over has no diagnostics.
pub(super) fn no_diagnostics(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded | Outcome::Failed => "The step ended and found nothing.",
        Outcome::Cancelled => "The step was cancelled before it reported any.",
        Outcome::DoneByHand => DONE_BY_HAND,
        Outcome::Skipped | Outcome::Denied | Outcome::PreconditionFailed => {
            "Nothing was run for this step."
        }
    }
}
