//! Answers to questions.

use crate::authorization::{Method, PlanAuthorization};
use crate::plan::Digest;
use crate::run::{Answer, AnsweredBy, Control};
use crate::ui::action::DialogAction;
use crate::ui::plan::Approval;
use crate::ui::theme::Tone;
use crate::worker::Request;

use super::super::purpose::Purpose;
use super::super::{App, Prompt};

impl App {
    pub(super) fn apply_dialog(&mut self, action: DialogAction) {
        match action {
            DialogAction::Answer { run_id, step_index, decision } => {
                let answer = Answer { decision, by: AnsweredBy::Window, note: String::new() };
                let taken = self.worker.answer(run_id, step_index, answer);
                if let Some(session) = self.running_mut().filter(|_| taken) {
                    session.answered = Some(step_index);
                } else {
                    self.notify(Tone::Caution, "The run no longer waits for that answer.", "", "");
                }
            }
            DialogAction::Authorize(digest) => {
                let ttl = self.setup.policy.authorization_ttl_ms;
                self.record(digest, |pending, now| pending.approve(now, ttl));
            }
            DialogAction::Reject { digest, reason } => {
                self.record(digest, |pending, now| pending.reject(now, reason));
            }
            DialogAction::LeaveUndecided => match self.prompt.take() {
                Some(_) => self.close_when_over = false,
                None => {
                    if let Some(session) = self.running_mut() {
                        session.dismissed = true;
                    }
                }
            },
            DialogAction::StopAndClose => {
                self.prompt = None;
                self.close_when_over = true;
                self.control(Control::StopNow);
            }
        }
    }

    /// Has an answer to the shown plan written down; it counts once that is done.
    fn record(
        &mut self,
        digest: Digest,
        decide: impl FnOnce(PlanAuthorization, i64) -> PlanAuthorization,
    ) {
        if !matches!(self.prompt.take(), Some(Prompt::Authorize | Prompt::Reject)) {
            return;
        }
        let now = self.now.ms;
        let Some(session) = &mut self.shown else { return };
        let (Some(plan), Some(review)) = (session.plan.clone(), session.review.clone()) else {
            return;
        };
        if plan.digest != digest || session.not_authorizable().is_some() {
            return;
        }
        let binding = review.binding.clone();
        let pending = PlanAuthorization::pending(&plan, binding, Method::Window, now)
            .continuing(session.continues);
        let authorization = Box::new(decide(pending, now));
        session.approval = Approval::Recording;
        let request = Request::Record { authorization: authorization.clone(), plan };
        self.ask(request, Purpose::Record(authorization));
    }
}
