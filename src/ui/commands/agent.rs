//! The rows of the commands for sessions with agents.

use egui::{Key, Modifiers};

use super::{Command, Situation, Spec};
use crate::ui::plan::RuleOffer;
use crate::ui::{Page, icon};

fn needs_session(state: &Situation) -> Option<&'static str> {
    (!state.agent_works).then_some("No agent works in this window.")
}

pub(super) const GO: Spec = Spec::new(Command::GoAgent, "Agent", Some(icon::ROBOT))
    .tooltip("Let an agent work for you. Each change that it asks for needs your authorization.")
    .key(Modifiers::COMMAND, Key::Num5);

pub(super) const NEW: Spec = Spec::new(Command::NewAgent, "New session…", Some(icon::ROBOT))
    .tooltip("Name an agent and say what it is to do. Nothing starts yet.")
    .unless(|state| state.agent_works.then_some("An agent works; stop it first."));

pub(super) const START: Spec = Spec::new(Command::StartAgent, "Start the agent", Some(icon::PLAY))
    .tooltip(
        "Start the agent of the form at once. What it asks for still needs your authorization.",
    )
    .key(Modifiers::SHIFT, Key::F6)
    .unless(|state| {
        let no_form = state.page != Page::Agent || !state.agent_form;
        let works = state.agent_works.then_some("An agent works; stop it first.");
        no_form.then_some("Fill in the form of a session first.").or(works).or(state.agent_lacks)
    });

pub(super) const ALLOW: Spec = Spec::new(Command::AllowIdentical, "Allow identical calls…", None)
    .tooltip(
        "Let the next calls that are the same as this one run without asking you, in this session.",
    )
    .unless(|state| match state.rule {
        None => Some("No call is shown for which a rule is offered."),
        Some(RuleOffer::None(why)) => Some(why),
        Some(RuleOffer::Possible) => None,
    });

pub(super) const STOP: Spec = Spec::new(Command::StopAgent, "Stop the agent", Some(icon::STOP))
    .tooltip("Cancel the turn of the agent, and end it with all that it started. What was written stays.")
    .unless(needs_session);
