//! Remarks on the folders in the form: why a folder cannot be used, and whose commands would run there (SPEC
//! §9).

use egui::Ui;

use super::{Form, FormView};
use crate::plan::visible_lines;
use crate::run::{CommandsReview, PlaceReview};
use crate::ui::action::{Action, LoopAction};
use crate::ui::icon;
use crate::ui::plan::commands_button;
use crate::ui::theme::{Text, Tone};
use crate::ui::widgets;

/// Remarks below the workspace field.
pub(super) fn workspace_ui(ui: &mut Ui, view: &FormView<'_>, actions: &mut Vec<Action>) {
    let Some(place) = view.place else { return };
    if let Some(fault) = &place.workspace_fault {
        super::form_ui::fault_line(ui, &fault.sentence());
        return;
    }
    let commands = match &place.commands {
        Ok(Some(commands)) => commands,
        Ok(None) => return,
        Err(why) => {
            let text = format!("Its countersign.toml cannot be used: {}.", visible_lines(why));
            widgets::remark(ui, icon::WARNING, Tone::Caution, text);
            return;
        }
    };
    let (tone, text) = says(view.form, place, commands);
    match tone {
        Tone::Dim => {
            widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
        }
        tone => widgets::remark(ui, icon::WARNING, tone, text),
    }
    if commands_button(ui, commands) {
        actions.push(Action::Loop(LoopAction::LookAtCommands));
    }
}

/// What the planner may do, below its name.
pub(super) fn limits_ui(ui: &mut Ui, view: &FormView<'_>) {
    let Some(place) = view.place.filter(|it| it.place.planner == view.form.planner_name()) else {
        return;
    };
    match &place.planner {
        Ok(limits) if limits.is_empty() => {}
        Ok(limits) => {
            let text = format!("What it may do: {}.", visible_lines(limits));
            widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
        }
        Err(why) => {
            widgets::remark(ui, icon::WARNING, Tone::Caution, visible_lines(why));
        }
    }
}

/// Remarks below the field of the plan folder.
pub(super) fn plans_ui(ui: &mut Ui, view: &FormView<'_>) {
    let fault = view.place.and_then(|place| place.plans_fault.as_ref());
    if let Some(fault) = fault {
        super::form_ui::fault_line(ui, &fault.sentence());
    }
}

/// The effect of the workspace's commands on a loop.
fn says(form: &Form, place: &PlaceReview, commands: &CommandsReview) -> (Tone, &'static str) {
    let verifies = form.verify.is_some_and(|scope| place.verified_by.contains(&scope));
    match (commands.faults.is_empty(), commands.trusted) {
        (false, _) => (
            Tone::Caution,
            "Its countersign.toml has errors. Until they are corrected, nothing can be verified here.",
        ),
        (true, true) => (Tone::Dim, "You trust the commands that its countersign.toml names."),
        (true, false) if verifies => (
            Tone::Caution,
            "The loop would verify with commands that the workspace names, and you do not trust them \
             yet: it would end as not_authorized.",
        ),
        (true, false) => (
            Tone::Caution,
            "The workspace names commands, and you do not trust them yet: a plan that would run them \
             ends the loop as not_authorized.",
        ),
    }
}
