//! Tool calls of agents that wait for a person in the window (SPEC §13).
//!
//! The window serves a socket in a folder that only this user can enter. `countersign hook` asks there whether an agent
//! may make a call; the call becomes a proposal in the inbox, and [`AgentCalls`] knows that somebody waits for the
//! decision about it. A call that runs a command becomes a ticket: `countersign exec` brings it back, and the plan is run
//! by the executor thread, like any other that was authorized. Other calls are made by the agent itself.
//!
//! Nothing can be approved through the socket. A connection must come from this user. A lock, which the system takes from
//! a window that ends in whatever way, says which window serves; another one waits for its turn.
//!
//! A connection that ends, on either side, ends its question or its run.
//!
//! The questions of a session with an agent that the window itself has started (`worker/acp`) wait in the same way; there
//! is no connection, but a thread of the window.

mod about;
mod client;
mod desk;
mod output;
mod serve;
mod session;
mod socket;
#[cfg(test)]
mod tests;

pub use about::agent_lives;
pub use client::{AskError, ask_window};
pub use desk::{AgentCalls, CallNews, SessionTally, Settled, WaitingCall};
pub use output::{CallRun, Watched};
pub use serve::asked_by_hook;
pub use session::{AgentSession, SessionNews};
pub use socket::socket_path;
