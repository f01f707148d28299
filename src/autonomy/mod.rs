//! The bounded loop (SPEC §10): plan, authorize, apply, verify, replan, at most so many times.
//!
//! It stands above the executor, which itself never retries, and has no way to a tool but an
//! [`ApprovedPlan`](crate::authorization::ApprovedPlan) handed to it. Called by the worker's thread and by
//! the headless command. What comes after an attempt is decided in [`crate::run::transition`]. Absent on
//! purpose: a thread of its own, and any memory between loops.

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
mod verify_choice;

pub use answer::{PlannerAnswer, read_answer};
pub use authorizer::{Authorization, AuthorizationRequest, PlanAuthorizer};
pub use bounded::{BoundedLoop, LoopDeps, LoopOutcome, LoopSetup};
#[cfg(test)]
pub(crate) use planner::scripted;
pub use planner::{BUILT_IN, PLANNER_TIMEOUT, PlannerError, needs_of, planner_limits, resolve};
pub use request::{PROTOCOL, SCHEMA as REQUEST_SCHEMA};
pub use verify_choice::VerifyChoice;
