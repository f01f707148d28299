//! The dialog that purges old records: how old, what would go, and why.

use egui::{Margin, TextEdit, Ui};

use super::{Answer, Answers, DialogShape, Entered, PromptId, READ_FIRST, Subject, question_ui};
use crate::risk::RiskLevel;
use crate::run::text::size;
use crate::run::{PurgePreview, PurgeRule};
use crate::ui::action::WindowAction;
use crate::ui::plan::indented;
use crate::ui::{Action, DialogAction, Look, Text, Tone, format, icon, widgets};

/// The ages to choose from, in days, with their names.
pub const PURGE_AGES: [(u32, &str); 5] =
    [(30, "30 days"), (90, "90 days"), (180, "6 months"), (365, "1 year"), (730, "2 years")];

/// What the dialog shows.
#[derive(Debug, Clone, PartialEq)]
pub struct PurgeView {
    /// The chosen age, in days.
    pub days: u32,
    /// The rule for that age.
    pub rule: PurgeRule,
    /// What it would take; `None` while it is counted, or why that is not known.
    pub preview: Option<Result<PurgePreview, String>>,
    /// The start of the first and the last of these runs, for people.
    pub dates: Option<(String, String)>,
}

pub(super) fn purge_ui(ui: &mut Ui, prompt: PromptId, view: &PurgeView, actions: &mut Vec<Action>) {
    let counted = match &view.preview {
        Some(Ok(preview)) if preview.runs > 0 => Some(preview),
        _ => None,
    };
    let shape = DialogShape {
        title: "Purge old records?",
        risk: counted.map(|_| RiskLevel::Dangerous),
        chip_prefix: "",
        width: 560.0,
        subject: Some(Subject::Purge),
        word: None,
    };
    let text = counted.map_or_else(
        || "Purge".to_owned(),
        |preview| format!("Purge {}", format::counted(count(preview.runs), "run")),
    );
    let answers = |entered: &Entered| {
        let action = DialogAction::Purge {
            rule: view.rule.clone(),
            reason: entered.typed.trim().to_owned(),
        };
        let hint = if counted.is_some() { READ_FIRST } else { "There is nothing to purge." };
        let purge = Answer::approve(icon::PROHIBIT, &text, hint, action);
        let purge = Answer { look: Look::Danger, ready: counted.is_some(), ..purge };
        Answers { safe: vec![Answer::leave("Not now")], approve: Some(purge) }
    };
    let mut chosen = None;
    question_ui(ui, prompt, &shape, actions, answers, |ui, entered, id, _| {
        indented(ui, |ui| {
            let text = "What these runs did is deleted for ever: steps, outputs, contents of files, and the plans that only \
                        they used. That they happened, when, by whom and how they ended stays, and the chain of all \
                        records can still be verified.";
            widgets::paragraph(ui, text, Text::Body, Tone::Plain);
            ui.add_space(4.0);
            widgets::heading(ui, "Runs that ended more than this ago");
            ui.horizontal_wrapped(|ui| {
                for (days, name) in PURGE_AGES {
                    let look = if days == view.days { Look::Primary } else { Look::Plain };
                    if widgets::button(ui, look, None, name, true).clicked() {
                        chosen = Some(days);
                    }
                }
            });
            ui.add_space(4.0);
            preview_ui(ui, view);
            ui.add_space(4.0);
            let label = widgets::line(ui, "Reason, recorded with the purge", Text::Meta, Tone::Dim);
            let edit = TextEdit::singleline(&mut entered.typed)
                .id(id.with("reason"))
                .desired_width(f32::INFINITY)
                .margin(Margin::symmetric(10, 8));
            ui.add(edit).labelled_by(label.id);
        });
    });
    actions.extend(chosen.map(|days| Action::Window(WindowAction::ChoosePurgeAge(days))));
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The facts of the preview. Each has its line from the start, so that nothing moves.
fn preview_ui(ui: &mut Ui, view: &PurgeView) {
    let preview = match &view.preview {
        Some(Err(why)) => return widgets::remark(ui, icon::FAILED, Tone::Danger, why),
        Some(Ok(preview)) => Some(preview),
        None => None,
    };
    let known = |text: &dyn Fn(&PurgePreview) -> String| {
        preview.map_or_else(|| "being counted…".to_owned(), text)
    };
    let runs = known(&|it| {
        let steps = format::counted(count(it.steps), "step");
        format!("{} with {steps}", format::counted(count(it.runs), "run"))
    });
    let records = known(&|it| {
        let contents = format::counted(count(it.contents), "content");
        format!("{}, {contents}, {}", format::counted(count(it.rows), "record"), size(it.bytes))
    });
    let dates = known(&|_| match &view.dates {
        Some((first, last)) => format!("{first} to {last}"),
        None => "none".to_owned(),
    });
    for (name, value) in [("runs", runs), ("records", records), ("begun", dates)] {
        widgets::fact(ui, name, value, Text::Body);
    }
    if let Some(preview) = preview.filter(|it| it.under_way > 0) {
        let runs = format::counted(count(preview.under_way), "run");
        widgets::remark(ui, icon::INFO, Tone::Dim, format!("{runs} under way will be kept."));
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::ui::tests::window;

    #[test]
    fn it_says_what_goes_and_asks_for_an_age() {
        let mut harness = window("purge", [900.0, 640.0]);
        for text in ["412 runs with 5,120 steps", "212.4 MiB", "2025-01-03"] {
            assert!(harness.query_all_by_label_contains(text).next().is_some(), "{text}");
        }
        harness.get_by_label("1 year").click();
        harness.run_ok();
        let chosen =
            |action: &Action| matches!(action, Action::Window(WindowAction::ChoosePurgeAge(365)));
        assert!(harness.state().actions.iter().any(chosen));
        harness.run_steps(40);
        harness.get_by_label("Purge 412 runs").click();
        harness.run_ok();
        let purges = |action: &Action| matches!(action, Action::Dialog(DialogAction::Purge { rule, .. }) if rule.before_ms.is_some());
        assert!(harness.state().actions.iter().any(purges));
    }
}
