//! The content of the bar below a session or its form.

use super::{AgentPhase, AgentView};
use crate::plan::drawable;
use crate::ui::plan::Bar;
use crate::ui::{Command, Situation, Tone, format, icon};

/// Computes the content of the bar.
pub(super) fn bar(view: &AgentView<'_>, situation: &Situation) -> Bar {
    let Some(state) = view.shown else {
        let bar = match view.form.missing() {
            Some(missing) => Bar::new(icon::INFO, Tone::Dim, missing.trim_end_matches('.'), ""),
            None => {
                let detail =
                    "The agent is started at once, behind walls where this computer has them.";
                Bar::new(icon::INFO, Tone::Dim, "Nothing has started", detail)
            }
        };
        return Bar { primary: Some(Command::StartAgent), ..bar };
    };
    let waiting = situation.inbox_waiting;
    match &state.phase {
        AgentPhase::Stopping => {
            let detail = "The turn is cancelled, and then the agent is ended.";
            Bar::new(icon::STOP, Tone::Caution, "Stopping", detail)
        }
        AgentPhase::Starting | AgentPhase::Working if waiting > 0 => {
            let title = match waiting {
                1 => "A plan waits for you".to_owned(),
                count => format!("{} wait for you", format::counted(count, "plan")),
            };
            let detail = "Nothing of it happens before you authorize it.";
            let bar = Bar::new(icon::HAND, Tone::Caution, title, detail);
            Bar { primary: Some(Command::OpenWaiting), others: vec![Command::StopAgent], ..bar }
        }
        AgentPhase::Starting => {
            let bar = Bar::new(icon::CLOCK, Tone::Dim, "Starting the agent", "");
            Bar { others: vec![Command::StopAgent], ..bar }
        }
        AgentPhase::Working => {
            let detail = "What it asks for will wait on the plan page.";
            let bar = Bar::new(icon::RUNNING, Tone::Accent, "The agent works", detail);
            Bar { others: vec![Command::StopAgent], ..bar }
        }
        AgentPhase::Done { how, is_success } => {
            let (icon, tone) = match is_success {
                true => (icon::DONE, Tone::Safe),
                false => (icon::WARNING, Tone::Caution),
            };
            let bar = Bar::new(icon, tone, drawable(how), "");
            Bar { others: vec![Command::NewAgent], ..bar }
        }
        // The page says why.
        AgentPhase::Failed { .. } => {
            let bar = Bar::new(icon::FAILED, Tone::Danger, "The session has failed", "");
            Bar { others: vec![Command::NewAgent], ..bar }
        }
    }
}
