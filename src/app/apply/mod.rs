//! Turns what a person did into commands for the worker and questions for the desk.

mod command;
mod diagnostics;
mod dialog;
mod evidence;
mod host;
mod looping;
mod plan;
mod trust;
mod window;

#[cfg(test)]
pub(super) use evidence::to_save;

use super::App;
use crate::ui::action::Action;

impl App {
    /// Does what a person asked for.
    pub(super) fn apply(&mut self, action: Action, ctx: &egui::Context) {
        match action {
            Action::Do(command) => self.apply_command(command, ctx),
            Action::Plan(action) => self.apply_plan(action),
            Action::Dialog(action) => self.apply_dialog(action),
            Action::Evidence(action) => self.apply_evidence(action),
            Action::Diagnostics(action) => self.apply_diagnostics(action),
            Action::Loop(action) => self.apply_loop(action),
            Action::Artifact(action) => self.apply_artifact(action),
            Action::Window(action) => self.apply_window(action, ctx),
        }
        self.keep_diagnostics();
    }
}
