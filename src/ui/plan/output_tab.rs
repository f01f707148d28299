//! The output of the selected step, live or from its record.

use std::borrow::Cow;
use std::sync::Arc;

use egui::{Frame, Margin, ScrollArea, Ui};

use super::did::{DONE_BY_HAND, not_done};
use super::inspector::{empty_tab_ui, error_ui, expected_ui, indented};
use super::output::terminal_rows;
use super::{CodeRow, Gutter, PlanView, cached_rows, code_rows_ui, columns, output_lines};
use crate::plan::prose;
use crate::run::{Outcome, SKIPPED_WITH_COMMAND, StepResult, StepState};
use crate::ui::artifact::{ArtifactView, artifacts_ui};
use crate::ui::{Action, Text, icon, widgets};

const SKIPPED: &str = "You skipped this step; nothing was run for it.";

pub(super) fn output_ui(ui: &mut Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    let state = view.run.steps.get(view.selected);
    if let Some(StepState::Done(result)) = state {
        ended_ui(ui, view, result, actions);
        return;
    }
    let columns = columns(ui, ui.available_width(), Gutter::NONE);
    let rows = match state {
        Some(StepState::Running) => {
            // Comparing the complete text in every frame would be slow; its extent is enough.
            let extent = format!("{:?}", view.output.transcript.extent());
            cached_rows(ui, ("output", view.run.run_id, view.selected), &[extent], columns, || {
                output_lines(&view.output.transcript, view.selected, columns)
            })
        }
        _ => Arc::default(),
    };
    Frame::NONE.inner_margin(Margin { left: 0, right: 0, top: 8, bottom: 0 }).show(ui, |ui| {
        if rows.is_empty() {
            let text = match state {
                Some(StepState::Running) if view.run.is_over() => {
                    "The run was interrupted during this step. Its output is recorded when it ends, so it is lost."
                }
                Some(StepState::Running) => "Nothing printed yet.",
                _ if view.run.is_over() => not_done(view),
                _ => "The output of the step appears here, line by line.",
            };
            empty_tab_ui(ui, icon::TERMINAL, ("No output", text), actions);
        }
        rows_ui(ui, view, &rows);
    });
}

/// Rows of output, which follow their end.
fn rows_ui(ui: &mut Ui, view: &PlanView<'_>, rows: &[CodeRow]) {
    ScrollArea::vertical()
        .id_salt(("output", view.selected))
        .auto_shrink([false, false])
        .stick_to_bottom(true)
        .show(ui, |ui| code_rows_ui(ui, "output", rows, Gutter::NONE));
}

/// The output of a finished step.
fn ended_ui(ui: &mut Ui, view: &PlanView<'_>, result: &StepResult, actions: &mut Vec<Action>) {
    let step = view.plan.and_then(|plan| plan.steps.get(view.selected));
    let expects = step.is_some_and(|step| step.expected_output.is_some());
    if result.error_message.is_some() || result.exit_code.is_some() || expects {
        ui.add_space(8.0);
        indented(ui, |ui| {
            if let Some(step) = step {
                expected_ui(ui, step);
            }
            error_ui(ui, result);
            if let Some(code) = result.exit_code {
                widgets::fact(ui, "exit code", code.to_string(), Text::Mono);
            }
        });
    }
    if result.terminal {
        let transcript = &view.output.transcript;
        let columns = columns(ui, ui.available_width(), Gutter::NONE);
        let key = ("terminal", view.run.run_id, view.selected);
        let extent = format!("{:?}", transcript.extent());
        let rows = cached_rows(ui, key, &[extent], columns, || {
            terminal_rows(transcript, view.selected, columns)
        });
        if !rows.is_empty() {
            return rows_ui(ui, view, &rows);
        }
    }
    let output = ArtifactView::output(result, view.execution);
    if output.is_empty() {
        if result.error_message.is_none() {
            let skipped;
            let (icon, title, text) = match result.outcome {
                Outcome::DoneByHand => (icon::BY_HAND, "Done by hand", DONE_BY_HAND),
                Outcome::Skipped => {
                    skipped = skip_text(view.run.skip_reasons.get(&view.selected));
                    (icon::SKIP, "Skipped", &*skipped)
                }
                _ => (icon::TERMINAL, "No output", "The step ended and printed nothing."),
            };
            empty_tab_ui(ui, icon, (title, text), actions);
        }
        return;
    }
    let first = if result.success { "stdout" } else { "stderr" };
    let (id_salt, height) = (("output", result.execution_id), ui.available_height());
    artifacts_ui(ui, id_salt, &output, first, view.contents, height, actions);
}

/// A sentence about why a step was skipped. `reason` is the person's note, or [`SKIPPED_WITH_COMMAND`].
fn skip_text(reason: Option<&String>) -> Cow<'static, str> {
    match reason.map(String::as_str) {
        None => SKIPPED.into(),
        Some(SKIPPED_WITH_COMMAND) => {
            format!("Nothing was run for it: {SKIPPED_WITH_COMMAND}.").into()
        }
        Some(note) => format!("{SKIPPED} Your note: {}", prose(note)).into(),
    }
}
