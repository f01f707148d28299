//! The answers to the question of a dialog, as buttons.

use std::borrow::Cow;

use egui::Ui;

use crate::ui::access::Reason as _;
use crate::ui::controls::button_width;
use crate::ui::{Action, DialogAction, Icon, Look, widgets};

/// Why an answer is disabled to which nothing else is missing.
const SOON: &str = "It counts once the question has been in sight for a moment.";

/// One answer to a question, as a button.
pub(super) struct Answer<'a> {
    pub(super) look: Look,
    pub(super) icon: Option<Icon>,
    pub(super) text: &'a str,
    /// The tooltip: what a safe answer does, or why an approval is disabled.
    pub(super) hint: Cow<'a, str>,
    /// Whether the answer can be given once the delay is over. Otherwise the person must enter or correct something
    /// first.
    pub(super) ready: bool,
    pub(super) action: DialogAction,
}

impl<'a> Answer<'a> {
    /// An answer that permits nothing new to run.
    pub(super) fn safe(
        icon: Option<Icon>,
        text: &'a str,
        hint: &'a str,
        action: DialogAction,
    ) -> Self {
        Self { look: Look::Plain, icon, text, hint: hint.into(), ready: true, action }
    }

    /// Closes the dialog without an answer.
    pub(super) fn leave(text: &'a str) -> Self {
        Self::safe(
            None,
            text,
            "Close this dialog; nothing is decided.",
            DialogAction::LeaveUndecided,
        )
    }

    pub(super) fn approve(icon: Icon, text: &'a str, hint: &'a str, action: DialogAction) -> Self {
        Self { look: Look::Primary, ..Self::safe(Some(icon), text, hint, action) }
    }

    /// The width of the button, in points.
    pub(super) fn width(&self, ui: &Ui) -> f32 {
        button_width(ui, self.text, self.icon.is_some())
    }

    pub(super) fn ui(self, ui: &mut Ui, allowed: bool, actions: &mut Vec<Action>) {
        let enabled = allowed && self.ready;
        let response = widgets::button(ui, self.look, self.icon, self.text, enabled);
        if response.clicked() {
            actions.push(Action::Dialog(self.action));
        }
        // An approval has a tooltip only while its button is disabled.
        match self.look {
            Look::Primary | Look::Danger if self.hint.is_empty() => response.or_why(SOON),
            Look::Primary | Look::Danger => response.or_why(&self.hint),
            Look::Plain | Look::Bare => response.or_why(SOON).on_hover_text(self.hint),
        };
    }
}

/// The answers to a question.
pub(super) struct Answers<'a> {
    /// The safe answers. Tab reaches the first of them first.
    pub(super) safe: Vec<Answer<'a>>,
    /// The answer that has an effect, for example an approval or a rejection.
    pub(super) approve: Option<Answer<'a>>,
}
