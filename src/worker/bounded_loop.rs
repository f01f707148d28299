//! Runs a bounded loop on the executor thread (SPEC §10). The window shows each plan, and a person authorizes it there.

use std::sync::Arc;

use super::answer_slots::AnswerSlots;
use super::executor_thread::{EventSink, ExecutorThread};
use super::{Event, PlanProposal, Setup};
use crate::authorization::Method;
use crate::autonomy::{
    AuthorizationRequest, BoundedLoop, LoopDeps, LoopOrder, LoopOutcome, LoopSetup, PlanAuthorizer,
    PlanDecision, resolve,
};
use crate::engine::SystemClock;
use crate::plan::Code;
use crate::run::Failure;

impl ExecutorThread {
    /// Runs a loop to its end.
    ///
    /// # Errors
    /// When the planner cannot be used, or the loop is refused before anything is recorded.
    pub(super) fn run_loop(&self, order: LoopOrder) -> Result<LoopOutcome, Failure> {
        let program =
            resolve(&order.planner, &order.workspace.folder).map_err(|error| Failure {
                code: Code::BadValue,
                message: error.to_owned(),
                next: "Name another planner.".to_owned(),
            })?;
        let Setup { location, .. } = self.setup.clone();
        let policy = self.policy();
        let setup = LoopSetup { order, program, method: Method::Window, location, policy };
        let deps = LoopDeps {
            clock: Arc::new(SystemClock::default()),
            confirmation: Box::new(self.answers.clone()),
            progress: Arc::new(self.out.clone()),
            control: self.control.clone(),
            authorizer: Box::new(WindowAuthorizer {
                out: self.out.clone(),
                answers: self.answers.clone(),
            }),
            terminal: Some(self.terminal.clone()),
            secrets: Some(self.secrets()),
            passphrase: Some(self.secrets()),
        };
        BoundedLoop::run(&setup, deps).map_err(|error| error.failure())
    }
}

/// Sends plans to the window and waits for the decisions of the person there.
struct WindowAuthorizer {
    out: EventSink,
    answers: AnswerSlots,
}

impl PlanAuthorizer for WindowAuthorizer {
    fn show(&mut self, request: &AuthorizationRequest<'_>) {
        self.out.send(Event::Proposed(Box::new(PlanProposal {
            loop_id: request.loop_id,
            attempt: request.attempt,
            max_attempts: request.max_attempts,
            plan: Arc::new(request.plan.clone().into()),
            review: Arc::new(request.review.clone()),
        })));
    }

    fn authorize(&mut self, _request: &AuthorizationRequest<'_>) -> PlanDecision {
        let decision = self.answers.wait_for_plan();
        self.answers.close();
        decision
    }

    fn answer(&mut self, _question: &str) -> Option<String> {
        let words = self.answers.wait_for_words();
        self.answers.close();
        words
    }
}
