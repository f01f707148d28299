//! Applies the answers of a person in dialogs: about a step, a plan, the commands of a workspace, or closing the
//! window.

use super::App;
use super::plan_page::PlanSession;
use crate::authorization::Method;
use crate::plan::Digest;
use crate::run::{Answer, AnsweredBy, Control, Decision};
use crate::ui::action::DialogAction;
use crate::ui::theme::Tone;
use crate::worker::{Clock as _, PlanDecision, RecordTrust, SystemClock};

impl App {
    pub(super) fn apply_dialog(&mut self, action: DialogAction) {
        let shared = &mut self.shared;
        let method = Method::Window;
        let of_loop = self.plan.shown.as_ref().is_some_and(PlanSession::waits);
        match action {
            DialogAction::Answer { decision: Decision::Approve, .. }
                if self.plan.wants_question() =>
            {
                self.plan.ask_in_front(shared);
            }
            DialogAction::Answer { run_id, step_index, decision } => {
                let answer = Answer { decision, by: AnsweredBy::Window, note: String::new() };
                let taken = shared.worker.answer(run_id, step_index, answer);
                if let Some(session) = self.plan.running_mut().filter(|_| taken) {
                    session.waiting.answered = Some(step_index);
                } else {
                    let summary = "The run no longer waits for that answer.";
                    shared.notify(Tone::Caution, summary, "", "");
                }
            }
            DialogAction::Authorize(digest) if of_loop => {
                let answer = PlanDecision::Approve { method, note: "in the window".to_owned() };
                self.plan.answer_attempt(digest, answer, shared);
            }
            DialogAction::Reject { digest, reason } if of_loop => {
                self.plan.answer_attempt(digest, PlanDecision::Reject { method, reason }, shared);
            }
            DialogAction::Authorize(digest) => {
                let ttl = shared.setup.policy.authorization_ttl_ms;
                let since_boot = SystemClock::default().since_boot();
                self.plan.record(digest, shared, |pending, now| {
                    pending.approve(now, ttl).with_boot_time(since_boot)
                });
            }
            DialogAction::Reject { digest, reason } => {
                self.plan.record(digest, shared, |pending, now| pending.reject(now, reason));
            }
            DialogAction::Trust { digest, trusted } => self.trust(digest, trusted),
            DialogAction::LeaveUndecided => match shared.prompt.take() {
                Some(_) => self.close_when_over = false,
                None => {
                    if let Some(session) = self.plan.running_mut() {
                        session.waiting.dismissed = true;
                    }
                }
            },
            DialogAction::StopAndClose => {
                shared.prompt = None;
                self.close_when_over = true;
                self.control(Control::StopNow);
            }
        }
    }

    /// Records whether the shown commands are trusted.
    fn trust(&mut self, digest: Digest, trusted: bool) {
        let Some(prompt) = self.shared.prompt.take() else { return };
        let asked = self.asked_to_trust(prompt);
        // An answer about commands other than those shown now is dropped.
        let Some((workspace, shown)) = asked.filter(|(_, shown)| shown.digest == digest) else {
            return;
        };
        let (workspace, commands) = (workspace.to_owned(), shown.clone());
        let query = RecordTrust { workspace, commands, trusted };
        self.shared.ask_each(query, |app, recorded, _| app.trust_changed(recorded));
    }
}
