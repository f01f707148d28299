//! A bounded loop on the executor thread (SPEC §10): the window shows each plan and asks a person to authorize it.

use std::sync::Arc;

use super::executor_thread::{EventSink, ExecutorThread};
use super::messages::{Event, PlanProposal, Setup};
use super::prompt::Prompt;
use crate::authorization::Method;
use crate::autonomy::{
    AuthorizationRequest, BoundedLoop, LoopDeps, LoopOrder, LoopSetup, PlanAuthorizer,
    PlanDecision, resolve,
};
use crate::engine::SystemClock;
use crate::plan::Code;
use crate::run::Failure;

impl ExecutorThread {
    pub(super) fn run_loop(&self, order: LoopOrder) -> Event {
        let program = match resolve(&order.planner, &order.workspace.folder) {
            Ok(program) => program,
            Err(error) => {
                return Event::LoopFinished(Err(Failure {
                    code: Code::BadValue,
                    message: error.to_owned(),
                    next: "Name another planner.".to_owned(),
                }));
            }
        };
        let Setup { location, policy, .. } = self.setup.clone();
        let setup = LoopSetup { order, program, method: Method::Window, location, policy };
        let parts = LoopDeps {
            clock: Arc::new(SystemClock::default()),
            confirmation: Box::new(self.prompt.clone()),
            progress: Arc::new(self.out.clone()),
            control: self.control.clone(),
            authorizer: Box::new(Window { out: self.out.clone(), prompt: self.prompt.clone() }),
        };
        let outcome = BoundedLoop::run(&setup, parts);
        Event::LoopFinished(outcome.map(Box::new).map_err(|error| error.failure()))
    }
}

/// Asks the person at the window to authorize plans.
struct Window {
    out: EventSink,
    prompt: Prompt,
}

impl PlanAuthorizer for Window {
    fn show(&mut self, asked: &AuthorizationRequest<'_>) {
        self.out.send(Event::Proposed(Box::new(PlanProposal {
            loop_id: asked.loop_id,
            attempt: asked.attempt,
            max_attempts: asked.max_attempts,
            plan: Arc::new(asked.plan.clone().into()),
            review: Arc::new(asked.review.clone()),
        })));
    }

    fn authorize(&mut self, _asked: &AuthorizationRequest<'_>) -> PlanDecision {
        let answer = self.prompt.wait_for_plan();
        self.prompt.close();
        answer
    }
}
