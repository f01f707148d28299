//! What a step that is over did: how it ended, its command, and the recorded change of its files; and what the inspector
//! calls a step before and after that.

use egui::Ui;

use super::inspector::{error_ui, indented};
use super::{PlanView, command_ui, outcome_look};
use crate::plan::{ShownStep, prose_lines};
use crate::run::text::capitalized;
use crate::run::{Outcome, StepResult, StepState};
use crate::ui::artifact::{ArtifactView, artifacts_ui};
use crate::ui::{Action, Text, Tone, format, widgets};

pub(super) const DONE_BY_HAND: &str = "You did this step yourself; nothing was run for it.";

/// What is said of a step of a plan that could not be reviewed, for example because it has no workspace.
pub(super) const NOT_REVIEWED: &str =
    "Not reviewed: what keeps the plan from that is above the steps.";

/// Whether the selected step is over.
pub(super) fn is_done(view: &PlanView<'_>) -> bool {
    matches!(view.run.steps.get(view.selected), Some(StepState::Done(_)))
}

/// The name of the first tab of the selected step.
pub(super) fn tab_name(view: &PlanView<'_>) -> &'static str {
    let is_unknown = matches!(view.run.steps.get(view.selected), Some(StepState::Running));
    match (is_done(view), view.run.is_over(), view.review) {
        (true, ..) => "Did",
        // It may have done any part of what its plan says.
        (false, true, _) if is_unknown => "Unknown",
        (false, true, None) => "Not done",
        (false, true, Some(_)) => "Would do",
        (false, false, _) => "Will do",
    }
}

/// The line below the name of a step: that it is faulty, why it asks for confirmation, the reason that its author
/// gives, or that it does not ask.
pub(super) fn second_line(view: &PlanView<'_>, step: &ShownStep) -> String {
    if step.call.is_none() {
        return "Faulty: it cannot run.".to_owned();
    }
    let reason = step.reason.as_deref().map(prose_lines);
    let Some(review) = view.review else {
        if !view.run.has_begun() {
            return reason.unwrap_or_else(|| NOT_REVIEWED.to_owned());
        }
        // A recorded run is not reviewed again, so it is unknown whether its steps would ask now.
        return reason.unwrap_or_else(|| "From a recorded run.".to_owned());
    };
    let asks = review.asks.get(step.step_index).and_then(Option::as_deref);
    // A step that was cancelled may never have begun, which its record does not say.
    let ran = |it: &StepState| {
        it.outcome().is_some_and(|it| !it.never_started() && it != Outcome::Cancelled)
    };
    if view.run.steps.get(step.step_index).is_some_and(ran) {
        return reason.unwrap_or_else(|| match asks {
            Some(why) => format!("Asked before it ran: {why}"),
            None => "Ran without asking, as authorized.".to_owned(),
        });
    }
    let outcome = view.run.steps.get(step.step_index).and_then(StepState::outcome);
    match (asks, reason) {
        (Some(why), _) if outcome == Some(Outcome::Denied) => {
            format!("Denied when it asked: {why}")
        }
        (Some(why), _) => format!("Asks before it runs: {why}"),
        (None, Some(reason)) => reason,
        (None, None) => "Runs without asking once authorized.".to_owned(),
    }
}

/// What the author says about the step, unless [`second_line`] is all of it.
pub(super) fn hidden_explanation<'s>(view: &PlanView<'_>, step: &'s ShownStep) -> Option<&'s str> {
    let reason = step.reason.as_deref()?;
    let is_shown =
        second_line(view, step) == prose_lines(reason) && reason.lines().nth(1).is_none();
    (!is_shown).then_some(reason)
}

/// Whether the run is over without a result of the selected step.
pub(super) fn is_not_done(view: &PlanView<'_>) -> bool {
    view.run.is_over() && !is_done(view)
}

/// Why a step has no result in a run that is over.
pub(super) fn not_done(view: &PlanView<'_>) -> &'static str {
    match view.run.steps.get(view.selected) {
        Some(StepState::Running) => {
            "The run ended while this step was under way. Its outcome is unknown."
        }
        _ => "The run ended before this step: nothing was done for it.",
    }
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
        let took = result.outcome.took(result.duration_ms).map(format::duration);
        let took = took.map_or_else(String::new, |took| format!(", {took}"));
        // The message of a denial says so itself.
        if result.outcome != Outcome::Denied || result.error_message.is_none() {
            widgets::remark(ui, icon, tone, format!("{}{took}", capitalized(word)));
        }
        error_ui(ui, result);
        if let Some(command) = step.arguments.get("command").filter(|_| step.tool_name == "shell") {
            command_ui(ui, ("command", step.step_index), command, None);
        }
    });
    let Some(execution) = view.execution else { return };
    let change = ArtifactView::changes(execution);
    if change.is_empty() {
        indented(ui, |ui| {
            widgets::paragraph(ui, no_change(result), Text::Body, Tone::Dim);
        });
    } else {
        let (id, height) = (("did", execution.row.execution_id), ui.available_height());
        artifacts_ui(ui, id, &change, "diff", view.contents, height, actions);
    }
}

/// What there is to say about a step that is over without a change of a file.
fn no_change(result: &StepResult) -> &'static str {
    let has_output = result.stdout_bytes > 0 || result.stderr_bytes > 0;
    match result.outcome {
        Outcome::Succeeded | Outcome::Failed if has_output => {
            "No change of a file was recorded. What it printed is under Output."
        }
        Outcome::Succeeded | Outcome::Failed => "No change of a file was recorded.",
        Outcome::Cancelled => "The step was cancelled. No change of a file was recorded.",
        outcome => no_diagnostics(outcome),
    }
}

/// Why a step that is over has no diagnostics.
pub(super) fn no_diagnostics(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded | Outcome::Failed => "The step ended and found nothing.",
        Outcome::Cancelled => {
            "The step was cancelled before it reported any errors, warnings or notes."
        }
        Outcome::DoneByHand => DONE_BY_HAND,
        Outcome::Skipped | Outcome::Denied | Outcome::PreconditionFailed => {
            "Nothing was run for this step."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{RunEvent, RunState};
    use crate::ui::tests::fixture;
    use crate::ui::tests::scene::Scene;

    /// The third step of a plan, which asks.
    const ASKS: usize = 2;

    fn in_run<T>(run: &RunState, read: impl FnOnce(&PlanView<'_>, &ShownStep) -> T) -> T {
        let scene = Scene::new("plan");
        let view = PlanView { run, selected: ASKS, ..scene.view().plan.unwrap() };
        read(&view, &view.plan.unwrap().steps[ASKS])
    }

    fn begun() -> RunState {
        let mut run = RunState::default();
        run.apply(&RunEvent::RunStarted {
            run_id: uuid::Uuid::nil(),
            plan_id: String::new(),
            step_count: 5,
            timestamp_ms: 0,
        });
        run
    }

    #[test]
    fn a_step_that_was_interrupted_is_not_called_undone() {
        let mut run = begun();
        run.apply(&RunEvent::StepStarted {
            step_id: String::new(),
            step_index: ASKS,
            tool_name: String::new(),
            about: String::new(),
            timestamp_ms: 0,
        });
        run.interrupt();
        let scene = Scene::new("plan");
        let name = |selected, is_recorded: bool| {
            let view = scene.view().plan.unwrap();
            let review = view.review.filter(|_| !is_recorded);
            tab_name(&PlanView { run: &run, review, selected, ..view })
        };
        assert_eq!([ASKS, ASKS + 1].map(|it| name(it, true)), ["Unknown", "Not done"]);
        // So it is in the window that began the run, where the other steps have their previews.
        assert_eq!([ASKS, ASKS + 1].map(|it| name(it, false)), ["Unknown", "Would do"]);
    }

    #[test]
    fn output_is_named_only_if_there_is_some() {
        let mut result = fixture::result(&fixture::plan(), ASKS, Outcome::Failed, 1);
        (result.stdout_bytes, result.stderr_bytes) = (0, 0);
        assert!(!no_change(&result).contains("Output"));
        result.stderr_bytes = 7;
        assert!(no_change(&result).contains("Output"));
    }

    #[test]
    fn only_a_step_that_ran_is_said_to_have_run() {
        let line = |outcome| {
            let mut run = begun();
            let result = fixture::result(&fixture::plan(), ASKS, outcome, 1);
            run.apply(&RunEvent::StepCompleted { result });
            in_run(&run, second_line)
        };
        assert_eq!(line(Outcome::Succeeded), "Asked before it ran: The plan asks for it.");
        assert_eq!(line(Outcome::Denied), "Denied when it asked: The plan asks for it.");
        for outcome in [Outcome::Cancelled, Outcome::PreconditionFailed] {
            assert_eq!(line(outcome), "Asks before it runs: The plan asks for it.", "{outcome:?}");
        }
    }
}
