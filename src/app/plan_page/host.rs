//! Tests the connection to the host of a plan. One notice is shown during the attempt, and one with the result.

use super::PlanPage;
use crate::app::shared::Shared;
use crate::plan::visible;
use crate::run::TargetState;
use crate::ui::Tone;
use crate::worker::CheckTarget;

impl PlanPage {
    /// Starts an attempt to connect to the host of the shown plan.
    pub fn try_host(&mut self, shared: &mut Shared) {
        let Some(session) = &self.shown else { return };
        let (Some(plan), Some(review)) = (&session.opened.plan, &session.opened.review) else {
            return;
        };
        let is_fleet = plan.fleet.is_some();
        let Some(destination) = plan.target.clone().filter(|_| !is_fleet) else { return };
        let workspace = review.workspace.clone();
        let summary = visible(&format!("Trying {destination}…")).into_owned();
        let secrets = Some(shared.worker.check_secrets());
        let query = CheckTarget { destination: destination.clone(), workspace, secrets };
        let sent = shared.query_latest(query, move |app, state| {
            // After a stop, the result is dropped.
            if app.plan.dismiss_host_notice(&mut app.shared) {
                match state {
                    Ok(state) => notify_host_state(&destination, &state, &mut app.shared),
                    Err(failed) => app.shared.report(failed),
                }
            }
        });
        if sent {
            let next = "A host that does not answer is given up after a minute at most. Nothing of the plan is sent.";
            self.host_notice = Some(shared.notify(Tone::Accent, summary, "", next));
        }
    }

    /// Stops the attempt to connect.
    pub fn stop_trying(&mut self, shared: &mut Shared) {
        shared.queries.stop_long_queries();
        self.dismiss_host_notice(shared);
    }

    /// Removes the notice about the attempt. Returns false if there was none.
    fn dismiss_host_notice(&mut self, shared: &mut Shared) -> bool {
        let notice = self.host_notice.take();
        if let Some(notice) = notice {
            shared.dismiss(notice);
        }
        notice.is_some()
    }
}

/// Shows a notice with the result of the attempt.
fn notify_host_state(destination: &str, state: &TargetState, shared: &mut Shared) {
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
