//! The simulation of a plan: the diff of each file after all steps, and the preview of each step.

use egui::{Frame, Key, Margin, Modifiers, ScrollArea, Sense, Stroke, Ui, pos2, vec2};

use super::{PlanView, changes_ui};
use crate::plan::{ShownPlan, drawable};
use crate::run::{Diff, ExpectedEnd, Failure, FileChange, Predicted, Preview};
use crate::ui::rows::{row_background, row_tooltip};
use crate::ui::tabs::tabs_ui;
use crate::ui::{
    Action, Command, Commands, Icon, Look, PlanAction, Text, Theme, Tone, artifact, controls,
    format, icon, scroll, theme, widgets,
};

/// A requested simulation of a plan.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// The result; `None` while the simulation is in progress.
    pub outcome: Option<Result<Effect, Failure>>,
    /// Whether the plan, its workspace or a file that it uses has changed since.
    pub stale: bool,
    /// Whether the page shows the simulation instead of the steps.
    pub is_shown: bool,
}

/// The result of a simulation.
#[derive(Debug, Clone)]
pub struct Effect {
    /// The preview of each step, given the steps before it.
    pub previews: Vec<Preview>,
    /// The changes of the files from now to the end of the last step.
    pub changes: Vec<FileChange>,
}

/// A tab of the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum SimulationTab {
    #[default]
    Difference,
    Steps,
}

/// The icon, the tone and a sentence about the result of a simulation.
pub fn verdict(plan: &ShownPlan, previews: &[Preview]) -> (Icon, Tone, String) {
    let fails = |(step, preview): (&crate::plan::ShownStep, &Preview)| {
        step.call.is_none() || preview.would_fail()
    };
    if let Some(index) = plan.steps.iter().zip(previews).position(fails) {
        let after = plan.steps.len().saturating_sub(index + 1);
        let preview = previews.get(index);
        let unreached = match after {
            0 => String::new(),
            _ => format!(" {} after it would not be reached.", format::counted(after, "step")),
        };
        let text = match preview.and_then(Preview::why_it_fails) {
            Some(reason) => {
                format!("Step {} would fail: {}{unreached}", index + 1, drawable(reason))
            }
            None => {
                let summary = preview.map_or("", |preview| &preview.summary);
                format!("Step {} would end the run. {}{unreached}", index + 1, drawable(summary))
            }
        };
        return (icon::FAILED, Tone::Danger, text);
    }
    let uncertain = previews.iter().filter(|it| it.predicted != Predicted::Exact).count();
    if uncertain == 0 {
        return (icon::DONE, Tone::Safe, "Every step would succeed.".to_owned());
    }
    let text = format!(
        "No step would fail, but the effect of {} can be predicted only in part.",
        format::counted(uncertain, "step")
    );
    (icon::INFO, Tone::Caution, text)
}

/// The number of changed files, as text, and the numbers of added and removed lines.
fn change_counts(changes: &[FileChange]) -> (String, usize, usize) {
    let lines = changes.iter().map(|change| match change.diff {
        Diff::Text { added, removed, .. } => (added, removed),
        Diff::Unchanged | Diff::Binary { .. } => (0, 0),
    });
    let (added, removed) = lines.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    (format::counted(changes.len(), "file"), added, removed)
}

pub(super) fn simulation_ui(ui: &mut Ui, view: &PlanView<'_>, commands: &mut Commands<'_>) {
    let (Some(plan), Some(simulation)) = (view.plan, view.simulation) else { return };
    let tab_id = egui::Id::unique("side of the simulation");
    let mut tab: SimulationTab = ui.data(|data| data.get_temp(tab_id)).unwrap_or_default();
    Frame::NONE.inner_margin(Margin { left: 18, right: 18, top: 12, bottom: 0 }).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 6.0;
        header_ui(ui, simulation, commands);
        match &simulation.outcome {
            None => {
                let text = "Working out what every step would do. Nothing is run or changed.";
                widgets::remark(ui, icon::CLOCK, Tone::Dim, text);
            }
            Some(Err(failure)) => {
                let text = format!("{} {}", failure.code, failure.message);
                widgets::remark(ui, icon::FAILED, Tone::Danger, text);
                if !failure.next.is_empty() {
                    widgets::remark(ui, icon::INFO, Tone::Dim, &failure.next);
                }
            }
            Some(Ok(Effect { previews, .. })) => {
                let (icon, tone, text) = verdict(plan, previews);
                widgets::remark(ui, icon, tone, text);
                let tabs =
                    [(SimulationTab::Difference, "Difference"), (SimulationTab::Steps, "Steps")];
                if let Some(chosen) = tabs_ui(ui, &tabs, tab) {
                    tab = chosen;
                    ui.data_mut(|data| data.insert_temp(tab_id, tab));
                }
            }
        }
    });
    let Some(Ok(Effect { previews, changes })) = &simulation.outcome else { return };
    widgets::line_below(ui);
    match tab {
        SimulationTab::Difference => difference_ui(ui, changes, commands.actions),
        SimulationTab::Steps => steps_ui(ui, plan, previews, commands.actions),
    }
}

/// Handles Escape, which shows the steps again, unless a text field or a viewer has the focus.
pub(in crate::ui) fn take_keys(ui: &Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    if view.simulation.is_some()
        && !artifact::has_keyboard(ui.ctx())
        && !ui.ctx().text_edit_focused()
        && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape))
    {
        actions.push(Action::Plan(PlanAction::CloseSimulation));
    }
}

/// The header: a title, a button back to the steps, and a warning if the simulation is stale.
fn header_ui(ui: &mut Ui, simulation: &Simulated, commands: &mut Commands<'_>) {
    ui.horizontal(|ui| {
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let back = "Back to the steps";
            if widgets::button(ui, Look::Plain, None, back, true).clicked() {
                commands.actions.push(Action::Plan(PlanAction::CloseSimulation));
            }
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                widgets::line(ui, "All steps together", Text::Strong, Tone::Plain);
            });
        });
    });
    if simulation.stale {
        let text = "The plan, its workspace or a file it uses has changed since this simulation, which \
                    shows the earlier state.";
        widgets::remark(ui, icon::WARNING, Tone::Caution, text);
        let text = Some("Simulate again");
        commands.button(ui, Command::Simulate, Look::Plain, text);
    }
}

fn difference_ui(ui: &mut Ui, changes: &[FileChange], actions: &mut Vec<Action>) {
    if changes.is_empty() {
        let text = "After the last step, every file would be the same as now.";
        let offer = (icon::PLAN, "Show the steps");
        if widgets::empty_state(ui, icon::FILES, ("No difference", text), offer) {
            actions.push(Action::Plan(PlanAction::CloseSimulation));
        }
        return;
    }
    let theme = Theme::of(ui);
    scroll::area(ui, "simulated difference", Margin::ZERO, |ui| {
        let margin = Margin { left: 18, right: 18, top: 10, bottom: 4 };
        Frame::NONE.inner_margin(margin).show(ui, |ui| {
            ui.horizontal(|ui| {
                let (files, added, removed) = change_counts(changes);
                ui.label(widgets::rich(files, Text::Meta, theme.dim));
                let added = format!("+{added}");
                ui.label(widgets::rich(added, Text::SmallMono, theme.safe));
                let removed = format!("−{removed}");
                ui.label(widgets::rich(removed, Text::SmallMono, theme.danger));
            });
        });
        changes_ui(ui, "simulation", changes);
    });
}

fn steps_ui(ui: &mut Ui, plan: &ShownPlan, previews: &[Preview], actions: &mut Vec<Action>) {
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::vertical().id_salt("simulated steps").auto_shrink([false, false]).show_rows(
        ui,
        theme::ROW,
        plan.steps.len(),
        |ui, range| {
            scroll::by_key(ui);
            for index in range {
                let Some((step, preview)) = plan.steps.get(index).zip(previews.get(index)) else {
                    continue;
                };
                let faulty = step.call.is_none();
                if step_ui(ui, index, &step.tool_name, preview, faulty) {
                    actions.push(Action::Plan(PlanAction::SelectStep(index)));
                    actions.push(Action::Plan(PlanAction::CloseSimulation));
                }
            }
        },
    );
}

/// Draws the preview of one step, given the steps before it. Returns whether it was clicked.
fn step_ui(ui: &mut Ui, index: usize, tool: &str, preview: &Preview, faulty: bool) -> bool {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), theme::ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let (icon, tone) = match preview.predicted {
        _ if faulty || preview.would_fail() => (icon::FAILED, Tone::Danger),
        _ if preview.expected == ExpectedEnd::NotReached => (icon::SKIP, Tone::Dim),
        Predicted::Exact => (icon::DONE, Tone::Safe),
        Predicted::Partial | Predicted::Unpredictable => (icon::INFO, Tone::Caution),
    };
    row_background(ui, &response, false);
    let middle = rect.center().y;
    widgets::paint_icon(ui, pos2(rect.left() + 27.0, middle), icon, 18.0, theme.tone(tone));
    let number = (index + 1).to_string();
    let number_right = pos2(rect.left() + 72.0, middle);
    widgets::paint_right(ui, number_right, (&number, Text::Mono, theme.dim));
    let left = rect.left() + 84.0;
    let width = (rect.right() - 18.0 - left).max(0.0);
    let parts = [(tool, Text::Mono, theme.text)];
    widgets::paint_parts(ui, pos2(left, rect.top() + 15.0), width, &parts);
    let color = if tone == Tone::Danger { theme.danger } else { theme.dim };
    let parts = [(preview.summary.as_str(), Text::Small, color)];
    let (_, truncated) = widgets::paint_parts(ui, pos2(left, rect.top() + 32.0), width, &parts);
    let line = Stroke::new(1.0, theme.line);
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, line);
    let name = || format!("Simulated step {number}: {tool}, {}", drawable(&preview.summary));
    let clicked = controls::painted_button(ui, &response, name);
    if truncated {
        row_tooltip(&response, false, drawable(&preview.summary));
    }
    clicked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::tests::{fixture, window};
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    #[test]
    fn verdict_names_the_first_failing_step() {
        let mut plan = fixture::plan();
        let mut previews: Vec<_> =
            (0..plan.steps.len()).map(|index| fixture::preview(&plan, index)).collect();
        let sentence = |plan: &ShownPlan, previews: &[Preview]| verdict(plan, previews).2;
        assert!(sentence(&plan, &previews).contains("predicted only in part"), "one runs cargo");
        previews[3].predicted = Predicted::Exact;
        assert_eq!(sentence(&plan, &previews), "Every step would succeed.");
        previews[2] = Preview::failure("E301 src/lib.rs is a folder", Vec::new());
        let after = plan.steps.len() - 3;
        let text = sentence(&plan, &previews);
        assert!(text.starts_with("Step 3 would fail: E301"), "{text}");
        assert!(text.contains(&format!("{after} steps after it")), "{text}");
        plan.steps[0].call = None;
        assert!(sentence(&plan, &previews).starts_with("Step 1 would end the run."));
    }

    #[test]
    fn simulation_shows_difference_and_selects_steps() {
        let mut harness = window("plan", [1280.0, 800.0]);
        harness.key_press(Key::F9);
        harness.run_ok();
        assert!(harness.state().actions.contains(&Action::Do(Command::Simulate)));
        assert!(harness.query_by_label("All steps together").is_some());
        assert!(harness.query_by_label_contains("+    n.saturating_add(2)").is_some());
        assert!(harness.query_by_label("Will do").is_none(), "the inspector is hidden");
        harness.get_by_label("Side by side").click();
        harness.run_ok();
        let count = harness.query_all_by_label_contains("n.saturating_add(2)").count();
        assert_eq!(count, 1, "only on the right side");
        harness.get_by_label("Steps").click();
        harness.run_ok();
        harness.get_by_label_contains("Simulated step 5: file_create").click();
        harness.run_ok();
        assert!(harness.state().actions.contains(&Action::Plan(PlanAction::SelectStep(4))));
        assert!(harness.query_by_label("Will do").is_some(), "the steps are shown again");
    }

    #[test]
    fn a_long_difference_is_scrolled_by_key() {
        let mut harness = window("simulation", [900.0, 500.0]);
        let is_visible = |harness: &egui_kittest::Harness<'_, _>, text: &str| {
            let rect = harness.query_all_by_label_contains(text).next().map(|node| node.rect());
            rect.is_some_and(|rect| rect.top() > 280.0 && rect.bottom() < 420.0)
        };
        assert!(is_visible(&harness, "Sum of all parts") && !is_visible(&harness, "# Changelog"));
        harness.key_press(Key::End);
        harness.run_ok();
        assert!(!is_visible(&harness, "Sum of all parts"));
        harness.key_press(Key::Home);
        harness.run_ok();
        harness.key_press(Key::PageDown);
        harness.run_ok();
        assert!(!is_visible(&harness, "Sum of all parts"));
        harness.key_press(Key::PageUp);
        harness.run_ok();
        assert!(is_visible(&harness, "Sum of all parts"));
    }

    #[test]
    fn escape_leads_back_to_the_steps() {
        let mut harness = window("simulation", [900.0, 600.0]);
        harness.key_press(Key::Escape);
        harness.run_ok();
        assert!(harness.state().actions.contains(&Action::Plan(PlanAction::CloseSimulation)));
    }

    #[test]
    fn stale_failed_and_empty_simulations_say_so() {
        let harness = window("stale", [900.0, 600.0]);
        assert!(harness.query_by_label_contains("has changed since").is_some());
        assert!(harness.query_by_label("Simulate again").is_some());
        let harness = window("simulation-failed", [900.0, 600.0]);
        assert!(harness.query_by_label_contains("no longer there").is_some());
        let harness = window("simulating", [900.0, 600.0]);
        assert!(harness.query_by_label_contains("Nothing is run or changed").is_some());
        let harness = window("simulation-empty", [900.0, 600.0]);
        assert!(harness.query_by_label("No difference").is_some());
        // A faulty plan can be simulated up to its fault; a recorded plan cannot.
        let harness = window("invalid", [900.0, 600.0]);
        assert!(!harness.get_by_label("Simulate").accesskit_node().is_disabled());
    }
}
