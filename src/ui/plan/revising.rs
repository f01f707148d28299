//! What a person is changing in the plan on the page (SPEC §13 *Revisions*), and the list of changes below its name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use egui::{Align, Layout, ScrollArea, Ui};

use super::PlanView;
use crate::plan::{RevisedPart, ShownPlan, drawable, one_line};
use crate::run::{DeselectedLines, FileChange};
use crate::ui::access::Reason as _;
use crate::ui::action::{RevisionAction, Tab};
use crate::ui::{
    Action, Command, Commands, Look, PlanAction, Text, Theme, Tone, format, icon, widgets,
};

/// The height of a change in the list, in points.
const ROW: f32 = 32.0;
/// The number of changes that are visible at once.
const VISIBLE: f32 = 6.0;

/// What a person is changing and has not applied.
#[derive(Debug, Clone, Default)]
pub struct Revising {
    /// The argument in the editor.
    pub edit: Option<ArgumentEdit>,
    /// The lines that are being chosen.
    pub lines: Option<LineChoice>,
    /// The marked steps, by their place in the plan.
    pub marked: BTreeSet<usize>,
    /// Whether the list of changes is open.
    pub lists_changes: bool,
    /// Whether a change is being made.
    pub is_applying: bool,
    /// Whether the person was told that closing the plan drops what is not applied.
    pub told: bool,
}

/// An argument in the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentEdit {
    /// The id of its step, by which it is found again.
    pub step_id: String,
    /// The place of the step in the plan; `None` if the plan has no such step any more.
    pub step: Option<usize>,
    /// The name of the argument.
    pub name: String,
    /// The value in the plan; `None` if the argument is new.
    pub original: Option<String>,
    /// The text as the person left it.
    pub text: String,
    /// Whether the person is asked before the text is dropped.
    pub asks: bool,
    /// Whether the editor gets the keyboard focus in the next frame.
    pub wants_focus: bool,
}

/// Lines of what a step changes that are being chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineChoice {
    /// The place of the step in the plan.
    pub step: usize,
    /// The changes of its files, as they are shown.
    pub changes: Vec<FileChange>,
    /// What is not wanted, by file.
    pub deselected: BTreeMap<String, DeselectedLines>,
}

/// What the page shows of a revision.
#[derive(Debug, Clone, Copy, Default)]
pub struct RevisionView<'a> {
    /// Whether the plan is one that could be changed at some time.
    pub is_offered: bool,
    /// Why it cannot be changed now; `None` if it can.
    pub why_not: Option<&'static str>,
    /// What is being changed.
    pub revising: Option<&'a Revising>,
    /// What was changed already.
    pub revised: Option<RevisedView<'a>>,
}

/// A plan that a person has changed.
#[derive(Debug, Clone, Copy)]
pub struct RevisedView<'a> {
    /// The file that was changed.
    pub base: &'a Path,
    /// Every change.
    pub parts: &'a [RevisedPart],
    /// The difference of the two plans as text.
    pub difference: &'a str,
}

impl ArgumentEdit {
    /// Whether the text differs from the value in the plan.
    pub fn is_changed(&self) -> bool {
        self.original.as_ref() != Some(&self.text)
    }
}

impl LineChoice {
    /// Whether some line is not wanted.
    pub fn is_changed(&self) -> bool {
        self.deselected.values().any(|lines| !lines.is_empty())
    }
}

impl Revising {
    /// Why nothing can be decided about the plan before this is applied or dropped; `None` if nothing is open.
    pub fn unfinished(&self) -> Option<&'static str> {
        match (&self.edit, &self.lines) {
            (Some(edit), _) if edit.is_changed() => {
                Some("First apply or drop what you typed for an argument.")
            }
            (_, Some(lines)) if lines.is_changed() => {
                Some("First apply or drop your choice of lines.")
            }
            _ => None,
        }
    }

    /// Finds the step of the editor in a new version of the plan. What belongs to places of the old one ends.
    pub fn follow(&mut self, plan: Option<&ShownPlan>) {
        self.lines = None;
        self.marked.clear();
        if let Some(edit) = &mut self.edit {
            let place =
                |plan: &ShownPlan| plan.steps.iter().position(|step| step.step_id == edit.step_id);
            edit.step = plan.and_then(place);
        }
    }

    /// The steps that a command about steps concerns: the marked ones, otherwise the selected one.
    pub fn concerned(&self, selected: usize) -> BTreeSet<usize> {
        if self.marked.is_empty() { BTreeSet::from([selected]) } else { self.marked.clone() }
    }
}

fn act(actions: &mut Vec<Action>, action: RevisionAction) {
    actions.push(Action::Plan(PlanAction::Revise(action)));
}

/// Shows that the plan is a revision, with its changes; what is in the editor while it is out of sight; and which steps
/// are marked.
pub(super) fn revision_ui(ui: &mut Ui, view: &PlanView<'_>, commands: &mut Commands<'_>) {
    let RevisionView { revising, revised, .. } = view.revision;
    if let Some(revised) = revised {
        let is_open = revising.is_some_and(|it| it.lists_changes);
        ui.horizontal_wrapped(|ui| {
            let count = format::counted(revised.parts.len(), "change");
            let text = format!("Revised by you: {count}");
            let hint = match is_open {
                true => "Hide what you changed.",
                false => "Show what you changed, and undo it.",
            };
            let response = widgets::button(ui, Look::Plain, Some(icon::DIFF), &text, true);
            if response.on_hover_text(hint).clicked() {
                act(commands.actions, RevisionAction::ListChanges(!is_open));
            }
            commands.button(ui, Command::DiscardRevision, Look::Bare, None);
            commands.button(ui, Command::SavePlanAs, Look::Bare, None);
        });
        if is_open {
            ui.scope(|ui| changes_ui(ui, view, &revised, commands.actions));
        }
    }
    let Some(revising) = revising else { return };
    if !revising.marked.is_empty() {
        ui.horizontal_wrapped(|ui| {
            let count = format::counted(revising.marked.len(), "step");
            ui.label(widgets::rich(format!("{count} marked"), Text::Meta, Theme::of(ui).dim));
            commands.button(ui, Command::LeaveOutStep, Look::Plain, None);
            commands.button(ui, Command::MarkStep, Look::Bare, Some("Mark or unmark"));
        });
    }
    unfinished_ui(ui, view, revising, commands.actions);
    unfinished_choice_ui(ui, view, revising, commands.actions);
}

/// Says where the person is choosing lines, unless the page shows it.
fn unfinished_choice_ui(
    ui: &mut Ui,
    view: &PlanView<'_>,
    revising: &Revising,
    actions: &mut Vec<Action>,
) {
    let Some(choice) = revising.lines.as_ref().filter(|choice| choice.is_changed()) else { return };
    if choice.step == view.selected && view.tab == Tab::WillDo {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        let text =
            format!("You have not applied your choice of lines of step {}.", choice.step + 1);
        widgets::remark(ui, icon::WRITE, Tone::Caution, text);
        if widgets::button(ui, Look::Plain, None, "Go on", true).clicked() {
            actions.push(Action::Plan(PlanAction::SelectStep(choice.step)));
            actions.push(Action::Plan(PlanAction::ShowTab(Tab::WillDo)));
        }
        if widgets::button(ui, Look::Bare, None, "Drop", true).clicked() {
            act(actions, RevisionAction::DropLines);
        }
    });
}

/// Every change with its undo.
fn changes_ui(
    ui: &mut Ui,
    view: &PlanView<'_>,
    revised: &RevisedView<'_>,
    actions: &mut Vec<Action>,
) {
    let base = revised.base.display().to_string();
    let text = format!("Made from {}, which stays as it is.", drawable(&base));
    widgets::line(ui, text, Text::Small, Tone::Dim).on_hover_text(base);
    ui.spacing_mut().item_spacing.y = 2.0;
    let rows = (revised.parts.len() as f32).min(VISIBLE);
    let area = ScrollArea::vertical().id_salt("revised").max_height(rows * (ROW + 2.0));
    area.auto_shrink([false, true]).show_rows(ui, ROW, revised.parts.len(), |ui, range| {
        for part in revised.parts.get(range).unwrap_or_default() {
            ui.allocate_ui_with_layout(
                egui::vec2(ui.available_width(), ROW),
                Layout::right_to_left(Align::Center),
                |ui| {
                    let name = format!("Undo: {}", part.sentence());
                    let can = view.revision.why_not.is_none();
                    let undo = widgets::button(ui, Look::Bare, None, "Undo", can);
                    undo.widget_info(|| {
                        egui::WidgetInfo::labeled(egui::Role::Button, can, name.clone())
                    });
                    widgets::reveal_focused(ui, &undo);
                    if undo.or_why(view.revision.why_not.unwrap_or_default()).clicked() {
                        let argument = part.argument().map(str::to_owned);
                        act(actions, RevisionAction::Undo(part.step_index, argument));
                    }
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        let sentence = part.sentence();
                        widgets::line(ui, &sentence, Text::Body, Tone::Plain);
                    });
                },
            );
        }
    });
    let text = widgets::button(ui, Look::Bare, Some(icon::COPY), "Copy the difference", true);
    if text.on_hover_text("Copy the difference of the two files as text.").clicked() {
        ui.ctx().copy_text(revised.difference.to_owned());
    }
}

/// Names the argument in the editor while it is out of sight, so that what was typed is not forgotten.
fn unfinished_ui(ui: &mut Ui, view: &PlanView<'_>, revising: &Revising, actions: &mut Vec<Action>) {
    let Some(edit) = revising.edit.as_ref().filter(|edit| edit.is_changed()) else { return };
    let is_shown = edit.step == Some(view.selected) && view.tab == Tab::Arguments;
    if is_shown {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        let of = format!("{} of {}", one_line(&edit.name), one_line(&edit.step_id));
        let text = match edit.step {
            Some(_) => format!("You have not finished editing {of}."),
            None => format!("You were editing {of}; the plan has no such step any more."),
        };
        widgets::remark(ui, icon::WRITE, Tone::Caution, text);
        if edit.step.is_some() {
            if widgets::button(ui, Look::Plain, None, "Go on", true).clicked() {
                act(actions, RevisionAction::GoOnEditing);
            }
        } else {
            widgets::copy_button(ui, &edit.text, "what you typed");
        }
        if widgets::button(ui, Look::Bare, None, "Drop", true).clicked() {
            act(actions, RevisionAction::DropEdit);
        }
    });
}
