//! Answers to questions.

use std::sync::Arc;

use crate::authorization::{Method, PlanAuthorization};
use crate::plan::Digest;
use crate::run::{Answer, AnsweredBy, Control, Decision};
use crate::ui::action::DialogAction;
use crate::ui::plan::Approval;
use crate::ui::theme::Tone;
use crate::worker::{Clock as _, Request, SystemClock};

use super::super::purpose::Purpose;
use super::super::{App, PlanSession, Prompt};

impl App {
    pub(super) fn apply_dialog(&mut self, action: DialogAction) {
        match action {
            DialogAction::Answer { decision: Decision::Approve, .. } if self.wants_question() => {
                self.ask_in_front();
            }
            DialogAction::Answer { run_id, step_index, decision } => {
                let answer = Answer { decision, by: AnsweredBy::Window, note: String::new() };
                let taken = self.worker.answer(run_id, step_index, answer);
                if let Some(session) = self.running_mut().filter(|_| taken) {
                    session.answered = Some(step_index);
                } else {
                    self.notify(Tone::Caution, "The run no longer waits for that answer.", "", "");
                }
            }
            DialogAction::Authorize(digest) if self.shows_waiting_attempt() => {
                self.answer_attempt(digest, Self::approval_of_attempt());
            }
            DialogAction::Reject { digest, reason } if self.shows_waiting_attempt() => {
                self.answer_attempt(digest, Self::refusal_of_attempt(reason));
            }
            DialogAction::Authorize(digest) => {
                let ttl = self.setup.policy.authorization_ttl_ms;
                let since_boot = SystemClock::default().since_boot();
                self.record(digest, |pending, now| pending.approve(now, ttl).given(since_boot));
            }
            DialogAction::Reject { digest, reason } => {
                self.record(digest, |pending, now| pending.reject(now, reason));
            }
            DialogAction::Trust { digest, trusted } => self.trust(digest, trusted),
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

    /// Whether the step that waits must not run without the question that is not in front now.
    fn wants_question(&self) -> bool {
        let waiting = self.running().filter(|session| session.dismissed);
        waiting.and_then(PlanSession::request).is_some_and(|request| request.required)
    }

    /// Brings the question of the step that waits to the front of everything else.
    pub(super) fn ask_in_front(&mut self) {
        if let Some(session) = self.running_mut() {
            session.dismissed = false;
        }
        self.show_prompt(None);
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
        let Some(plan) = Arc::unwrap_or_clone(plan).complete() else { return };
        let binding = review.binding.clone();
        let pending = PlanAuthorization::pending(&plan, binding, Method::Window, now)
            .continuing(session.continues);
        let authorization = Box::new(decide(pending, now));
        session.approval = Approval::Recording;
        let request =
            Request::Record { authorization: authorization.clone(), plan: Box::new(plan) };
        self.ask(request, Purpose::Record(authorization));
    }
}
