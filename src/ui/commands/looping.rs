//! The rows of the bounded loop.

use egui::{Key, Modifiers};

use super::table::{always, key};
use super::{Command, Spec};
use crate::ui::action::Page;
use crate::ui::icon;

pub(super) const GO: Spec = Spec {
    command: Command::GoLoop,
    text: "Loop",
    tooltip: "Let a planner work towards a goal, attempt by attempt, under your signature.",
    shortcut: key(Modifiers::COMMAND, Key::Num4),
    icon: Some(icon::REPEAT),
    unavailable: always,
};

pub(super) const NEW: Spec = Spec {
    command: Command::NewLoop,
    text: "New loop…",
    tooltip: "Describe a goal and who makes the plans. Nothing starts by that.",
    shortcut: key(Modifiers::COMMAND, Key::L),
    icon: Some(icon::FILE_PLUS),
    unavailable: always,
};

pub(super) const START: Spec = Spec {
    command: Command::StartLoop,
    text: "Start and run the planner",
    tooltip: "Run the planner of the form at once. Its plans still need your signature.",
    shortcut: key(Modifiers::SHIFT, Key::F5),
    icon: Some(icon::PLAY),
    unavailable: |at| {
        if at.page != Page::Loop || !at.loop_form {
            Some("Fill in the form of a new loop first.")
        } else if at.looping {
            Some("A loop is under way.")
        } else {
            at.running.then_some("A run is under way.").or(at.no_place)
        }
    },
};

pub(super) const OPEN_ATTEMPT: Spec = Spec {
    command: Command::OpenAttempt,
    text: "Look at the plan",
    tooltip: "Show the plan of the attempt that waits for you. Nothing is authorized by that.",
    shortcut: key(Modifiers::SHIFT, Key::F8),
    icon: Some(icon::PLAN),
    unavailable: |at| (!at.attempt_waits).then_some("No plan of a loop waits for your signature."),
};

pub(super) const AGAIN: Spec = Spec {
    command: Command::LoopAgain,
    text: "Same goal again…",
    tooltip: "Fill the form with the goal, the planner and the workspace of this loop.",
    shortcut: None,
    icon: Some(icon::REVERT),
    unavailable: |at| (at.page != Page::Loop || at.loop_form).then_some("No loop is shown."),
};
