//! The page of an agent: the form of a session, and what the agent says while it works.
//!
//! Nothing is authorized here. What the agent asks for is a plan of the inbox, which is shown on the plan page and
//! authorized in the same dialog as any other plan.

mod bar;
mod model;
#[cfg(test)]
mod tests;
mod transcript;

use egui::{Id, Margin, Panel, TextEdit, Ui, UiBuilder};

use super::action::AgentAction;
use super::controls;
use super::notice::{Notice, notices_ui};
use super::plan::bar_ui;
use super::widgets::panel_frame;
use super::{Action, Commands, Look, Text, Tone, icon, scroll, theme, widgets};
use crate::plan::drawable_lines;

pub use model::{AgentEntry, AgentForm, AgentPhase, AgentState, PlanLine, SHOWN_BYTES};

/// The maximum width of the form, in points. Longer lines are hard to read.
const WIDTH: f32 = 680.0;

/// The commands of known agents.
const KNOWN: [(&str, &str); 4] = [
    ("Gemini CLI", "gemini --acp"),
    ("OpenCode", "opencode acp"),
    ("Qwen Code", "qwen --acp"),
    ("Copilot CLI", "copilot --acp"),
];

/// All data of the page.
#[derive(Debug, Clone, Copy)]
pub struct AgentView<'a> {
    /// The form of a session.
    pub form: &'a AgentForm,
    /// The session that was started last; `None` if the form is shown.
    pub shown: Option<&'a AgentState>,
    /// The number of plans in the inbox that wait for the person.
    pub waiting: usize,
    /// Whether to focus the prompt now.
    pub focus_prompt: bool,
}

/// Draws the page.
pub fn agent_page_ui(
    ui: &mut Ui,
    view: &AgentView<'_>,
    notices: &[&Notice],
    commands: &mut Commands<'_>,
) {
    let theme = super::Theme::of(ui);
    let bar = Panel::bottom("agent_bar")
        .exact_size(theme::ACTION_BAR)
        .resizable(false)
        .frame(panel_frame(theme.panel, Margin::symmetric(16, 0)))
        .show(ui, |ui| (ui.max_rect(), ui.clip_rect()))
        .inner;
    notices_ui(ui, notices, commands.actions);
    widgets::main_panel_ui(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        match view.shown {
            None => form_ui(ui, view, commands.actions),
            Some(state) => transcript::transcript_ui(ui, state),
        }
    });
    // The bar is drawn last because Tab follows the drawing order: the person fills in the form before starting.
    let mut area = ui.new_child(UiBuilder::new().id_salt("agent bar").max_rect(bar.0));
    area.set_clip_rect(bar.1);
    bar_ui(&mut area, &bar::bar(view, commands.situation), commands);
}

fn form_ui(ui: &mut Ui, view: &AgentView<'_>, actions: &mut Vec<Action>) {
    let mut edited = view.form.clone();
    let margin = Margin { left: 24, right: 24, top: 18, bottom: 24 };
    scroll::area(ui, "agent form", margin, |ui| {
        ui.set_max_width(ui.available_width().min(WIDTH));
        widgets::line(ui, "Work with an agent", Text::Title, Tone::Plain);
        let text = "Behind its walls, the agent reads the workspace and cannot write it. Each change that it asks for becomes a plan, \
                    which waits for you; what you authorize is written by Countersign, exactly as it was shown.";
        widgets::paragraph(ui, text, Text::Body, Tone::Dim);
        ui.add_space(8.0);
        let label = widgets::heading(ui, "Prompt");
        let edit = TextEdit::multiline(&mut edited.prompt)
            .id(Id::unique("agent prompt"))
            .desired_rows(4)
            .desired_width(f32::INFINITY)
            .margin(Margin::symmetric(10, 8))
            .hint_text("What the agent is to do, in your words");
        let response = ui.add(edit).labelled_by(label.id);
        if view.focus_prompt {
            response.request_focus();
        }
        ui.add_space(6.0);
        let label = widgets::heading(ui, "Command");
        let edit =
            widgets::code_field(&mut edited.command, Id::unique("agent command"), f32::INFINITY);
        ui.add(edit.hint_text("for example: gemini --acp")).labelled_by(label.id);
        ui.horizontal_wrapped(|ui| {
            for (name, command) in KNOWN {
                let is_chosen = edited.command.trim() == command;
                let toggle = controls::toggle(ui, icon::ROBOT, name, Tone::Accent, is_chosen);
                if toggle.on_hover_text(command).clicked() {
                    command.clone_into(&mut edited.command);
                }
            }
        });
        let text = "A program on your PATH that speaks the Agent Client Protocol, and its arguments. No shell reads \
                    them. You must be logged in to it. What it reads may go to the server of its model.";
        widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
        ui.add_space(6.0);
        widgets::heading(ui, "Workspace");
        folder_ui(ui, &mut edited.workspace, actions);
        if let Some(refusal) = &view.form.refusal {
            ui.add_space(6.0);
            widgets::remark(ui, icon::WARNING, Tone::Danger, drawable_lines(refusal));
        }
    });
    if edited != *view.form {
        edited.refusal = None;
        actions.push(Action::Agent(AgentAction::Edit(Box::new(edited))));
    }
}

fn folder_ui(ui: &mut Ui, text: &mut String, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let button = controls::button_width(ui, "Choose…", true) + 8.0;
        let width = (ui.available_width() - button).max(80.0);
        let edit = widgets::code_field(text, Id::unique("agent workspace"), width);
        ui.add(edit.hint_text("for example /home/you/project")).accessible_name("Workspace folder");
        let response = widgets::button(ui, Look::Plain, Some(icon::OPEN), "Choose…", true);
        if response.clicked() {
            actions.push(Action::Agent(AgentAction::PickFolder));
        }
        response.on_hover_text("Choose the workspace folder.");
    });
}
