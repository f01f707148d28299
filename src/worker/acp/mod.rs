//! Sessions with agents of the Agent Client Protocol (SPEC §13).
//!
//! The agent is a child process behind the walls of an agent: it reads the workspace and cannot write it, so that also an
//! agent that asks for nothing changes nothing. Each change that it asks about, or just sends, becomes a plan of one step.
//! A [`Person`] decides about it, at the terminal or in the window, and the executor writes the file: exactly the bytes of
//! the plan, once, and only if the file still is as it was when the plan was authorized. A command of the agent becomes a
//! plan, too, but the agent runs it itself, behind its walls; then the evidence says that it was permitted, and no more.
//!
//! What has no bytes cannot be approved. What the agent says is data, and decides nothing.
//!
//! # Threads
//!
//! [`run`] uses the caller's thread, on which it also asks the person, one question after another. The program of the agent
//! is supervised on a second thread, and a third one writes to it, so that an agent that does not read blocks nobody. What
//! arrives meanwhile waits in a mailbox of limited size.

mod approvals;
mod child;
mod faults;
mod mailbox;
mod person;
mod proposal;
mod requests;
mod session;
mod signals;

pub use crate::acp::{AgentInfo, CallState, Fault, PlanEntry, StopReason, Update};
pub use person::{News, Order, Person, SessionEnd, Verdict};
pub use proposal::{Asked, Subject, name_of};
pub use session::{SILENCE, run};
pub use signals::Signals;
