//! Two runs side by side: what became of the plan, which approved files differ, and the steps with the outcome and the
//! duration of each run. A step unfolds to the lines that differ.

use egui::{Align, Id, Layout, Rect, ScrollArea, Sense, Ui, pos2, vec2};

use super::EvidenceView;
use super::results::known_look;
use crate::authorization::FileState;
use crate::plan::{one_line, visible_name};
use crate::run::{
    ComparedRun, InputDifference, RunComparison, StepComparison, StepPair, StepTimes,
};
use crate::ui::loop_page::{lines_ui, plan_steps_ui};
use crate::ui::plan::{difference_ui, fate_text, run_look};
use crate::ui::{
    Action, EvidenceAction, Icon, Look, PlanAction, Text, Theme, Tone, controls, format, icon,
    rows, scroll, widgets,
};

/// The height of a step, in points.
const HEIGHT: f32 = 30.0;
/// Below this width, in points, the two runs are one below the other.
const NARROW: f32 = 560.0;

/// The id of the choice to see only the steps that differ, which lasts until the window closes.
fn only_differing_id() -> Id {
    Id::unique("only the steps that differ")
}

pub(super) fn comparison_ui(
    ui: &mut Ui,
    found: &RunComparison,
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) {
    let salt = ("compared", found.before.run.run_id, found.after.run.run_id);
    ScrollArea::vertical().id_salt(salt).auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        widgets::margins(8, 10).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 8.0;
            runs_ui(ui, found, view, actions);
            plan_ui(ui, found);
            inputs_ui(ui, &found.inputs);
        });
        widgets::line_below(ui);
        steps_ui(ui, found, view, actions);
        scroll::by_key(ui);
    });
}

/// Both runs, with how they ended and how long they took.
fn runs_ui(ui: &mut Ui, found: &RunComparison, view: &EvidenceView<'_>, actions: &mut Vec<Action>) {
    let runs = [("First run", &found.before), ("Second run", &found.after)];
    if ui.available_width() < NARROW {
        for (name, run) in runs {
            ui.push_id(name, |ui| run_card_ui(ui, name, run, view, actions));
        }
        return;
    }
    ui.columns(2, |columns| {
        for (ui, (name, run)) in columns.iter_mut().zip(runs) {
            run_card_ui(ui, name, run, view, actions);
        }
    });
}

fn run_card_ui(
    ui: &mut Ui,
    name: &str,
    compared: &ComparedRun,
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) {
    let run = &compared.run;
    widgets::card(ui).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 3.0;
        ui.horizontal(|ui| {
            ui.label(widgets::rich(name, Text::Meta, Theme::of(ui).dim));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                for (icon, verb, action) in [
                    (
                        icon::CLOCK,
                        "Times",
                        Action::Evidence(EvidenceAction::RunQuery(crate::run::Question::Times(
                            run.run_id,
                        ))),
                    ),
                    (icon::PLAN, "Show", Action::Plan(PlanAction::OpenRun(run.run_id))),
                ] {
                    let name = format!("{verb}: {}", name.to_lowercase());
                    if widgets::icon_button(ui, icon, &name).clicked() {
                        actions.push(action);
                    }
                }
            });
        });
        widgets::line(ui, &run.plan_name, Text::Strong, Tone::Plain);
        let (icon, _, tone) = run_look(run);
        widgets::remark(ui, icon, tone, fate_text(run));
        let times = [
            (compared.total_ms, "in all"),
            (compared.worked_ms, "of work"),
            (compared.waited_ms, "waiting for a person"),
        ];
        let times = times.iter().filter(|(ms, _)| *ms > 0);
        let times: Vec<_> =
            times.map(|(ms, what)| format!("{} {what}", format::duration(*ms))).collect();
        let text = format!("{} · {}", view.now.moment(run.started_at_ms), times.join(", "));
        widgets::line(ui, text, Text::Meta, Tone::Dim);
    });
}

fn plan_ui(ui: &mut Ui, found: &RunComparison) {
    let is_same = found.same_plan || found.plan.as_ref().is_some_and(|plan| plan.is_same());
    let (icon, tone) = match (is_same, &found.plan) {
        (true, _) => (icon::DONE, Tone::Safe),
        (false, Some(_)) => (icon::DIFF, Tone::Accent),
        (false, None) => (icon::WARNING, Tone::Caution),
    };
    widgets::remark(ui, icon, tone, found.plan_sentence());
    if let Some(plan) = found.plan.as_ref().filter(|_| !is_same) {
        controls::folded(ui, "Steps of the plan that differ", "steps of the plan", |ui| {
            plan_steps_ui(ui, plan);
        });
    }
}

/// The files whose approved states differ, folded.
fn inputs_ui(ui: &mut Ui, inputs: &[InputDifference]) {
    if inputs.is_empty() {
        return;
    }
    let title = match inputs.len() {
        1 => "1 file was in another state when the run was authorized".to_owned(),
        files => format!(
            "{} were in another state when the run was authorized",
            format::counted(files, "file")
        ),
    };
    controls::folded(ui, &title, "inputs", |ui| {
        for input in inputs {
            let state = |state: Option<FileState>| match state {
                None => "not covered".to_owned(),
                Some(FileState::Absent) => "absent".to_owned(),
                Some(FileState::Content(digest)) => format::digest(&digest),
            };
            let text = format!("{}: {} → {}", input.path, state(input.before), state(input.after));
            widgets::line(ui, text, Text::Mono, Tone::Plain);
        }
    });
}

fn steps_ui(
    ui: &mut Ui,
    found: &RunComparison,
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) {
    let differing = found.differing_steps();
    let mut only: bool = ui.data(|data| data.get_temp(only_differing_id())).unwrap_or(false);
    widgets::margins(6, 6).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            let all = format!("All {}", format::counted(found.steps.len(), "step"));
            let different = format!("Different: {}", format::count(differing as u64));
            for (name, choice) in [(all, false), (different, true)] {
                if widgets::view_choice(ui, &name, only == choice) {
                    only = choice;
                    ui.data_mut(|data| data.insert_temp(only_differing_id(), only));
                }
            }
        });
        if found.left_out > 0 {
            let outputs = format::counted(found.left_out, "output");
            let text = format!("The lines of {outputs} are left out: all together are too long.");
            widgets::remark(ui, icon::INFO, Tone::Caution, text);
        }
    });
    widgets::line_below(ui);
    if only && differing == 0 {
        let text =
            "Outcomes, arguments and outputs are the same in both runs; only times may differ.";
        widgets::margins(10, 10).show(ui, |ui| {
            widgets::paragraph(ui, text, Text::Body, Tone::Dim);
        });
    }
    head_ui(ui);
    for (index, step) in found.steps.iter().enumerate() {
        if !only || step.differs() {
            ui.push_id(("step", index), |ui| step_ui(ui, step, view, actions));
        }
    }
}

/// Where the two columns of the runs are in a row: the left end of each, and their width, in points.
fn columns(row: Rect) -> ([f32; 2], f32) {
    let width = (row.width() * 0.21).clamp(74.0, 190.0);
    let right = row.right() - 12.0;
    ([right - 2.0 * width, right - width], width - 8.0)
}

fn head_ui(ui: &mut Ui) {
    let theme = Theme::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 22.0), Sense::hover());
    let middle = rect.center().y;
    let title = [("step", Text::Small, theme.dim)];
    widgets::paint_parts(ui, pos2(rect.left() + 34.0, middle), 60.0, &title);
    let (places, width) = columns(rect);
    for (left, name) in places.into_iter().zip(["first run", "second run"]) {
        widgets::paint_parts(ui, pos2(left, middle), width, &[(name, Text::Small, theme.dim)]);
    }
    widgets::line_below(ui);
}

fn step_ui(ui: &mut Ui, step: &StepComparison, view: &EvidenceView<'_>, actions: &mut Vec<Action>) {
    let Some(latest) = step.latest() else { return };
    let theme = Theme::of(ui);
    let row = &latest.listed.row;
    let id = ui.scope_id().with("unfolded");
    let mut unfolded = ui.data(|data| data.get_temp(id)).unwrap_or(false);
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::click());
    let is_selected = [&step.before, &step.after]
        .into_iter()
        .flatten()
        .any(|it| view.selected == Some(it.listed.row.execution_id));
    rows::row_background(ui, &response, is_selected);
    if is_selected && view.scroll_to_selected {
        ui.scroll_to_rect(rect, Some(egui::Align::Min));
    }
    let middle = rect.center().y;
    let arrow = if unfolded { icon::DOWN } else { icon::RIGHT };
    widgets::paint_icon(ui, pos2(rect.left() + 22.0, middle), arrow, 12.0, theme.dim);
    let number = (row.step_index + 1).to_string();
    let is_command = row.tool_name == "shell";
    let about = if is_command { one_line(&row.about) } else { visible_name(&row.about) };
    let differing = step.differing().join(", ");
    let tone = match step.pair {
        StepPair::OnlyBefore | StepPair::OnlyAfter => theme.accent,
        _ => theme.caution,
    };
    let parts = [
        (number.as_str(), Text::Mono, theme.dim),
        (&*row.tool_name, Text::Body, theme.text),
        (&*about, Text::Mono, theme.text),
    ];
    let (places, width) = columns(rect);
    let left = rect.left() + 34.0;
    // What differs is more important than the end of a long path.
    let room = places[0] - 12.0 - left;
    let for_words = (Text::Small.width_of(ui, &differing) + 12.0).min(room * 0.5);
    let for_words = if differing.is_empty() { 0.0 } else { for_words };
    widgets::paint_parts(ui, pos2(left, middle), room - for_words, &parts);
    let words = pos2(places[0] - for_words, middle);
    widgets::paint_parts(ui, words, for_words - 8.0, &[(&differing, Text::Small, tone)]);
    for (left, times) in places.into_iter().zip([&step.before, &step.after]) {
        run_cell(ui, pos2(left, middle), width, times.as_ref());
    }
    let words = || {
        let cell = |times: &Option<StepTimes>| times.as_ref().map_or("not run".into(), cell_words);
        let different = if differing.is_empty() { "nothing" } else { &differing };
        format!(
            "Step {number} {} {about}, first run: {}, second run: {}, different: {different}",
            row.tool_name,
            cell(&step.before),
            cell(&step.after)
        )
    };
    if controls::folding(ui, &response, unfolded, words) {
        unfolded = !unfolded;
        ui.data_mut(|data| data.insert_temp(id, unfolded));
    }
    widgets::reveal_focused(ui, &response);
    if unfolded {
        unfolded_ui(ui, step, actions);
    }
    widgets::line_below(ui);
}

/// The look of the outcome of a step in one run.
fn cell_look(times: &StepTimes) -> (Icon, &'static str, Tone) {
    match times.listed.changed {
        true => super::results::CHANGED,
        false => known_look(times.listed.row.known),
    }
}

fn cell_words(times: &StepTimes) -> String {
    let (_, word, _) = cell_look(times);
    let worked = times.worked_ms.map(|ms| format!(" in {}", format::duration(ms)));
    format!("{word}{}", worked.unwrap_or_default())
}

/// The outcome and the duration of a step in one run, as icon, word and number.
fn run_cell(ui: &Ui, left_center: egui::Pos2, width: f32, times: Option<&StepTimes>) {
    let theme = Theme::of(ui);
    let Some(times) = times else {
        widgets::paint_parts(ui, left_center, width, &[("–", Text::Mono, theme.dim)]);
        return;
    };
    let (icon, word, tone) = cell_look(times);
    widgets::paint_icon(ui, left_center + vec2(7.0, 0.0), icon, 14.0, theme.tone(tone));
    let worked = times.worked_ms.map(format::duration).unwrap_or_default();
    let parts = [(worked.as_str(), Text::Mono, theme.text), (word, Text::Small, theme.dim)];
    let parts = if worked.is_empty() { &parts[1..] } else { &parts[..] };
    widgets::paint_parts(ui, left_center + vec2(20.0, 0.0), width - 20.0, parts);
}

/// What differs of a step, and the ways to its records.
fn unfolded_ui(ui: &mut Ui, step: &StepComparison, actions: &mut Vec<Action>) {
    egui::Frame::NONE.inner_margin(egui::Margin { left: 34, right: 16, top: 4, bottom: 10 }).show(
        ui,
        |ui| {
            ui.spacing_mut().item_spacing.y = 6.0;
            ui.horizontal_wrapped(|ui| {
                let runs = [("first", &step.before), ("second", &step.after)];
                for (name, times) in runs {
                    let Some(times) = times else { continue };
                    let text = format!("Record of the {name} run");
                    let hint = cell_words(times);
                    let look = Look::Plain;
                    if widgets::tooltip_button(ui, look, icon::DATABASE, &text, &hint) {
                        let id = times.listed.row.execution_id;
                        actions.push(Action::Evidence(EvidenceAction::Open(id)));
                    }
                }
            });
            for (name, times) in [("first", &step.before), ("second", &step.after)] {
                let error =
                    times.as_ref().and_then(|it| super::results::error_line(&it.listed.row));
                if let Some(error) = error {
                    let text = format!("Error of the {name} run: {error}");
                    widgets::paragraph(ui, text, Text::Body, Tone::Plain);
                }
            }
            if !step.arguments.is_empty() {
                widgets::heading(ui, "Arguments");
                lines_ui(ui, &step.arguments);
            }
            if step.outputs.is_empty() && step.pair == StepPair::Same {
                widgets::paragraph(ui, "Both had the same output.", Text::Meta, Tone::Dim);
            }
            for (index, output) in step.outputs.iter().enumerate() {
                difference_ui(ui, ("output", index), &output.change);
            }
        },
    );
}
