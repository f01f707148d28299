//! What the planner of an attempt looked at, what it asks, and what the person told it.

use egui::{Id, Margin, TextEdit, Ui, vec2};

use super::TimelineView;
use super::attempt::{beginning, stage};
use crate::plan::{prose, prose_lines};
use crate::run::{AttemptState, LookRecord, LoopPhase, text};
use crate::ui::access::Reason as _;
use crate::ui::action::LoopAction;
use crate::ui::{Action, Look, Text, Tone, format, icon, widgets};

/// The maximum number of looks that are listed. The evidence has all.
const MAX_LISTED: usize = 100;

/// Lists what the planner looked at.
pub(super) fn looks_ui(ui: &mut Ui, attempt: &AttemptState) {
    if attempt.looks.is_empty() {
        return;
    }
    let count = attempt.looks.len();
    let title = format!("The planner looked at {}.", format::counted(count, "thing"));
    stage(ui, icon::SEARCH, Tone::Accent, &title, |ui| {
        for look in attempt.looks.iter().take(MAX_LISTED) {
            look_ui(ui, look);
        }
        if count > MAX_LISTED {
            let text = format!("and {} more, which the evidence has", count - MAX_LISTED);
            widgets::line(ui, text, Text::Small, Tone::Dim);
        }
    });
}

fn look_ui(ui: &mut Ui, record: &LookRecord) {
    let (verb, about) = record.look.headline();
    let (found, tone) = match (&record.error, record.ok) {
        (None, true) => (text::size(record.bytes as u64), Tone::Dim),
        (Some(left_out), true) => {
            (format!("{}, {left_out}", text::size(record.bytes as u64)), Tone::Caution)
        }
        (why, false) => (format!("refused: {}", why.as_deref().unwrap_or_default()), Tone::Caution),
    };
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(8.0, 2.0);
        widgets::line(ui, verb, Text::Meta, Tone::Dim);
        widgets::paragraph(ui, prose(&about), Text::Mono, Tone::Plain);
        widgets::paragraph(ui, prose_lines(&found), Text::Meta, tone);
    });
}

/// Whether the planner of the shown loop waits for an answer now.
pub(super) fn live_question(view: &TimelineView<'_>) -> bool {
    matches!(view.shown.state.phase, LoopPhase::AwaitingAnswer(_))
}

/// The planner's question with the field for the answer, or the words that the person gave in the attempt.
pub(super) fn words_ui(
    ui: &mut Ui,
    view: &TimelineView<'_>,
    attempt: &AttemptState,
    live: bool,
    actions: &mut Vec<Action>,
) {
    if let (true, LoopPhase::AwaitingAnswer(question)) = (live, &view.shown.state.phase) {
        stage(ui, icon::HAND, Tone::Caution, "The planner asks you:", |ui| {
            widgets::paragraph(ui, beginning(question), Text::Body, Tone::Plain);
            answer_ui(ui, view.answer, actions);
        });
    }
    // The reason of a rejection is shown with it.
    if attempt.authorized.as_ref().is_some_and(|(approved, _)| !approved) {
        return;
    }
    let Some(words) = attempt.record.as_ref().and_then(|record| record.feedback.as_ref()) else {
        return;
    };
    stage(ui, icon::HAND, Tone::Accent, "You told the planner:", |ui| {
        widgets::paragraph(ui, beginning(words), Text::Body, Tone::Plain);
    });
}

fn answer_ui(ui: &mut Ui, answer: &str, actions: &mut Vec<Action>) {
    let mut edited = answer.to_owned();
    let label = widgets::line(ui, "Your answer", Text::Meta, Tone::Dim);
    let edit = TextEdit::multiline(&mut edited)
        .id(Id::unique("answer to the planner"))
        .desired_rows(3)
        .desired_width(f32::INFINITY)
        .margin(Margin::symmetric(10, 8));
    ui.add(edit).labelled_by(label.id);
    let ready = !edited.trim().is_empty();
    if edited != answer {
        actions.push(Action::Loop(LoopAction::EditAnswer(edited)));
    }
    ui.horizontal(|ui| {
        let send = widgets::button(ui, Look::Primary, Some(icon::DONE), "Answer", ready);
        if send.or_why("Type an answer first.").clicked() {
            actions.push(Action::Loop(LoopAction::AnswerPlanner { answered: true }));
        }
        let none = widgets::button(ui, Look::Plain, None, "No answer", true);
        if none.on_hover_text("The loop ends.").clicked() {
            actions.push(Action::Loop(LoopAction::AnswerPlanner { answered: false }));
        }
    });
}
