//! Applies the answers of the person: to the confirmation of a step in a dialog or card, and in the dialogs about a
//! plan, the commands of a workspace, and closing the window.

use super::App;
use super::plan_page::{PlanPage, PlanSession};
use crate::authorization::Method;
use crate::plan::Digest;
use crate::run::{Answer, AnsweredBy, Control, Decision, Secret};
use crate::ui::action::Typed;
use crate::ui::{DialogAction, Tone};
use crate::worker::{Clock as _, PlanDecision, RecordTrust, SystemClock};

impl App {
    /// Applies an answer, unless it no longer fits the current state.
    pub(super) fn apply_dialog(&mut self, action: DialogAction) {
        let shared = &mut self.shared;
        let method = Method::Window;
        let loop_awaits_it = self.plan.shown.as_ref().is_some_and(PlanSession::awaits_decision);
        let is_request = self.plan.shown.as_ref().is_some_and(|it| it.opened.request.is_some());
        match action {
            DialogAction::Authorize(digest) if is_request => self.answer_request(digest, None),
            DialogAction::Reject { digest, reason, .. } if is_request => {
                self.answer_request(digest, Some(reason));
            }
            DialogAction::Answer { decision: Decision::Approve, .. }
                if self.plan.approval_needs_dialog() =>
            {
                self.plan.show_confirmation_dialog(shared);
            }
            DialogAction::Answer { run_id, step_index, decision, reason } => {
                let answer = Answer { decision, by: AnsweredBy::Window, note: reason };
                let accepted = shared.worker.answer(run_id, step_index, answer);
                if let Some(session) = self.plan.running_mut().filter(|_| accepted) {
                    session.confirmation.answered = Some(step_index);
                } else {
                    let summary = "The run no longer waits for that answer.";
                    shared.notify(Tone::Caution, summary, "", "");
                }
            }
            DialogAction::Authorize(digest) if loop_awaits_it => {
                let decision = PlanDecision::Approve { method, note: "in the window".to_owned() };
                self.plan.decide_attempt(digest, decision, shared);
            }
            DialogAction::Reject { digest, reason, replan } if loop_awaits_it => {
                self.plan.decide_attempt(
                    digest,
                    PlanDecision::Reject { method, reason, replan },
                    shared,
                );
            }
            DialogAction::Authorize(digest) => {
                let ttl = shared.setup.policy.authorization_ttl_ms;
                let since_boot = SystemClock::default().since_boot();
                self.plan.record_decision(digest, shared, |pending, now| {
                    pending.approve(now, ttl).with_boot_time(since_boot)
                });
            }
            DialogAction::Reject { digest, reason, .. } => {
                self.plan
                    .record_decision(digest, shared, |pending, now| pending.reject(now, reason));
            }
            DialogAction::AnswerSecret { id, answer } => {
                shared.keep_secrets(self.plan.request(), |asked| asked != id);
                let answer = answer.map(|Typed(bytes)| Secret::new(bytes));
                // A question that was withdrawn has no answer any more.
                shared.worker.answer_secret(id, answer);
            }
            DialogAction::FillIn(given) => {
                shared.prompt = None;
                self.plan.fill_in(given, shared);
            }
            DialogAction::RememberWalls { workspace, grants } => {
                shared.prompt = None;
                PlanPage::decide_walls(workspace, Some(grants), shared);
            }
            DialogAction::MakeRule { key, number, time } => self.make_rule((key, number), time),
            DialogAction::Purge { rule, reason } => self.purge_records(rule, reason),
            DialogAction::Trust { digest, trusted } => self.record_trust(digest, trusted),
            DialogAction::LeaveUndecided => match shared.prompt.take() {
                Some(_) => self.close_when_idle = false,
                // A program waits, so the question stays until it is answered or declined.
                None if !shared.secrets.is_empty() => {}
                None => {
                    if let Some(session) = self.plan.running_mut() {
                        session.confirmation.dialog_closed = true;
                    }
                }
            },
            DialogAction::Export(choice) => self.pick_export_file(choice),
            DialogAction::StopAndClose => {
                shared.prompt = None;
                self.close_when_idle = true;
                self.plan.empty_queue();
                self.agent.stop();
                self.control(Control::StopNow);
            }
        }
    }

    /// Records whether the commands in the open dialog are trusted, and closes the dialog. `digest` is that of the
    /// commands which the person saw.
    fn record_trust(&mut self, digest: Digest, trusted: bool) {
        let Some(prompt) = self.shared.prompt.take() else { return };
        let current = self.commands_to_trust(prompt);
        // The decision is dropped if the commands have changed since they were shown.
        let Some((workspace, shown)) = current.filter(|(_, shown)| shown.digest == digest) else {
            return;
        };
        let (workspace, commands) = (workspace.to_owned(), shown.clone());
        let query = RecordTrust { workspace, commands, trusted };
        self.shared.query_each(query, |app, recorded, _| app.after_trust_decision(recorded));
    }
}
