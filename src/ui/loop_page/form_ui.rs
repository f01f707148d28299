//! The form that describes a loop.

use egui::{Frame, Id, Label, Margin, Response, ScrollArea, TextEdit, Ui, vec2};

use super::FormView;
use super::class_ui::class_ui;
use super::form::{Field, Form, PlannerChoice};
use super::place_ui::{limits_ui, plans_ui, workspace_ui};
use crate::plan::{VerifyScope, visible_lines};
use crate::ui::action::{Action, FolderFor, LoopAction};
use crate::ui::controls;
use crate::ui::icon::{self, Icon};
use crate::ui::theme::{Text, Theme, Tone};
use crate::ui::widgets::{self, Look};

/// The width of text that is easy to read.
const WIDTH: f32 = 680.0;

pub(super) fn form_ui(ui: &mut Ui, view: &FormView<'_>, actions: &mut Vec<Action>) {
    let form = view.form;
    let mut edited = form.clone();
    ScrollArea::vertical().id_salt("loop form").auto_shrink([false, false]).show(ui, |ui| {
        widgets::scroll_by_key(ui);
        Frame::NONE.inner_margin(Margin { left: 24, right: 24, top: 18, bottom: 24 }).show(ui, |ui| {
            ui.set_max_width(ui.available_width().min(WIDTH));
            ui.spacing_mut().item_spacing.y = 6.0;
            widgets::line(ui, "Work towards a goal", Text::Title, Tone::Plain);
            let text = "A planner proposes a plan, you sign it, it runs and is verified. If that fails, the \
                        planner is told why and asked again, up to the number of attempts below.";
            widgets::paragraph(ui, text, Text::Body, Tone::Dim);
            ui.add_space(8.0);
            goal_ui(ui, &mut edited, view.focus_goal);
            planner_ui(ui, &mut edited, actions);
            limits_ui(ui, view);
            plans_ui(ui, view);
            place_ui(ui, &mut edited, actions);
            workspace_ui(ui, view, actions);
            budget_ui(ui, &mut edited);
            class_ui(ui, &mut edited);
        });
    });
    if edited != *form {
        edited.refusal = None;
        actions.push(Action::Loop(LoopAction::Edit(Box::new(edited))));
    }
}

fn goal_ui(ui: &mut Ui, form: &mut Form, focus: bool) {
    let label = widgets::heading(ui, "Goal");
    let edit = TextEdit::multiline(&mut form.goal)
        .id(Id::unique("loop goal"))
        .desired_rows(3)
        .desired_width(f32::INFINITY)
        .margin(Margin::symmetric(10, 8))
        .hint_text("What the planner should achieve, in your words");
    let response = ui.add(edit).labelled_by(label.id);
    if focus {
        response.request_focus();
    }
    fault_ui(ui, form, Field::Goal);
}

fn planner_ui(ui: &mut Ui, form: &mut Form, actions: &mut Vec<Action>) {
    ui.add_space(6.0);
    widgets::heading(ui, "Planner");
    ui.horizontal_wrapped(|ui| {
        for (choice, icon, name) in [
            (PlannerChoice::CargoFix, icon::CHECK, "cargo-fix"),
            (PlannerChoice::Model, icon::LINK, "openai-compatible"),
            (PlannerChoice::Replay, icon::FILES, "replay"),
            (PlannerChoice::Command, icon::TERMINAL, "a command"),
        ] {
            if choice_ui(ui, icon, name, form.planner == choice) {
                form.planner = choice;
            }
        }
    });
    let about = match form.planner {
        PlannerChoice::CargoFix => "Applies what the compiler itself suggests, and nothing else.",
        PlannerChoice::Model => {
            "Asks a model server with a chat completions interface. The environment or the settings name it."
        }
        PlannerChoice::Replay => "Proposes the plans of a folder, in the order of their names.",
        PlannerChoice::Command => {
            "The command gets a request on its input and prints one plan. The shell of this computer runs it."
        }
    };
    widgets::paragraph(ui, about, Text::Meta, Tone::Dim);
    match form.planner {
        PlannerChoice::Replay => {
            folder_ui(ui, "Folder with the plans", &mut form.folder, FolderFor::Plans, actions);
        }
        PlannerChoice::Command => {
            let edit = TextEdit::singleline(&mut form.command)
                .id(Id::unique("loop command"))
                .font(Text::Mono.font())
                .hint_text("python3 plan.py")
                .margin(Margin::symmetric(10, 6))
                .desired_width(f32::INFINITY);
            ui.add(edit).accessible_name("Planner command");
        }
        PlannerChoice::CargoFix | PlannerChoice::Model => {}
    }
    fault_ui(ui, form, Field::Planner);
}

fn place_ui(ui: &mut Ui, form: &mut Form, actions: &mut Vec<Action>) {
    ui.add_space(6.0);
    widgets::heading(ui, "Workspace");
    folder_ui(ui, "Workspace folder", &mut form.workspace, FolderFor::Workspace, actions);
    fault_ui(ui, form, Field::Workspace);
}

fn budget_ui(ui: &mut Ui, form: &mut Form) {
    ui.add_space(6.0);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 24.0;
        ui.vertical(|ui| {
            ui.set_width(190.0);
            let label = widgets::heading(ui, "Attempts at most");
            number_ui(ui, "loop attempts", &mut form.max_attempts, &label);
            fault_ui(ui, form, Field::Attempts);
        });
        ui.vertical(|ui| {
            ui.set_width(190.0);
            let label = widgets::heading(ui, "Seconds for one answer");
            number_ui(ui, "loop timeout", &mut form.timeout_s, &label);
            fault_ui(ui, form, Field::Timeout);
        });
    });
    ui.add_space(6.0);
    widgets::heading(ui, "Verify after each attempt");
    ui.horizontal_wrapped(|ui| {
        for (scope, icon, name) in [
            (Some(VerifyScope::Local), icon::CHECK, "local"),
            (Some(VerifyScope::Full), icon::SHIELD_CHECK, "full"),
            (None, icon::PROHIBIT, "none"),
        ] {
            if choice_ui(ui, icon, name, form.verify == scope) {
                form.verify = scope;
            }
        }
    });
    let about = match form.verify {
        Some(VerifyScope::Local) => {
            "The quick check, by default cargo check. If a plan verifies this itself, that counts."
        }
        Some(VerifyScope::Full) => {
            "Everything, with tests. If a plan verifies all of this itself, that counts."
        }
        None => "Nothing checks the result. A loop that completes is then marked as not verified.",
    };
    widgets::paragraph(ui, about, Text::Meta, Tone::Dim);
}

/// One of several choices. Returns whether it was chosen now.
pub(super) fn choice_ui(ui: &mut Ui, icon: Icon, name: &str, chosen: bool) -> bool {
    controls::toggle(ui, icon, name, Tone::Accent, chosen).clicked()
}

pub(super) fn number_ui(ui: &mut Ui, id: &str, text: &mut String, label: &Response) {
    let edit = TextEdit::singleline(text)
        .id(Id::unique(id))
        .font(Text::Mono.font())
        .margin(Margin::symmetric(10, 6))
        .desired_width(72.0);
    ui.add(edit).labelled_by(label.id);
}

fn folder_ui(
    ui: &mut Ui,
    name: &str,
    text: &mut String,
    what: FolderFor,
    actions: &mut Vec<Action>,
) {
    ui.horizontal(|ui| {
        let button = controls::button_width(ui, "Choose…", true) + 8.0;
        let width = (ui.available_width() - button).max(80.0);
        let edit = TextEdit::singleline(text)
            .id(Id::unique(name))
            .font(Text::Mono.font())
            .hint_text("/home/ada/src/parser")
            .margin(Margin::symmetric(10, 6))
            .desired_width(width);
        ui.add(edit).accessible_name(name);
        let response = widgets::button(ui, Look::Plain, Some(icon::OPEN), "Choose…", true);
        if response.clicked() {
            actions.push(Action::Loop(LoopAction::PickFolder(what)));
        }
        response.on_hover_text(format!("Choose the {}.", name.to_lowercase()));
    });
}

/// The fault of a field, below the field.
pub(super) fn fault_ui(ui: &mut Ui, form: &Form, field: Field) {
    let Some(fault) = form.shown_fault(field) else { return };
    fault_line(ui, &fault);
}

pub(super) fn fault_line(ui: &mut Ui, fault: &str) {
    let theme = Theme::of(ui);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let (rect, _) = ui.allocate_exact_size(vec2(14.0, 16.0), egui::Sense::hover());
        widgets::paint_icon(ui, rect.center(), icon::WARNING, 14.0, theme.danger);
        ui.add(Label::new(widgets::rich(visible_lines(fault), Text::Meta, theme.danger)).wrap());
    });
}
