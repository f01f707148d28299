//! The Agent Client Protocol, version 1 (SPEC §13): the side of the client. An agent is a child process that asks, in
//! lines of JSON-RPC 2.0, whether it may do something, and that sends the files that it wants to have written.
//!
//! Pure. [`Client`] turns lines of the agent into events, and decisions into lines for the agent. `worker/acp` starts the
//! agent, asks the person and writes files.
//!
//! What is only shown is read tolerantly: updates that are not known are ignored, because agents add some with each
//! version. What is acted on is read strictly: a request with a field of another type, with two fields of the same name or
//! for another session is refused. An approval is only given as an option of the kind `allow_once`, and only if there is
//! exactly one: an `allow_always` would let the agent do what nobody has seen.
//!
//! Both sides number their requests from 0, so that only the form of a message says whether its id is one of ours.
//!
//! The types are written by hand, because the crate with the protocol's types accepts malformed fields, and changes the
//! order of JSON objects in the whole program.

mod client;
mod diff;
mod lines;
mod message;
mod permission;
#[cfg(test)]
mod tests;
mod update;

pub use client::{AgentInfo, Client, Event, Fault, StopReason};
pub use lines::Lines;
pub use message::MAX_MESSAGE;
pub use permission::{Choice, FileDiff, Permission, WriteFile};
pub use update::{CallState, PlanEntry, ToolCall, Update};
