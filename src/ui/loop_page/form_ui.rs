//! Draws the form for a new loop.

use egui::{Id, Label, Margin, Rect, TextEdit, Ui, vec2};

use super::class_ui::class_ui;
use super::{Field, FormView, LoopForm, PlannerChoice};
use crate::plan::{VerifyScope, drawable_lines};
use crate::run::{CommandsReview, LookScope, PlaceReview};
use crate::ui::action::{FolderFor, LoopAction};
use crate::ui::controls::{Choice, choices_ui};
use crate::ui::plan::commands_button;
use crate::ui::{Action, Look, Text, Theme, Tone, controls, icon, scroll, widgets};

/// The maximum width of the form, in points. Longer lines are hard to read.
const WIDTH: f32 = 680.0;
/// The height of a field with its heading, in points.
const FIELD: f32 = 64.0;

pub(super) fn form_ui(ui: &mut Ui, view: &FormView<'_>, actions: &mut Vec<Action>) {
    let form = view.form;
    let mut edited = form.clone();
    let margin = Margin { left: 24, right: 24, top: 18, bottom: 24 };
    scroll::area(ui, "loop form", margin, |ui| {
        ui.set_max_width(ui.available_width().min(WIDTH));
        widgets::line(ui, "New plan from a goal", Text::Title, Tone::Plain);
        let text = "A planner proposes a plan, and you authorize it or say what is wrong with it; it runs and is \
                    verified. If that fails, the planner is told why and asked again, up to the number of attempts \
                    below.";
        widgets::paragraph(ui, text, Text::Body, Tone::Dim);
        ui.add_space(8.0);
        goal_ui(ui, &mut edited, view.focus_goal);
        planner_ui(ui, &mut edited, actions);
        permissions_ui(ui, view);
        looks_ui(ui, &mut edited, view);
        if let Some(fault) = view.place.and_then(|place| place.plans_fault.as_ref()) {
            fault_line(ui, &fault.sentence());
        }
        ui.add_space(6.0);
        widgets::heading(ui, "Workspace");
        folder_ui(ui, "Workspace folder", &mut edited.workspace, FolderFor::Workspace, actions);
        fault_ui(ui, &edited, Field::Workspace);
        workspace_remarks_ui(ui, view, actions);
        if let Some(warning) = view.other_runs {
            widgets::remark(ui, icon::WARNING, Tone::Caution, drawable_lines(warning));
        }
        host_ui(ui, &mut edited);
        budget_ui(ui, &mut edited);
        class_ui(ui, &mut edited);
    });
    if edited != *form {
        edited.refusal = None;
        actions.push(Action::Loop(LoopAction::Edit(Box::new(edited))));
    }
}

fn goal_ui(ui: &mut Ui, form: &mut LoopForm, focus: bool) {
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
        ui.scroll_to_rect(label.rect.union(response.rect), None);
    }
    fault_ui(ui, form, Field::Goal);
}

fn planner_ui(ui: &mut Ui, form: &mut LoopForm, actions: &mut Vec<Action>) {
    ui.add_space(6.0);
    widgets::heading(ui, "Planner");
    let mut planner = form.planner;
    choices_ui(ui, &mut planner, &PLANNERS);
    if planner != form.planner {
        form.choose_planner(planner);
    }
    match form.planner {
        PlannerChoice::Replay => {
            folder_ui(ui, "Folder with the plans", &mut form.folder, FolderFor::Plans, actions);
        }
        PlannerChoice::Command => {
            let id = Id::unique("loop command");
            let edit = widgets::code_field(&mut form.command, id, f32::INFINITY);
            ui.add(edit.hint_text("python3 plan.py")).accessible_name("Planner command");
        }
        _ => {}
    }
    fault_ui(ui, form, Field::Planner);
}

/// What the planner may look at, and where that goes.
fn looks_ui(ui: &mut Ui, form: &mut LoopForm, view: &FormView<'_>) {
    ui.add_space(6.0);
    widgets::heading(ui, "The planner may look at");
    choices_ui(ui, &mut form.looks, &LOOKS);
    let model = view.place.and_then(|place| place.model.as_ref());
    if let Some(model) = model.filter(|_| form.planner == PlannerChoice::Model) {
        let what = match form.looks {
            LookScope::None => "The goal, file names and results go",
            LookScope::Workspace => "The goal, results, and what it looks at go",
        };
        let text = format!("{what} to {}.", drawable_lines(model));
        widgets::remark(ui, icon::LINK, Tone::Accent, text);
    }
}

fn host_ui(ui: &mut Ui, form: &mut LoopForm) {
    ui.add_space(6.0);
    let label = widgets::heading(ui, "Host");
    let edit = widgets::code_field(&mut form.target, Id::unique("loop host"), 320.0);
    ui.add(edit.hint_text("this computer")).labelled_by(label.id);
    let text = "For a goal on another host: a destination of your SSH client whose key is known. The planner is told \
                its system and programs, and its commands run there.";
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    fault_ui(ui, form, Field::Target);
}

fn budget_ui(ui: &mut Ui, form: &mut LoopForm) {
    ui.add_space(6.0);
    numbers_ui(
        ui,
        form,
        [
            (Field::Attempts, "Maximum attempts", |form| &mut form.max_attempts),
            (Field::Timeout, "Seconds per planner answer", |form| &mut form.timeout_s),
        ],
    );
    ui.add_space(6.0);
    widgets::heading(ui, "Verify after each attempt");
    let mut verify = form.verify();
    choices_ui(ui, &mut verify, &SCOPES);
    if verify != form.verify() {
        form.chosen_verify = Some(verify);
    }
    if form.host().is_some() {
        let text = "No check of the workspace can tell what commands change on the host.";
        widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    }
}

const PLANNERS: [Choice<PlannerChoice>; 7] = [
    (
        PlannerChoice::CargoFix,
        icon::WRITE,
        "cargo-fix",
        "Applies what the compiler itself suggests, and nothing else.",
    ),
    (
        PlannerChoice::Model,
        icon::LINK,
        "openai-compatible",
        "Asks a model server with a chat completions interface. The environment or the settings name it.",
    ),
    (
        PlannerChoice::Codex,
        icon::TERMINAL,
        "codex",
        "Your Codex plans in its read-only sandbox, with your login.",
    ),
    (
        PlannerChoice::Claude,
        icon::TERMINAL,
        "claude",
        "Your Claude Code plans in its plan mode, with your login.",
    ),
    (
        PlannerChoice::Gemini,
        icon::TERMINAL,
        "gemini",
        "Your Gemini CLI plans in its plan mode, with your login. It must trust the workspace.",
    ),
    (
        PlannerChoice::Replay,
        icon::FILES,
        "replay",
        "Proposes the plans of a folder, in the order of their names.",
    ),
    (
        PlannerChoice::Command,
        icon::TERMINAL,
        "a command",
        "The command gets a request on its input and prints one plan. The shell of this computer runs it.",
    ),
];

const LOOKS: [Choice<LookScope>; 2] = [
    (
        LookScope::Workspace,
        icon::SEARCH,
        "the workspace",
        "Files, searches and symbols, without secrets, and no sensitive files. Each look is shown and recorded.",
    ),
    (
        LookScope::None,
        icon::PROHIBIT,
        "nothing",
        "The planner gets the names of the files, and what the attempts brought.",
    ),
];

const SCOPES: [Choice<Option<VerifyScope>>; 3] = [
    (
        Some(VerifyScope::Local),
        icon::CLOCK,
        "local",
        "The quick check, by default cargo check. It is left out if the plan itself has passed it.",
    ),
    (
        Some(VerifyScope::Full),
        icon::FILES,
        "full",
        "All checks, with tests. They are left out if the plan itself has passed them.",
    ),
    (
        None,
        icon::PROHIBIT,
        "none",
        "Nothing checks the result. A loop that completes is then marked as not verified.",
    ),
];

/// A number field: its identity, its name, and a function that returns its text in the form.
type NumberField<'a> = (Field, &'a str, fn(&mut LoopForm) -> &mut String);

/// Two number fields next to each other, each with its name and its fault.
pub(super) fn numbers_ui(ui: &mut Ui, form: &mut LoopForm, fields: [NumberField<'_>; 2]) {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 24.0;
        let width = ((ui.available_width() - 24.0) / 2.0).min(190.0);
        for (field, name, text) in fields {
            ui.vertical(|ui| {
                ui.set_width(width);
                let label = widgets::heading(ui, name);
                let edit = widgets::code_field(text(form), Id::unique(name), 72.0);
                ui.add(edit).labelled_by(label.id);
                fault_ui(ui, form, field);
            });
        }
    });
}

fn folder_ui(
    ui: &mut Ui,
    name: &str,
    text: &mut String,
    purpose: FolderFor,
    actions: &mut Vec<Action>,
) {
    ui.horizontal(|ui| {
        let button = controls::button_width(ui, "Choose…", true) + 8.0;
        let width = (ui.available_width() - button).max(80.0);
        let edit = widgets::code_field(text, Id::unique(name), width);
        ui.add(edit.hint_text("for example /home/you/project")).accessible_name(name);
        let response = widgets::button(ui, Look::Plain, Some(icon::OPEN), "Choose…", true);
        if response.clicked() {
            actions.push(Action::Loop(LoopAction::PickFolder(purpose)));
        }
        response.on_hover_text(format!("Choose the {}.", name.to_lowercase()));
    });
}

/// The fault of a field, below the field.
pub(super) fn fault_ui(ui: &mut Ui, form: &LoopForm, field: Field) {
    let Some(fault) = form.shown_fault(field) else { return };
    let line = fault_line(ui, &fault);
    if form.scroll_to == Some(field) {
        // With the field above it.
        ui.scroll_to_rect(line.expand2(vec2(0.0, FIELD)), None);
    }
}

pub(super) fn fault_line(ui: &mut Ui, fault: &str) -> Rect {
    let theme = Theme::of(ui);
    let line = ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        widgets::icon_ui(ui, vec2(14.0, 16.0), icon::WARNING, 14.0, theme.danger);
        ui.add(Label::new(widgets::rich(drawable_lines(fault), Text::Meta, theme.danger)).wrap());
    });
    line.response.rect
}

/// Remarks below the workspace field.
fn workspace_remarks_ui(ui: &mut Ui, view: &FormView<'_>, actions: &mut Vec<Action>) {
    let Some(place) = view.place else { return };
    if let Some(fault) = &place.workspace_fault {
        fault_line(ui, &fault.sentence());
        return;
    }
    let commands = match &place.commands {
        Ok(Some(commands)) => commands,
        Ok(None) => return,
        Err(reason) => {
            let text = format!(
                "The countersign.toml of this workspace cannot be used: {}.",
                drawable_lines(reason)
            );
            widgets::remark(ui, icon::WARNING, Tone::Caution, text);
            return;
        }
    };
    let (tone, text) = commands_remark(view.form, place, commands);
    match tone {
        Tone::Dim => {
            widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
        }
        tone => widgets::remark(ui, icon::WARNING, tone, text),
    }
    if commands_button(ui, commands) {
        actions.push(Action::Loop(LoopAction::ReviewCommands));
    }
}

/// Shows the permissions of the planner, below its field.
fn permissions_ui(ui: &mut Ui, view: &FormView<'_>) {
    let is_current = |place: &&PlaceReview| {
        (&place.place.planner, place.place.looks) == (&view.form.planner_name(), view.form.looks)
    };
    let Some(place) = view.place.filter(is_current) else { return };
    match &place.planner {
        Ok(permissions) if permissions.is_empty() => {}
        Ok(permissions) => {
            let text = format!("The planner's permissions: {}.", drawable_lines(permissions));
            widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
        }
        Err(reason) => {
            widgets::remark(ui, icon::WARNING, Tone::Caution, drawable_lines(reason));
        }
    }
}

/// The remark about the effect of the workspace's commands on a loop.
fn commands_remark(
    form: &LoopForm,
    place: &PlaceReview,
    commands: &CommandsReview,
) -> (Tone, &'static str) {
    let verifies = form.verify().is_some_and(|scope| place.verified_by.contains(&scope));
    match (commands.faults.is_empty(), commands.trusted) {
        (false, _) => (
            Tone::Caution,
            "The countersign.toml of this workspace has errors. Until they are corrected, nothing can be \
             verified here.",
        ),
        (true, true) => {
            (Tone::Dim, "You trust the commands in the countersign.toml of this workspace.")
        }
        (true, false) if verifies => (
            Tone::Caution,
            "The loop would verify with commands that the workspace names, and you do not trust them \
             yet: it would end without having run a plan.",
        ),
        (true, false) => (
            Tone::Caution,
            "The workspace names commands, and you do not trust them yet: a plan that would run them \
             ends the loop.",
        ),
    }
}
