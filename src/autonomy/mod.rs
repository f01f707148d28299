//! The bounded loop (SPEC §10): plan, authorize, apply, verify, replan, at most so many times.
//!
//! It stands above the executor, which itself never retries, and has no way to a tool but an
//! [`ApprovedPlan`](crate::authorization::ApprovedPlan) handed to it. Called by the worker's thread and by
//! the headless command. What comes after an attempt is decided in [`crate::run::transition`]. Absent on
//! purpose: a thread of its own, and any memory between loops.
//!
//! The executor knows nothing of attempts. The transition after an attempt is one pure function whose cells are
//! tests; the loop only collects what happened. A planner is a process like any other (`tools::PlannerProgram`):
//! bytes in, bytes out, and its plan goes through the parser and review that plans of people go through. A class
//! that a person authorized in advance is compared with each plan again and looked up each time, because another
//! process may have revoked it.
//!
//! The loop's own verification is a run of a plan that the program writes. It has an approval that names the
//! decision under which it stands, so that nothing runs without one. A loop holds a lock as a run does; a loop
//! without an end whose lock is free is *interrupted*. Panics are caught around the attempts: the store is opened
//! again, which releases the open run, and the end is recorded there.

mod answer;
mod attempt;
mod attempts;
mod authorizer;
mod bounded;
mod decision;
mod gate;
mod planner;
mod request;
mod results;

pub use answer::{PlannerAnswer, read_answer};
pub use authorizer::{AuthorizationRequest, PlanAuthorizer, PlanDecision};
pub use bounded::{BoundedLoop, LoopDeps, LoopOrder, LoopOutcome, LoopSetup};
#[cfg(test)]
pub(crate) use planner::scripted;
pub use planner::{BUILT_IN, needs_of, planner_limits, resolve};
pub use request::{PROTOCOL, SCHEMA as REQUEST_SCHEMA};
