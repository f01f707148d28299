//! The selected step in full: its preview, its arguments, its output, its diagnostics, its artifacts, and its record.

use egui::{Align, Layout, Margin, Ui, vec2};

use super::argument_editor::arguments_ui;
use super::changed_steps::step_change_ui;
use super::diagnostics::diagnostics_ui;
use super::did::{
    NOT_REVIEWED, did_ui, hidden_explanation, is_done, is_not_done, no_diagnostics, not_done,
    second_line, tab_name,
};
use super::hosts::hosts_tab_ui;
use super::letters::letters_ui;
use super::line_choice::{line_choice_ui, no_lines};
use super::output::argument_rows;
use super::path_end::end_of_path;
use super::request::{explanation_ui, partly_marked_ui, verdict_ui};
use super::walls::{WALLS, of_temporary_files, sentence, step_walls};
use super::{
    Gutter, LOWEST, PlanView, RevisionView, STEP_PANE, cached_rows, code_rows_ui, columns,
    command_ui, full_text_ui, looked_at, outcome_look, output_tab, preview_ui, risk_chip, step_row,
};
use crate::authorization::WallLevel;
use crate::plan::{ShownStep, drawable, prose_lines};
use crate::run::{PreconditionState, StepResult, StepState};
use crate::ui::access::Reason as _;
use crate::ui::action::Tab;
use crate::ui::evidence::detail;
use crate::ui::overlay::explain_ui;
use crate::ui::scroll::OnScreen;
use crate::ui::tabs::tabs_ui;
use crate::ui::{
    Action, Command, Icon, Look, PlanAction, Text, Theme, Tone, format, icon, narrow, scroll,
    widgets,
};

const TABS: [(Tab, &str); 6] = [
    (Tab::WillDo, "Will do"),
    (Tab::Arguments, "Arguments"),
    (Tab::Output, "Output"),
    (Tab::Diagnostics, "Diagnostics"),
    (Tab::Artifacts, "Artifacts"),
    (Tab::Evidence, "Evidence"),
];

/// The margin of the arguments and evidence tabs, in points.
const TAB_MARGIN: Margin = Margin::symmetric(16, 12);

/// Draws the selected step; `alone` is whether it has the place of the list.
pub(super) fn inspector_ui(
    ui: &mut Ui,
    view: &PlanView<'_>,
    alone: bool,
    actions: &mut Vec<Action>,
) {
    let theme = Theme::of(ui);
    let Some(step) = view.plan.and_then(|plan| plan.steps.get(view.selected)) else { return };
    let Some(row) = step_row(view, view.selected) else { return };
    ui.spacing_mut().item_spacing.y = 0.0;
    let is_low = ui.available_height() < LOWEST;
    widgets::margins(if is_low { 6 } else { 12 }, 0).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 4.0;
        ui.horizontal(|ui| {
            let count = view.plan.map_or(0, |plan| plan.steps.len());
            if alone && widgets::icon_button(ui, icon::LEFT, "Show the steps").clicked() {
                narrow::set_open(ui.ctx(), STEP_PANE, false);
            }
            widgets::icon_ui(ui, vec2(18.0, 24.0), row.icon, 17.0, theme.tone(row.tone));
            let position = format!("Step {} of {}", row.number, format::count(count as u64));
            ui.label(widgets::rich(position, Text::Meta, theme.dim));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if let Some((level, reason)) = &row.risk {
                    risk_chip(*level).with_tooltip(reason.clone()).ui(ui);
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    widgets::line(ui, &step.tool_name, Text::Mono, Tone::Plain);
                });
            });
        });
        let title = step.title.as_deref().map(prose_lines);
        let name = title.unwrap_or_else(|| {
            let verb = match &row.place {
                Some(place) => format!("{} {place}:", row.verb),
                None => row.verb.clone(),
            };
            let beside_verb = ui.available_width() - Text::Strong.width_of(ui, &verb) - 12.0;
            format!("{verb} {}", end_of_path(ui, &row.verb, &row.object, beside_verb))
        });
        let title = widgets::line(ui, &name, Text::Strong, Tone::Plain);
        if is_low {
            title.on_hover_text(second_line(view, step));
        } else {
            widgets::line(ui, second_line(view, step), Text::Small, Tone::Dim);
        }
        let mut tabs = TABS.to_vec();
        if view.plan.is_some_and(|plan| plan.fleet.is_some()) {
            tabs.insert(1, (Tab::Hosts, "Hosts"));
        }
        if let Some((_, name)) = tabs.first_mut() {
            *name = tab_name(view);
        }
        if let Some(tab) = tabs_ui(ui, &tabs, view.tab) {
            actions.push(Action::Plan(PlanAction::ShowTab(tab)));
        }
        if matches!(view.tab, Tab::WillDo | Tab::Arguments) && !is_low {
            change_step_ui(ui, view, step, actions);
        }
    });
    widgets::line_below(ui);
    match view.tab {
        Tab::WillDo if is_done(view) => did_ui(ui, view, step, actions),
        Tab::WillDo => {
            let choice = view.revision.revising.and_then(|it| it.lines.as_ref());
            if let Some(choice) = choice.filter(|choice| choice.step == view.selected) {
                return line_choice_ui(ui, view, choice, actions);
            }
            let covered = ui.memory(|memory| memory.top_modal_layer().is_some());
            let shown = will_do_ui(ui, view, step);
            let shown_in = (view.digest, view.selected, shown);
            if !covered
                && view.looked_at.is_news(view.selected, shown)
                && looked_at::was_on_screen(ui.ctx(), shown_in)
            {
                actions.push(Action::Plan(PlanAction::LookedAt(view.selected, shown)));
            }
        }
        Tab::Arguments => arguments_ui(ui, view, step, actions),
        Tab::Output => output_tab::output_ui(ui, view, actions),
        Tab::Diagnostics => match view.run.steps.get(view.selected) {
            Some(StepState::Done(result)) if !result.diagnostic_artifacts.is_empty() => {
                diagnostics_ui(ui, result, actions);
            }
            Some(StepState::Done(result)) => {
                let (icon, _, _) = outcome_look(result.outcome);
                let text = no_diagnostics(result.outcome);
                empty_tab_ui(ui, icon, ("No diagnostics", text), actions);
            }
            _ if view.run.is_over() => {
                let text = not_done(view);
                empty_tab_ui(ui, icon::INFO, ("No diagnostics", text), actions);
            }
            _ => empty_tab_ui(ui, icon::INFO, ("No diagnostics yet", NO_DIAGNOSTICS), actions),
        },
        Tab::Hosts => hosts_tab_ui(ui, view, actions),
        Tab::Artifacts => match view.execution {
            Some(execution) if execution.artifacts.is_empty() => {
                let text =
                    "The step left no output, result or difference. Its record is under Evidence.";
                empty_tab_ui(ui, icon::FILE_TEXT, ("No artifacts", text), actions);
            }
            Some(execution) => {
                let height = ui.available_height();
                detail::stored_artifacts_ui(ui, execution, view.contents, height, actions);
            }
            None => no_record_ui(ui, view, (icon::FILE_TEXT, "artifacts"), actions),
        },
        Tab::Evidence => match view.execution {
            Some(execution) => {
                scroll::area(ui, "evidence", TAB_MARGIN, |ui| {
                    detail::facts_ui(ui, (execution, view.of_loop), view.now, actions);
                });
            }
            None => no_record_ui(ui, view, (icon::DATABASE, "evidence"), actions),
        },
    }
}

/// The buttons that change what the step does, before the plan is decided about.
fn change_step_ui(ui: &mut Ui, view: &PlanView<'_>, step: &ShownStep, actions: &mut Vec<Action>) {
    let RevisionView { is_offered, why_not, revising, .. } = view.revision;
    if !is_offered || view.run.is_active() || is_done(view) {
        return;
    }
    let changes = view.preview.map(|preview| preview.changes.as_slice()).unwrap_or_default();
    // A choice that differs in nothing does not keep another step from having one.
    let lines = revising.and_then(|it| it.lines.as_ref());
    let chooses = lines.is_some_and(|it| it.step == view.selected || it.is_changed());
    let no_lines = no_lines(step, changes).or(chooses.then_some("You are choosing them."));
    ui.horizontal(|ui| {
        for (command, why_not) in
            [(Command::LeaveOutStep, why_not), (Command::ChooseLines, why_not.or(no_lines))]
        {
            // What is never possible for this step needs no room.
            if command == Command::ChooseLines && changes.is_empty() {
                continue;
            }
            let spec = command.spec();
            let button = widgets::button(ui, Look::Plain, None, spec.text, why_not.is_none());
            if button.clicked() {
                actions.push(Action::Do(command));
            }
            let tooltip = spec.tooltip_text(ui);
            button.on_hover_text(tooltip).or_why(why_not.unwrap_or_default());
        }
    });
    ui.add_space(6.0);
}

/// What every empty tab of a step offers.
const SHOW_EFFECT: &str = "Show what the step does";
const NO_DIAGNOSTICS: &str = "Errors, warnings and notes of a check appear here.";
const NOT_RUN: &str = "The record appears here once the step has run, was skipped or was denied.";

/// An empty tab, which offers the tab that says what the step would do or did.
pub(super) fn empty_tab_ui(
    ui: &mut Ui,
    icon: Icon,
    texts: (&str, &str),
    actions: &mut Vec<Action>,
) {
    widgets::margins(12, 12).show(ui, |ui| {
        if widgets::empty_state(ui, icon, texts, (icon::PLAN, SHOW_EFFECT)) {
            actions.push(Action::Plan(PlanAction::ShowTab(Tab::WillDo)));
        }
    });
}

/// An empty tab of a step without a record.
fn no_record_ui(
    ui: &mut Ui,
    view: &PlanView<'_>,
    (icon, what): (Icon, &str),
    actions: &mut Vec<Action>,
) {
    if is_not_done(view) {
        empty_tab_ui(ui, icon, (&format!("No {what}"), not_done(view)), actions);
    } else {
        empty_tab_ui(ui, icon, (&format!("No {what} yet"), NOT_RUN), actions);
    }
}

/// Returns how much of the preview has been on screen, once it is complete.
fn will_do_ui(ui: &mut Ui, view: &PlanView<'_>, step: &ShownStep) -> OnScreen {
    let margin = Margin { left: 0, right: 0, top: 10, bottom: 12 };
    let mut complete = false;
    let key = (view.digest, view.selected, view.review_id, view.preview.is_some());
    let risk = view.review.and_then(|review| review.risks.get(step.step_index));
    let command = step.arguments.get("command").filter(|_| step.tool_name == "shell");
    let shown = scroll::area_seen(ui, ("will do", view.selected), key, margin, |ui| {
        if let Some(command) = command {
            indented(ui, |ui| {
                command_ui(ui, ("command", step.step_index), command, risk);
                if let Some(risk) = risk {
                    partly_marked_ui(ui, command, risk);
                    verdict_ui(ui, risk);
                }
            });
        }
        if let Some(explanation) = hidden_explanation(view, step) {
            indented(ui, |ui| explanation_ui(ui, explanation));
        }
        letters_ui(ui, (view.digest, step.step_index), &step.arguments, true);
        step_change_ui(ui, view, step);
        let Some(preview) = view.preview else {
            indented(ui, |ui| {
                let text = match view.review {
                    _ if step.call.is_none() => {
                        "The step has errors. They are listed above the steps."
                    }
                    // Only a plan that can still run has previews, and of it no step that has begun.
                    Some(_) if !view.run.has_begun_step(view.selected) => {
                        "Computing what this step would do…"
                    }
                    Some(_) if !view.run.is_over() => "This step is under way.",
                    None if !view.run.has_begun() => NOT_REVIEWED,
                    _ => not_done(view),
                };
                widgets::paragraph(ui, text, Text::Body, Tone::Dim);
            });
            return;
        };
        complete = preview_ui(ui, preview, risk.map(|risk| risk.level));
        indented(ui, |ui| {
            expected_ui(ui, step);
            if let Some((icon, tone, text)) = precondition(view, step) {
                widgets::remark(ui, icon, tone, text);
            }
            if let Some(risk) = risk.filter(|_| command.is_none()) {
                verdict_ui(ui, risk);
            }
            if let Some(walls) = step_walls(view, step.step_index) {
                let is_weak = walls.level < WallLevel::Full || walls.is_widened();
                let tone = if is_weak { Tone::Caution } else { Tone::Dim };
                widgets::remark(ui, WALLS, tone, drawable(&sentence(walls)));
                let command = command.map_or("", String::as_str);
                if let Some(text) = of_temporary_files(walls, command) {
                    widgets::remark(ui, icon::INFO, Tone::Caution, text);
                }
            }
        });
    });
    if complete { shown } else { OnScreen::Part }
}

/// Adds a part with the margin of the inspector and of the dialogs.
pub(crate) fn indented(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    widgets::margins(2, 2).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 6.0;
        add(ui);
    });
}

/// The state of the step's precondition, as a remark; `None` if it has none or was not reviewed.
fn precondition(view: &PlanView<'_>, step: &ShownStep) -> Option<(Icon, Tone, String)> {
    let text = &step.precondition_text;
    Some(match view.review?.preconditions.get(step.step_index)? {
        PreconditionState::None => return None,
        PreconditionState::Holds { found } => {
            let text = format!("Precondition “{text}” holds: {found}");
            // *Arguments* has them whole; only of one that does not hold every digit may matter here.
            (icon::DONE, Tone::Safe, format::short_digests(&text))
        }
        PreconditionState::Fails { found } => (
            icon::FAILED,
            Tone::Danger,
            format!("Precondition “{text}” does not hold now: {found}"),
        ),
        PreconditionState::Later { reason } => {
            (icon::CLOCK, Tone::Dim, format!("Precondition “{text}”: {reason}"))
        }
    })
}

/// Shows one argument, exact and untruncated.
pub(crate) fn argument_ui(ui: &mut Ui, name: &str, value: &str) {
    argument_with_ui(ui, name, value, |_| {});
}

/// As [`argument_ui`]; `buttons` adds what can be done with it.
pub(super) fn argument_with_ui(
    ui: &mut Ui,
    name: &str,
    value: &str,
    buttons: impl FnOnce(&mut Ui),
) {
    let theme = Theme::of(ui);
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        ui.label(widgets::rich(drawable(name), Text::Meta, theme.dim));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            widgets::copy_button(ui, value, &format!("argument {name}"));
            if value.len() > 200 {
                let size = format::size(value.len() as u64);
                ui.label(widgets::rich(size, Text::SmallMono, theme.dim));
            }
            buttons(ui);
        });
    });
    widgets::card(ui).inner_margin(Margin::symmetric(0, 6)).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        let is_multiline = value.lines().nth(1).is_some();
        // The number of bytes is an upper bound of the line numbers; counting lines in every frame would be slow.
        let gutter = if is_multiline { Gutter::one(value.len()) } else { Gutter::NONE };
        let columns = columns(ui, ui.available_width(), gutter);
        let id_salt = ("argument", name);
        let rows = cached_rows(ui, id_salt, &[value], columns, || argument_rows(value, columns));
        if rows.is_empty() {
            indented(ui, |ui| {
                ui.label(widgets::rich("empty", Text::Meta, theme.dim));
            });
        }
        code_rows_ui(ui, id_salt, &rows, gutter);
    });
}

/// Shows the output that the author expects. It is never compared with the actual output.
pub(super) fn expected_ui(ui: &mut Ui, step: &ShownStep) {
    if let Some(expected) = &step.expected_output {
        let text = format!("The plan expects: {}", prose_lines(expected));
        full_text_ui(ui, "expected", &text, |ui, text| {
            widgets::remark(ui, icon::TERMINAL, Tone::Dim, text);
        });
    }
}

/// Shows the error of a step, and what to do next.
pub(super) fn error_ui(ui: &mut Ui, result: &StepResult) {
    let Some(message) = &result.error_message else { return };
    let (icon, _, tone) = outcome_look(result.outcome);
    let message = format::sentence(message);
    widgets::remark(ui, icon, tone, format::error(result.error_code, &message));
    if let Some(next) = &result.next {
        widgets::remark(ui, icon::INFO, Tone::Dim, next);
    }
    explain_ui(ui, result.error_code.as_slice());
}
