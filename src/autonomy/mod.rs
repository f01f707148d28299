//! The bounded loop (SPEC §10): plan, authorize, apply, verify, replan, with a maximum number of attempts.
//!
//! The worker's thread and the headless command call it. It uses the executor, which never retries, and reaches tools
//! only by giving the executor an [`ApprovedPlan`](crate::authorization::ApprovedPlan). It has no thread of its own,
//! and keeps nothing from one loop to the next.
//!
//! The executor has no notion of attempts. The transition after an attempt is one pure function,
//! [`crate::run::transition`], whose cells are tests. A planner is a separate process (`tools::PlannerProgram`) that
//! reads and writes bytes, and its plan passes the same parser and review as the plans of people. An authorization
//! class is compared with each plan, and its revocation is checked each time, because another process may have
//! revoked it.
//!
//! The loop's own verification is a run of a plan that the program writes. Its approval names the decision that
//! permits it, so that nothing runs without one. A loop holds a lock as a run does; a loop without an end whose lock
//! is free is *interrupted*. Panics are caught around the attempts: the store is opened again, which releases the open
//! run, and the end is recorded there.

mod agent_session;
mod agents;
mod answer;
mod attempt;
mod attempts;
mod authorizer;
mod bounded;
mod decision;
mod gate;
mod looking;
mod order;
mod planner;
mod request;
mod results;
mod words;

pub use agent_session::WalledAgent;
pub use agents::{agent_names, agent_program};
pub use answer::{Answer, PlannerAnswer, read_answer};
pub use authorizer::{AuthorizationRequest, PlanAuthorizer, PlanDecision};
pub use bounded::BoundedLoop;
pub use order::{LoopDeps, LoopOrder, LoopOutcome, LoopSetup, UnsignedEnd};
#[cfg(test)]
pub(crate) use planner::scripted;
pub use planner::{BUILT_IN, default_timeout, needs_of, planner_limits, resolve};
pub use request::PROTOCOL;
