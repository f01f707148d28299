//! The answer to a query about a file, a symbol or diagnostics, shown in place of the search results.

use egui::{Align, Layout, Rect, Role, Sense, Ui, WidgetInfo, vec2};

use super::recurring::recurring_ui;
use super::results::{WAS_CHANGED, error_line, row_ui, run_ui};
use super::{EvidenceView, comparison, durations, file_history, judged, player, rejections, times};
use crate::plan::drawable;
use crate::run::{EvidenceAnswer, MAX_ROWS, Question, RunSummary};
use crate::ui::{
    Action, EvidenceAction, Icon, PlanAction, Text, Theme, Tone, format, icon, rows, theme, widgets,
};

/// What an answer offers that has nothing to show.
pub(super) const BACK_TO_SEARCH: (Icon, &str) = (icon::SEARCH, "Back to the results");

pub(super) fn answer_ui(
    ui: &mut Ui,
    question: &Question,
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) {
    let (meaning, empty) = descriptions(question);
    widgets::margins(4, 8).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if widgets::icon_button(ui, icon::CLOSE, "Back to the search").clicked() {
                    actions.push(Action::Evidence(EvidenceAction::CloseAnswer));
                }
                if let Some(answer) = view.answer {
                    let count = format::count(answer.len() as u64);
                    ui.label(widgets::rich(count, Text::Meta, Theme::of(ui).dim));
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    widgets::line(ui, question.title(), Text::Strong, Tone::Plain);
                });
            });
        });
        widgets::paragraph(ui, meaning, Text::Meta, Tone::Dim);
        if view.answer.is_some_and(|answer| answer.len() >= MAX_ROWS) {
            let rows = format::count(MAX_ROWS as u64);
            let text = format!(
                "At most {rows} rows are shown; `countersign evidence query` can list all."
            );
            widgets::remark(ui, icon::INFO, Tone::Caution, text);
        }
    });
    widgets::line_below(ui);
    match view.answer {
        None => widgets::reading_state(ui, icon::DATABASE, "Reading the evidence", ""),
        Some(EvidenceAnswer::Judged(judgement)) => judged::judged_ui(ui, judgement, view, actions),
        Some(answer) if answer.is_empty() => {
            if widgets::empty_state(ui, icon::SEARCH, ("Nothing found", empty), BACK_TO_SEARCH) {
                actions.push(Action::Evidence(EvidenceAction::CloseAnswer));
            }
        }
        Some(EvidenceAnswer::Times(Some(times))) => times::times_ui(ui, times, view, actions),
        Some(EvidenceAnswer::Replay(Some(playback))) => {
            player::player_ui(ui, playback, view, actions);
        }
        Some(EvidenceAnswer::Durations(Some(found))) => {
            durations::durations_ui(ui, found, view, actions);
        }
        Some(EvidenceAnswer::Compared(Some(found))) => {
            comparison::comparison_ui(ui, found, view, actions);
        }
        Some(EvidenceAnswer::FileHistory(history)) => {
            file_history::file_history_ui(ui, history, view, actions);
        }
        Some(answer) => rows_ui(ui, (question, answer), view, actions),
    }
}

/// The sentence about an answer, and the one shown when the answer is empty.
fn descriptions(question: &Question) -> (&'static str, &'static str) {
    match question {
        Question::WithCode(_) => (
            "Each execution that found a diagnostic of this code, oldest first.",
            "No execution found a diagnostic of this code.",
        ),
        Question::Touched { .. } => {
            ("Each execution that touched it, and how, oldest first.", "No execution touched it.")
        }
        Question::Latest(_) => (
            "The latest execution that worked on this file or changed it.",
            "No execution worked on this file.",
        ),
        Question::Recurring => (
            "Diagnostics that were seen at least twice, most frequent first.",
            "No diagnostic with a code was seen twice.",
        ),
        Question::Rejected { .. } => (
            "Each plan that a person rejected, and why, newest first. The rejection of a plan is shown, too, when the \
             same file is opened.",
            "No plan was rejected.",
        ),
        Question::InterruptedRuns => (
            "Each run whose end was not recorded, because its process was ended, newest first. A run that ended during a \
             step with an effect can be compared with the disk.",
            "No run was interrupted.",
        ),
        Question::ChangesAfter { .. } => (
            "File changes that occurred after this diagnostic in the same file, oldest first. The \
             evidence does not tell whether one caused the other.",
            "No file was changed after it had such a diagnostic.",
        ),
        Question::Times(_) => (
            "When each step of the run began, waited for a person, and worked.",
            "No step of this run is recorded.",
        ),
        Question::RunsToCompare(_) => (
            "Choose the run to compare it with. These ran a plan with the same id, newest first.",
            "No other run of a plan with this id is recorded.",
        ),
        Question::Compare { .. } => (
            "What differs between the plans, the files that were approved, the outcomes and the outputs.",
            "No step of these runs is recorded.",
        ),
        Question::Replay(_) => (
            "The run step by step, with the answers and the output as they are recorded. Long waits are short here.",
            "No step of this run is recorded.",
        ),
        Question::Durations(_) => (
            "How long it took each time: the step with this id of plans with this id, and the same tool with the same \
             arguments elsewhere. Oldest first.",
            "No execution of this step is recorded.",
        ),
        Question::JudgedAgain => (
            "Past commands whose risk is another one by the present rules. What is worse now comes first.",
            "",
        ),
        Question::FileHistory { .. } => (
            "Every recorded change of the file, oldest first. What commands and other programs change is not recorded.",
            "No change of this file is recorded. What commands and other programs change is not recorded.",
        ),
    }
}

fn rows_ui(
    ui: &mut Ui,
    (question, answer): (&Question, &EvidenceAnswer),
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) {
    let is_selected = |index: &usize| {
        let row = answer.execution(*index);
        row.is_some_and(|row| Some(row.execution_id) == view.selected)
    };
    let reveal = view.scroll_to_selected.then(|| (0..answer.len()).find(is_selected)).flatten();
    rows::rows_ui(ui, "answer", theme::ROW, answer.len(), reveal, |ui, rect, index| {
        ui.push_id(index, |ui| answer_row_ui(ui, rect, (question, answer), index, view, actions));
    });
}

fn answer_row_ui(
    ui: &mut Ui,
    rect: Rect,
    (question, answer): (&Question, &EvidenceAnswer),
    index: usize,
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) {
    if let EvidenceAnswer::Recurring(rows) = answer {
        if let Some(row) = rows.get(index)
            && recurring_ui(ui, rect, row, view.now)
        {
            let question = Question::WithCode(row.code.clone());
            actions.push(Action::Evidence(EvidenceAction::RunQuery(question)));
        }
        return;
    }
    if let EvidenceAnswer::Rejections(rows) = answer {
        if let Some(row) = rows.get(index) {
            rejections::row_ui(ui, rect, row, view.now, actions);
        }
        return;
    }
    if let EvidenceAnswer::Runs(rows) = answer {
        if let Some(run) = rows.get(index) {
            run_row_ui(ui, rect, (question, run), view, actions);
        }
        return;
    }
    let Some(listed) = answer.listed(index) else { return };
    let theme = Theme::of(ui);
    let selected = view.selected == Some(listed.row.execution_id);
    let opened =
        row_ui(ui, rect, listed, (selected, index, ""), view.now, |ui, start, width, word| {
            let text = if listed.changed {
                WAS_CHANGED.to_owned()
            } else {
                second_line(answer, index, word)
            };
            widgets::paint_parts(ui, start, width, &[(text.as_str(), Text::SmallMono, theme.dim)]);
            // The accessible name of the row does not include the painted second line.
            let line = Rect::from_min_size(start, vec2(width.max(0.0), 1.0));
            let label = ui.interact(line, ui.scope_id().with("second line"), Sense::hover());
            label.widget_info(|| WidgetInfo::labeled(Role::Label, true, drawable(&text)));
        });
    if opened {
        actions.push(Action::Evidence(EvidenceAction::Open(listed.row.execution_id)));
    }
}

/// Draws a run, which a click shows or compares with that of the question.
fn run_row_ui(
    ui: &mut Ui,
    rect: Rect,
    (question, run): (&Question, &RunSummary),
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) {
    let steps = format::counted(run.step_count, "step");
    let counts = format!("{} of {steps}", format::count(run.steps_recorded as u64));
    let (verb, action) = match question {
        Question::RunsToCompare(with) => {
            let compare = Question::Compare { before: *with, after: run.run_id };
            let when = view.now.moment(run.started_at_ms);
            (
                format!("Compare with the run of {when}"),
                Action::Evidence(EvidenceAction::RunQuery(compare)),
            )
        }
        _ => {
            let action = Action::Plan(PlanAction::OpenRun(run.run_id));
            (format!("Show the run {}", run.plan_name), action)
        }
    };
    if run_ui(ui, rect, run, &counts, view.now, &verb) {
        actions.push(action);
    }
}

/// The second line of an execution in the answer. `word` is the outcome.
fn second_line(answer: &EvidenceAnswer, index: usize, word: &str) -> String {
    match answer {
        EvidenceAnswer::Touched(rows) => {
            let types = rows.get(index).into_iter().flat_map(|row| &row.edge_types);
            let types: Vec<_> = types.map(|it| it.words()).collect();
            format!("{word}, {}", types.join(", "))
        }
        EvidenceAnswer::Changes(rows) => rows.get(index).map_or_else(String::new, |row| {
            let after = format::duration(row.after_ms);
            format!("{word}, {after} after the diagnostic was seen in {}", row.file_name)
        }),
        EvidenceAnswer::Executions(rows) => {
            rows.get(index).and_then(|it| error_line(&it.row)).unwrap_or_else(|| word.to_owned())
        }
        EvidenceAnswer::Recurring(_)
        | EvidenceAnswer::Rejections(_)
        | EvidenceAnswer::Runs(_)
        | EvidenceAnswer::Times(_)
        | EvidenceAnswer::Compared(_)
        | EvidenceAnswer::Durations(_)
        | EvidenceAnswer::Replay(_)
        | EvidenceAnswer::Judged(_)
        | EvidenceAnswer::FileHistory(_) => String::new(),
    }
}
