//! One execution in full: its call, time, outcome, authorization, decisions and artifacts.

use egui::{Align, Layout, ScrollArea, Ui};

use super::answer::BACK_TO_SEARCH;
use super::record_tabs::{decisions_ui, record_ui, section, why_ui};
use super::results::{self, known_look};
use super::{EvidenceView, Filter, PANE, team, toggle};
use crate::plan::one_line;
use crate::run::{Attempt, ExecutionDetail, Known, Question, Reconciled, RunFate};
use crate::ui::access::Reason as _;
use crate::ui::action::{RecordTab, WindowAction};
use crate::ui::artifact::{ArtifactView, Contents, artifacts_ui};
use crate::ui::loop_page::loop_link_ui;
use crate::ui::overlay::explain_ui;
use crate::ui::plan::risk_icon;
use crate::ui::reconcile::{reconciled_ui, settle_ui};
use crate::ui::tabs::tabs_ui;
use crate::ui::{
    Action, Chip, Command, EvidenceAction, Look, Now, PlanAction, Text, Theme, Tone, controls,
    format, icon, narrow, scroll, widgets,
};

/// Draws the open record; with `is_alone`, in the place of the list.
pub(super) fn detail_ui(
    ui: &mut Ui,
    view: &EvidenceView<'_>,
    is_alone: bool,
    actions: &mut Vec<Action>,
) {
    let theme = Theme::of(ui);
    widgets::margins(12, 8).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(widgets::rich("Execution", Text::Meta, theme.dim));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let close = widgets::icon_button(ui, icon::CLOSE, "Close the execution");
                // Asked in every case: beside the list, where that keeps the keyboard, nothing is left for later.
                if narrow::takes_over(ui.ctx(), PANE) && is_alone {
                    close.request_focus();
                }
                if close.clicked() {
                    actions.push(Action::Evidence(EvidenceAction::CloseDetail));
                }
            });
        });
    });
    let Some(detail) = view.detail else {
        match view.unreadable {
            Some(why) => {
                // Nothing else than the server of a team may answer otherwise the next time.
                let (offer, action) = match view.of_team() {
                    Some(_) => ((icon::AGAIN, "Try again"), EvidenceAction::TryAgain),
                    None => (BACK_TO_SEARCH, EvidenceAction::CloseDetail),
                };
                let texts = ("There is no record to show", why);
                if widgets::empty_state(ui, icon::DATABASE, texts, offer) {
                    actions.push(Action::Evidence(action));
                }
            }
            None => widgets::reading_state(ui, icon::DATABASE, "Reading the record", ""),
        }
        return;
    };
    if ui.available_height() >= LOW {
        return record_of_ui(ui, view, (detail, false), actions);
    }
    // In a low window, what is above the tabs scrolls with their content.
    let id = ("whole record", detail.row.execution_id);
    ScrollArea::vertical().id_salt(id).auto_shrink([false, false]).show(ui, |ui| {
        record_of_ui(ui, view, (detail, true), actions);
        scroll::by_key(ui);
    });
}

/// Below this height, in points, a page has no room for a header that stays.
const LOW: f32 = 320.0;

fn record_of_ui(
    ui: &mut Ui,
    view: &EvidenceView<'_>,
    (detail, is_low): (&ExecutionDetail, bool),
    actions: &mut Vec<Action>,
) {
    let is_here = view.of_team().is_none();
    widgets::margins(12, 0).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 6.0;
        for change in &detail.changed {
            let text = format!("This record was changed after it was written: {change}.");
            widgets::remark(ui, icon::WARNING, Tone::Danger, text);
        }
        heading_ui(ui, detail);
        if let Some(team) = view.of_team() {
            team::origin_ui(ui, team);
        }
        links_of_run_ui(ui, detail, (view.attempt, is_here), actions);
        let tabs = if detail.never_started() { &TABS_OF_NOTHING } else { &TABS };
        if let Some(tab) = tabs_ui(ui, tabs, view.tab) {
            actions.push(Action::Evidence(EvidenceAction::ShowTab(tab)));
        }
    });
    widgets::line_below(ui);
    if view.tab == RecordTab::Did {
        widgets::margins(12, 0).show(ui, |ui| interrupted_ui(ui, view, actions));
        let height = if is_low { LOW } else { ui.available_height() };
        stored_artifacts_ui(ui, detail, view.contents, height, actions);
        return;
    }
    let id = (detail.row.execution_id, view.tab as u8);
    let mut content = |ui: &mut Ui| {
        widgets::margins(12, 8).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 6.0;
            match view.tab {
                RecordTab::Did => {}
                RecordTab::Why => why_ui(ui, detail),
                RecordTab::Decisions => decisions_ui(ui, detail, view.now),
                RecordTab::Record => record_ui(ui, (detail, is_here), view.now, actions),
            }
        });
    };
    // The area around it scrolls in a low window.
    if is_low {
        ui.push_id(id, content);
        return;
    }
    let area = ScrollArea::vertical().id_salt(id).auto_shrink([false, false]);
    area.show(ui, |ui| {
        content(ui);
        scroll::by_key(ui);
    });
}

const TABS: [(RecordTab, &str); 4] = [
    (RecordTab::Did, "What it did"),
    (RecordTab::Why, "Why"),
    (RecordTab::Decisions, "Decisions"),
    (RecordTab::Record, "Record"),
];

/// The tabs of a step whose tool was not called.
const TABS_OF_NOTHING: [(RecordTab, &str); 4] = [
    (RecordTab::Decisions, "Decisions"),
    (RecordTab::Why, "Why"),
    (RecordTab::Record, "Record"),
    (RecordTab::Did, "Artifacts"),
];

/// The tab that is shown first: what the step did, or else the decision against it.
pub fn first_tab(detail: &ExecutionDetail) -> RecordTab {
    match detail.never_started() {
        true => RecordTab::Decisions,
        false => RecordTab::Did,
    }
}

/// Shows how the files of an interrupted step compare with the disk, and offers plans that settle the differences.
fn interrupted_ui(ui: &mut Ui, view: &EvidenceView<'_>, actions: &mut Vec<Action>) {
    let row = view.detail.map(|detail| &detail.row);
    let Some(row) = row.filter(|row| row.known == Known::Interrupted) else { return };
    section(ui, "Compared with the disk");
    if view.of_team().is_some() {
        widgets::paragraph(ui, team::ELSEWHERE, Text::Body, Tone::Dim);
        return;
    }
    let spec = Command::Reconcile.spec();
    if widgets::tooltip_button(ui, Look::Plain, spec.icon, spec.text, spec.tooltip) {
        actions.push(Action::Evidence(EvidenceAction::Reconcile(row.run_id)));
    }
    let is_of_step = |found: &&Reconciled| found.execution_id == row.execution_id;
    reconciled_ui(ui, view.reconciled.iter().filter(is_of_step));
    settle_ui(ui, Some(row.run_id), view.reconciled, actions);
}

/// Shows an execution without its arguments and artifacts: the call, the outcome, the plan, the decisions, the touched
/// targets and its link of the chain.
pub(crate) fn facts_ui(
    ui: &mut Ui,
    (detail, attempt): (&ExecutionDetail, Option<Attempt>),
    now: &Now,
    actions: &mut Vec<Action>,
) {
    heading_ui(ui, detail);
    links_of_run_ui(ui, detail, (attempt, true), actions);
    section(ui, "Decisions");
    decisions_ui(ui, detail, now);
    section(ui, "Record");
    record_ui(ui, (detail, true), now, actions);
}

/// Shows the call, the outcome, the risk, the walls and the error.
fn heading_ui(ui: &mut Ui, detail: &ExecutionDetail) {
    let row = &detail.row;
    let is_changed = !detail.changed.is_empty();
    let (icon, word, tone) = if is_changed { results::CHANGED } else { known_look(row.known) };
    let title = format!("{} {}", row.tool_name, one_line(&row.about));
    widgets::line(ui, title, Text::Strong, Tone::Plain);
    ui.horizontal_wrapped(|ui| {
        Chip::new(icon, word, tone).ui(ui);
        if let Some(risk) = row.risk {
            Chip::new(risk_icon(risk), risk.as_str(), risk.into()).ui(ui);
        }
        if let Some(walls) = detail.walls_text() {
            Chip::new(icon::WALL, format!("walls: {walls}"), Tone::Dim).ui(ui);
        }
    });
    if let Some(message) = &row.error_message {
        let text = format::error(row.error_code, message);
        let (icon, _, tone) = known_look(row.known);
        widgets::remark(ui, icon, tone, text);
        explain_ui(ui, row.error_code.as_slice());
    }
}

/// The buttons that lead from an execution to its run and its loop, and to a plan that reverts it.
fn links_of_run_ui(
    ui: &mut Ui,
    detail: &ExecutionDetail,
    (attempt, is_here): (Option<Attempt>, bool),
    actions: &mut Vec<Action>,
) {
    let run_id = detail.row.run_id;
    ui.horizontal_wrapped(|ui| {
        if widgets::button(ui, Look::Plain, Some(icon::PLAN), "Show the run", is_here)
            .or_why(team::ELSEWHERE)
            .clicked()
        {
            let step = detail.row.step_index;
            actions.push(Action::Plan(PlanAction::OpenStepOfRun(run_id, step)));
        }
        if widgets::button(ui, Look::Plain, Some(icon::SEARCH), "All records of this run", true)
            .clicked()
        {
            let text = toggle("", Filter::Run, &run_id.to_string());
            actions.push(Action::Evidence(EvidenceAction::Search(text)));
        }
        if is_here {
            looking_back_ui(ui, detail, actions);
        } else {
            widgets::button(ui, Look::Plain, Some(icon::CLOCK), "Look back", false)
                .or_why(team::ELSEWHERE);
        }
        if is_here {
            revert_ui(ui, detail, actions);
        } else if detail.intent_at_ms.is_some() {
            widgets::button(ui, Look::Plain, Some(icon::REVERT), "Revert this step…", false)
                .or_why(team::ELSEWHERE);
        }
        let over = detail.run.fate != RunFate::Active;
        let why_not = if is_here { "It is under way." } else { team::ELSEWHERE };
        if widgets::button(ui, Look::Plain, Some(icon::ERASE), "Purge the run…", over && is_here)
            .on_hover_text("Delete the records of this run for ever. A preview says what would go.")
            .or_why(why_not)
            .clicked()
        {
            actions.push(Action::Window(WindowAction::AskToPurge(run_id)));
        }
        if let Some(attempt) = attempt {
            loop_link_ui(ui, attempt, actions);
        }
    });
}

/// The menu of the pictures and comparisons of a run and of a step.
fn looking_back_ui(ui: &mut Ui, detail: &ExecutionDetail, actions: &mut Vec<Action>) {
    let row = &detail.row;
    controls::menu(ui, icon::CLOCK, "Look back", |ui| {
        for (name, question) in [
            ("Times of the run", Question::Times(row.run_id)),
            ("Play the run back", Question::Replay(row.run_id)),
            ("Durations of this step", Question::Durations(row.execution_id)),
            ("Compare with another run…", Question::RunsToCompare(row.run_id)),
        ] {
            if controls::menu_item(ui, name) {
                actions.push(Action::Evidence(EvidenceAction::RunQuery(question)));
            }
        }
    });
}

/// The button that opens a plan to revert the file changes of an execution; none if no change of a file is recorded: of a
/// command that was interrupted, nothing is known that could be reverted.
pub(super) fn revert_ui(ui: &mut Ui, detail: &ExecutionDetail, actions: &mut Vec<Action>) {
    if !detail.has_changes {
        return;
    }
    let over = detail.run.fate != RunFate::Active;
    if widgets::button(ui, Look::Plain, Some(icon::REVERT), "Revert this step…", over)
        .on_hover_text(
            "Make a plan that undoes this step's file changes. It needs your authorization.",
        )
        .or_why("Its run is under way.")
        .clicked()
    {
        actions.push(Action::Evidence(EvidenceAction::Revert(detail.row.execution_id)));
    }
}

/// The stored artifacts of an execution, in an area of at most this height, in points.
pub(crate) fn stored_artifacts_ui(
    ui: &mut Ui,
    detail: &ExecutionDetail,
    contents: &Contents,
    height: f32,
    actions: &mut Vec<Action>,
) {
    ui.spacing_mut().item_spacing.y = 0.0;
    if detail.artifacts.is_empty() {
        widgets::margins(8, 8).show(ui, |ui| {
            widgets::paragraph(ui, "This step has no artifacts.", Text::Body, Tone::Dim);
        });
    }
    let id_salt = ("artifacts", detail.row.execution_id);
    let artifacts = ArtifactView::all(detail);
    artifacts_ui(ui, id_salt, &artifacts, first(detail), contents, height, actions);
}

/// The artifact shown first: the diff or, after an error, the diagnostics; otherwise the output, otherwise the result.
fn first(detail: &ExecutionDetail) -> &'static str {
    let has = |name: &&&str| detail.artifacts.iter().any(|it| it.artifact_type == **name);
    let failed = detail.row.error_message.is_some();
    let order: [&str; 4] = if failed {
        ["diagnostics", "stderr", "stdout", "result"]
    } else {
        ["diff", "stdout", "stderr", "result"]
    };
    order.iter().find(has).copied().unwrap_or("result")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Decision;
    use crate::ui::tests::fixture;

    #[test]
    fn a_late_answer_is_told_apart_from_the_start() {
        let mut detail = fixture::detail();
        let begun = detail.row.timestamp_ms;
        assert_eq!(detail.times(), [("started", begun)], "answered at once");
        detail.decisions[1].timestamp_ms = begun + 22_000;
        detail.intent_at_ms = None;
        let asked = |at| [("asked", begun), ("started", at)];
        assert_eq!(detail.times(), asked(begun + 22_000), "a step that only reads");
        detail.intent_at_ms = Some(begun + 22_003);
        assert_eq!(detail.times(), asked(begun + 22_003));
    }

    #[test]
    fn a_denied_step_was_asked_about_and_never_started() {
        let mut detail = fixture::detail();
        let begun = detail.row.timestamp_ms;
        assert_eq!(first_tab(&detail), RecordTab::Did);
        detail.row.known = Known::Outcome(crate::run::Outcome::Denied);
        detail.decisions[1].decision = Decision::Cancel.as_str().to_owned();
        detail.decisions[1].timestamp_ms = begun + 20_000;
        assert_eq!(detail.times(), [("asked", begun), ("denied", begun + 20_000)]);
        assert_eq!(first_tab(&detail), RecordTab::Decisions);
        detail.row.walls = None;
        assert_eq!(detail.walls_text(), None);
        detail.row.known = Known::Outcome(crate::run::Outcome::PreconditionFailed);
        assert_eq!(detail.times(), [("checked", begun)]);
    }

    #[test]
    fn only_a_step_that_may_start_a_process_has_walls() {
        let mut detail = fixture::detail();
        detail.row.walls = None;
        for (tool, walls) in [
            ("file_write", None),
            ("history", None),
            ("lsp_check", Some("not recorded")),
            ("splice_patch", Some("not recorded")),
            ("shell", Some("not recorded")),
        ] {
            detail.row.tool_name = tool.to_owned();
            assert_eq!(detail.walls_text().as_deref(), walls, "{tool}");
        }
    }
}
