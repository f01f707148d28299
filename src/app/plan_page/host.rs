//! Tries to connect to the host of a plan: one notice while it is tried, and one with the result.

use super::PlanPage;
use crate::app::shared::Shared;
use crate::plan::visible;
use crate::run::TargetState;
use crate::ui::theme::Tone;
use crate::worker::CheckTarget;

impl PlanPage {
    /// Tries to connect to the host of the shown plan.
    pub fn try_host(&mut self, shared: &mut Shared) {
        let Some(session) = &self.shown else { return };
        let (Some(plan), Some(review)) = (&session.opened.plan, &session.opened.review) else {
            return;
        };
        let Some(destination) = plan.target.clone() else { return };
        let workspace = review.workspace.clone();
        let summary = visible(&format!("Trying {destination}…")).into_owned();
        let query = CheckTarget { destination: destination.clone(), workspace };
        let asked = shared.ask_latest(query, move |app, state| {
            // After a stop the result is dropped.
            if app.plan.end_trying(&mut app.shared) {
                match state {
                    Ok(state) => tell_host(&destination, &state, &mut app.shared),
                    Err(unanswered) => app.shared.report(unanswered),
                }
            }
        });
        if asked {
            let next = "A host that does not answer is given up after a minute at most. Nothing of the plan is sent.";
            self.trying = Some(shared.notify(Tone::Accent, summary, "", next));
        }
    }

    /// Stops trying to connect.
    pub fn stop_trying(&mut self, shared: &mut Shared) {
        shared.queries.stop_long_queries();
        self.end_trying(shared);
    }

    /// Removes the notice that a connection is being tried. Returns whether there was one.
    fn end_trying(&mut self, shared: &mut Shared) -> bool {
        let notice = self.trying.take();
        if let Some(notice) = notice {
            shared.dismiss(notice);
        }
        notice.is_some()
    }
}

fn tell_host(destination: &str, state: &TargetState, shared: &mut Shared) {
    let summary = visible(&format!("{destination}: {}.", state.title())).into_owned();
    let (tone, details, next) = match state {
        TargetState::Reachable { host } => {
            let details = format!("{}\n{}, {}", host.line(), host.system, host.bash);
            (Tone::Safe, details, "")
        }
        TargetState::UnknownKey { host_key, said } | TargetState::ChangedKey { host_key, said } => {
            let key = host_key.as_deref().unwrap_or("The host showed no key.");
            let next = "Compare the key with the one that the host's owner names.";
            (Tone::Danger, format!("{key}\n{said}"), next)
        }
        TargetState::Refused { said }
        | TargetState::Unreachable { said }
        | TargetState::Unusable { said } => {
            (Tone::Danger, said.clone(), "A run would end before anything is sent.")
        }
    };
    shared.notify(tone, summary, details, next);
}
