//! The hooks of agents (SPEC §13): what an agent tells its hook about a tool call, what the hook may answer, and what
//! hook, ticket and window tell each other.
//!
//! Pure. `countersign hook` reads the call and prints the answer, the window's thread in `worker/calls` is the other
//! side of the channel.
//!
//! Agents let a call pass if a hook fails: it ends with another code than 2, takes too long, or prints JSON that the
//! agent does not know. So an answer has exactly the fields of the agent's own schema, and whatever is not an
//! authorization is a denial. `ask` is never an answer, because agents take it for a yes in some of their modes.

mod agent;
mod answer;
mod call;
pub mod channel;
pub mod settings;
#[cfg(test)]
mod tests;

pub use agent::Agent;
pub use answer::Answer;
pub use call::{CallError, HookCall, MAX_CALL};
