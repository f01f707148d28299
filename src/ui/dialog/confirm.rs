//! The dialog that asks whether to run a step. It shows everything that the step would do.

use egui::{Id, Label, Margin, TextEdit, Ui};

use super::{Answer, Answers, DialogShape, Entered, PromptId, READ_FIRST, Subject, question_ui};
use crate::authorization::FileState;
use crate::plan::drawable;
use crate::risk::RiskLevel;
use crate::run::{ConfirmationRequest, Decision, Diff};
use crate::ui::plan::{
    OUTDATED, argument_ui, indented, outdated_ui, preview_ui, request_ui, short_first,
};
use crate::ui::{Action, DialogAction, Icon, Look, Text, Theme, Tone, controls, icon, widgets};

/// The safe answers about a step with icon, text and tooltip, in display order. The last is only for guided runs.
pub(in crate::ui) const SAFE_ANSWERS: [(Decision, Icon, &str, &str); 3] = [
    (Decision::Cancel, icon::FAILED, "Deny and stop", "Do not run this step, and end the run."),
    (
        Decision::Skip,
        icon::SKIP,
        "Skip this step",
        "Do not run this step, and go on with the next one.",
    ),
    (
        Decision::DoneByHand,
        icon::BY_HAND,
        "Mark as done",
        "You have done the step by hand: nothing is run for it, and the run continues with the next step.",
    ),
];

pub(super) fn confirm_ui(
    ui: &mut Ui,
    prompt: PromptId,
    (request, plan, in_loop, changed): (&ConfirmationRequest, &str, bool, &[String]),
    actions: &mut Vec<Action>,
) {
    let word = request.target_word();
    let word = drawable(&word);
    let tool = drawable(&request.tool);
    let (step, count) = (request.step_index + 1, request.step_count);
    let title = format!("Execute step {step} of {count}: {tool}?");
    let run = if request.guided { "Run this step" } else { "Approve this step" };
    let dangerous = request.risk.level >= RiskLevel::Dangerous;
    let shape = DialogShape {
        title: &title,
        risk: Some(request.risk.level),
        chip_prefix: "",
        width: 760.0,
        subject: Some(Subject::Step { run_id: request.run_id, step_index: request.step_index }),
        word: dangerous.then_some((request, changed.is_empty())),
    };
    let answers = |entered: &Entered| {
        let answer = |decision| DialogAction::Answer {
            run_id: request.run_id,
            step_index: request.step_index,
            decision,
            reason: entered.reason.trim().to_owned(),
        };
        let safe = SAFE_ANSWERS.iter().filter(|it| request.guided || it.0 != Decision::DoneByHand);
        let safe =
            safe.map(|(it, icon, text, hint)| Answer::safe(Some(*icon), text, hint, answer(*it)));
        let is_named = !dangerous || request.names_target(&entered.typed);
        let ready = is_named && changed.is_empty();
        let hint = match (changed.is_empty(), is_named) {
            (false, _) => OUTDATED.into(),
            (true, true) => READ_FIRST.into(),
            (true, false) => format!("Type “{word}” first.").into(),
        };
        let mut approve = Answer::approve(icon::DONE, run, "", answer(Decision::Approve));
        if dangerous {
            approve.look = Look::Danger;
        }
        Answers { safe: safe.collect(), approve: Some(Answer { ready, hint, ..approve }) }
    };
    question_ui(ui, prompt, &shape, actions, answers, |ui, entered, id, _| {
        indented(ui, |ui| {
            plan_ui(ui, plan);
            outdated_ui(ui, changed);
            request_ui(ui, request);
            reason_ui(ui, id.with("reason"), &mut entered.reason, in_loop);
        });
        preview_ui(ui, &request.preview, Some(request.risk.level));
        indented(ui, |ui| {
            for (name, value) in short_first(&request.arguments) {
                let shown = match name.as_str() {
                    "contents" => contents_shown(request),
                    // The command is shown above, as a card.
                    "command" if request.command().is_some() => Shown::Whole,
                    _ => Shown::No,
                };
                match shown {
                    Shown::No => argument_ui(ui, name, value),
                    Shown::Whole => {}
                    Shown::Changes => {
                        let title = "The whole contents, with the lines that do not change";
                        let id = ("contents", request.step_index);
                        controls::folded(ui, title, id, |ui| argument_ui(ui, name, value));
                    }
                }
            }
        });
    });
}

/// How much of an argument is shown above the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    No,
    /// What it changes.
    Changes,
    Whole,
}

/// Names the plan that a question belongs to, in one line, so that a long name cannot push what matters out of sight.
pub(super) fn plan_ui(ui: &mut Ui, name: &str) {
    let theme = Theme::of(ui);
    let name = widgets::beginning(name);
    let parts = [("of the plan ", Text::Meta, theme.dim), (&*name, Text::Body, theme.text)];
    ui.add(Label::new(widgets::styled_text(&parts)).truncate());
}

/// How much of the contents that a step writes its difference shows: all of a new file, the changed lines of another.
fn contents_shown(request: &ConfirmationRequest) -> Shown {
    let writes = matches!(request.tool.as_str(), "file_create" | "file_write");
    match request.preview.changes.as_slice() {
        [change] if writes && !request.preview.would_fail() => {
            match (&change.diff, change.before) {
                (Diff::Text { .. }, FileState::Absent) => Shown::Whole,
                (Diff::Text { .. }, FileState::Content(_)) => Shown::Changes,
                (Diff::Unchanged | Diff::Binary { .. }, _) => Shown::No,
            }
        }
        _ => Shown::No,
    }
}

/// The field for the reason of the answer, which is kept with it. In a loop it is also for the planner.
pub(in crate::ui) fn reason_ui(ui: &mut Ui, id: Id, reason: &mut String, in_loop: bool) {
    let hint = if in_loop {
        "optional; denied with a reason, the planner gets it and makes another plan"
    } else {
        "optional; kept with your answer"
    };
    ui.horizontal(|ui| {
        let label = widgets::line(ui, "Reason", Text::Body, Tone::Dim);
        let edit = TextEdit::singleline(reason)
            .id(id)
            .hint_text(hint)
            .desired_width(f32::INFINITY)
            .margin(Margin::symmetric(8, 4));
        ui.add(edit).labelled_by(label.id);
    });
    ui.add_space(2.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Phase, Preview};
    use crate::ui::tests::fixture;

    #[test]
    fn a_difference_shows_all_of_a_new_file_and_the_changes_of_another() {
        let plan = fixture::plan();
        let Phase::AwaitingConfirmation(request) = fixture::asking(&plan).phase else { panic!() };
        let mut request = *request;
        request.tool = "file_write".to_owned();
        request.preview = fixture::preview(&plan, 2);
        assert_eq!(contents_shown(&request), Shown::Changes);
        request.preview = fixture::preview(&plan, 4);
        assert_eq!(contents_shown(&request), Shown::Whole);
        request.preview = Preview::failure("it exists already", Vec::new());
        assert_eq!(contents_shown(&request), Shown::No, "there is no difference");
        request.preview = fixture::preview(&plan, 4);
        request.preview.changes[0].diff = Diff::Binary { before_bytes: None, after_bytes: Some(1) };
        assert_eq!(contents_shown(&request), Shown::No);
        request.tool = "splice_patch".to_owned();
        request.preview = fixture::preview(&plan, 4);
        assert_eq!(contents_shown(&request), Shown::No);
    }
}
