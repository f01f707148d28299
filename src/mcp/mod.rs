//! The Model Context Protocol over newline-delimited JSON-RPC (SPEC §13), without transport and without tools: bytes of
//! messages become bytes of answers, and a [`Toolset`] answers the calls. Pure.
//!
//! Two ways of the protocol are served at once. Up to revision 2025-11-25, a client first sends `initialize`, and both agree
//! on a revision. Since 2026-07-28 there is no such beginning: every request names its revision and its client in `_meta`,
//! and `server/discover` says what the server has. Each message tells which way it goes, so nothing has to be chosen.
//!
//! Written by hand, because this is a small part of the protocol: the official crate would bring an asynchronous runtime
//! with 87 crates. What a message says is data: no message can approve anything, and none ends the server.

mod lines;
mod message;
mod server;
#[cfg(test)]
mod tests;
mod tools;

use serde_json::Value;

pub use lines::{Line, read_line};
pub use server::Server;
pub use tools::Tool;

/// The revisions that begin with `initialize`, oldest first.
pub const HANDSHAKE_REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The revision without `initialize`.
pub const STATELESS_REVISION: &str = "2026-07-28";
/// The maximum size of a message, in bytes: a plan of 16 MiB in which every character is escaped, and 1 MiB.
pub const MAX_MESSAGE: usize = (32 << 20) + (1 << 20);
/// The maximum number of messages in a batch.
pub const MAX_BATCH: usize = 100;

/// Answers the calls of tools.
pub trait Toolset {
    /// The result of a call: an object, or why it failed, for the model.
    ///
    /// # Errors
    /// The arguments are wrong, or the tool cannot do its work; as a sentence.
    fn call(&mut self, tool: Tool, arguments: &Value, client: &str) -> Result<Value, String>;
}
