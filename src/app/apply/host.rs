//! Trying the host of a plan: that it is tried, how it has answered.

use crate::plan::visible;
use crate::run::TargetState;
use crate::ui::theme::Tone;
use crate::worker::CheckTarget;

use super::super::App;

impl App {
    /// Asks how the host of the shown plan answers, and says that this is being found out.
    pub(super) fn try_host(&mut self) {
        let Some(session) = &self.shown else { return };
        let (Some(plan), Some(review)) = (&session.plan, &session.review) else { return };
        let Some(destination) = plan.target.clone() else { return };
        let workspace = review.workspace.clone();
        let summary = visible(&format!("Trying {destination}…")).into_owned();
        let query = CheckTarget { destination: destination.clone(), workspace };
        let asked = self.ask_latest(query, move |app, state| {
            // Stopped meanwhile, nobody waits for the answer.
            if app.tried() {
                match state {
                    Ok(state) => app.tell_host(&destination, &state),
                    Err(unanswered) => app.report(unanswered),
                }
            }
        });
        if !asked {
            return;
        }
        let next = "A host that does not answer is given up after a minute at most. Nothing of the plan is sent.";
        self.trying = Some(self.notify(Tone::Accent, summary, "", next));
    }

    /// Waits no longer for the answer of a host.
    pub(super) fn stop_trying(&mut self) {
        self.queries.stop_long_queries();
        self.tried();
    }

    /// Takes back that a host is being tried; whether somebody still waited for its answer.
    fn tried(&mut self) -> bool {
        let notice = self.trying.take();
        self.notices.retain(|it| Some(it.id) != notice);
        notice.is_some()
    }

    /// Tells how a host has answered.
    fn tell_host(&mut self, destination: &str, state: &TargetState) {
        let summary = visible(&format!("{destination}: {}.", state.title())).into_owned();
        let (tone, details, next) = match state {
            TargetState::Reachable { host } => {
                let details = format!("{}\n{}, {}", host.line(), host.system, host.bash);
                (Tone::Safe, details, "")
            }
            TargetState::UnknownKey { host_key, said }
            | TargetState::ChangedKey { host_key, said } => {
                let key = host_key.as_deref().unwrap_or("It showed no key.");
                let next = "Compare the key with the one that the host's owner names.";
                (Tone::Danger, format!("{key}\n{said}"), next)
            }
            TargetState::Refused { said }
            | TargetState::Unreachable { said }
            | TargetState::Unusable { said } => {
                (Tone::Danger, said.clone(), "A run would end before anything is sent.")
            }
        };
        self.notify(tone, summary, details, next);
    }
}
