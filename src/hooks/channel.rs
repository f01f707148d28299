//! What hook, ticket and window tell each other over the window's socket: one JSON object on a line, which has the
//! version of the protocol.
//!
//! A client asks once. `Ask` gets one answer. `Exec` gets the output of the run and its end. If either side closes the
//! connection, the question is over, and so is the run.

use std::io::{self, BufRead, Read as _};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::MAX_CALL;

/// The version of the protocol. The two sides may be different versions of the program.
pub const VERSION: u32 = 1;
/// The maximum size of a line, in bytes. A call as JSON in JSON may need more bytes than the call.
pub const MAX_LINE: usize = 3 * MAX_CALL;

/// What a client asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// [`VERSION`].
    pub version: u32,
    /// The question.
    pub ask: Ask,
}

impl Request {
    /// A question in this version.
    pub fn new(ask: Ask) -> Self {
        Self { version: VERSION, ask }
    }
}

/// The question of a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Ask {
    /// Whether an agent may make a call.
    Call {
        /// The word of the agent.
        agent: String,
        /// The agent's id of its session; may be empty.
        session: String,
        /// The folder in which the agent works.
        folder: String,
        /// The name of the tool.
        tool: String,
        /// The arguments of the tool.
        input: Value,
        /// How long the agent waits, in milliseconds.
        timeout_ms: u64,
        /// Whether the call becomes a ticket.
        ticket: bool,
    },
    /// Runs what a ticket stands for.
    Exec {
        /// The ticket.
        ticket: String,
    },
}

/// What the window answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The person has authorized the call, which is run with this ticket.
    Ticket(String),
    /// The person has permitted the call, which the agent makes itself.
    Permitted,
    /// The call is denied, for this reason.
    Denied(String),
    /// Output of the command.
    Stdout(String),
    /// Errors of the command.
    Stderr(String),
    /// This many bytes of output are left out, because the client did not take them.
    LeftOut(u64),
    /// The run is over, or was refused.
    End {
        /// The exit code of `countersign exec`.
        code: u8,
        /// What is said about it; empty if the command has ended by itself.
        message: String,
    },
}

/// A message as a line.
pub fn line(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads one message; `None` at the end of the input.
///
/// # Errors
/// The input cannot be read, a line is too long or not whole, or it is no message.
pub fn read<T: DeserializeOwned>(input: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
    input.by_ref().take(limit).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.pop() != Some(b'\n') {
        let what = "a message is too long, or not whole";
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(Some(serde_json::from_slice(&line)?))
}
