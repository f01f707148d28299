//! How the buttons of a bar share its width with its text. Pure.
//!
//! The state in words comes first, then the words of the button that leads on. Other buttons become icons, long words
//! short ones, and what is rarely needed goes into a menu.

use super::Bar;
use crate::ui::Command;

/// How a command is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A button with its whole text.
    Whole,
    /// A button with a shorter text.
    Short,
    /// An icon with a tooltip.
    Icon,
    /// An item of the menu.
    InMenu,
}

/// The forms of the commands of a bar, the primary one first if there is one, else the others in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fit(pub(super) Vec<(Command, Form)>);

/// The width of an icon as a button, in points.
pub(super) const ICON: f32 = 24.0;

/// A shorter text of a command.
pub(super) fn short_text(command: Command) -> Option<&'static str> {
    Some(match command {
        Command::AnswerStep => "Answer",
        Command::Authorize => "Authorize…",
        Command::ContinueFromHere => "Continue…",
        Command::CancelAfterStep => "Cancel after step",
        Command::LoopAgain => "Again…",
        _ => return None,
    })
}

impl Fit {
    /// The forms for a bar of this width, of which `text` points are for its text. `width_of` is the width of a command
    /// as a button with its whole or short text, and `spacing` is that between buttons, in points.
    pub(super) fn of(
        bar: &Bar,
        (width, text, spacing): (f32, f32, f32),
        width_of: impl Fn(Command, Form) -> f32,
    ) -> Self {
        let all = bar.primary.iter().chain(&bar.others);
        let mut fit = Self(all.map(|command| (*command, Form::Whole)).collect());
        let fits = |fit: &Self| {
            let button = |(command, form): &(Command, Form)| match form {
                Form::Whole | Form::Short => width_of(*command, *form) + spacing,
                Form::Icon => ICON + spacing,
                Form::InMenu => 0.0,
            };
            let menu = if fit.has_menu() { ICON + spacing } else { 0.0 };
            text + menu + fit.0.iter().map(button).sum::<f32>() <= width
        };
        for (command, form) in fit.steps(bar) {
            if fits(&fit) {
                break;
            }
            fit.set(command, form);
        }
        fit
    }

    /// What becomes smaller, one after the other.
    fn steps(&self, bar: &Bar) -> Vec<(Command, Form)> {
        use Command::*;
        let has = |command: Command| self.0.iter().any(|(it, _)| *it == command);
        let mut steps = Vec::new();
        // Beside the plan that goes on, the plan from the start comes second.
        let leads_on = if has(ContinueFromHere) { ContinueFromHere } else { RunAgain };
        let secondary =
            [GoOnGuided, RollBack, Revert, RevertLoop, Pause, StopNow, RunAgain, Reconcile, Reject];
        steps.extend(secondary.map(|it| (it, Form::Icon)));
        steps.retain(|(it, _)| *it != leads_on || bar.primary.is_some());
        steps.extend(
            self.0.iter().filter_map(|(it, _)| {
                Some((*it, Form::Short)).filter(|_| short_text(*it).is_some())
            }),
        );
        // A menu is as wide as one icon.
        if has(RollBack) && has(Revert) {
            steps.extend([RollBack, Revert].map(|it| (it, Form::InMenu)));
        }
        steps.extend([CancelAfterStep, AnswerStep].map(|it| (it, Form::Icon)));
        steps.retain(|(it, form)| bar.primary != Some(*it) || *form == Form::Short);
        steps
    }

    fn set(&mut self, command: Command, form: Form) {
        for (_, known) in self.0.iter_mut().filter(|(it, _)| *it == command) {
            *known = form;
        }
    }

    /// Whether there is a menu.
    pub(super) fn has_menu(&self) -> bool {
        self.0.iter().any(|(_, form)| *form == Form::InMenu)
    }

    /// The form of a command.
    pub(super) fn form(&self, command: Command) -> Form {
        self.0.iter().find(|(it, _)| *it == command).map_or(Form::Whole, |(_, form)| *form)
    }
}
