//! The line in a plan's head about the commands that its workspace names, with a button that opens the trust
//! dialog.

use egui::Ui;

use super::PlanView;
use crate::run::CommandsReview;
use crate::ui::action::{Action, PlanAction};
use crate::ui::icon;
use crate::ui::theme::Tone;
use crate::ui::widgets::{self, Look};

pub(super) fn workspace_commands_ui(ui: &mut Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    let commands = view.review.and_then(|review| review.workspace_commands.as_ref());
    let Some(commands) = commands else { return };
    if !commands.trusted {
        let text =
            "The plan would run commands that the workspace names. You do not trust them yet.";
        widgets::remark(ui, icon::WARNING, Tone::Caution, text);
    } else {
        // The button below keeps its identity, so that it keeps the keyboard focus.
        ui.skip_ahead_auto_ids(1);
    }
    if commands_button(ui, commands) {
        actions.push(Action::Plan(PlanAction::LookAtCommands));
    }
}

/// The button that opens the trust dialog for the commands of a workspace; true when it was pressed.
pub(crate) fn commands_button(ui: &mut Ui, commands: &CommandsReview) -> bool {
    let (text, hint) = match commands.trusted {
        true => (
            "Commands of the workspace…",
            "You trust these commands. Look at them, or stop trusting them.",
        ),
        false => ("Look at the commands…", "See them all, and decide whether they may be run."),
    };
    widgets::button(ui, Look::Plain, Some(icon::TERMINAL), text, true).on_hover_text(hint).clicked()
}
