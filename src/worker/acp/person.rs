//! What a session is about, and what it tells and asks the person.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::proposal::Asked;
use crate::acp::{AgentInfo, StopReason, Update};
use crate::evidence::EvidenceLocation;
use crate::risk::Policy;
use crate::run::{Failure, StopSignal};

/// What an agent is started for.
#[derive(Debug, Clone)]
pub struct Order {
    /// The program of the agent and its arguments.
    pub command: Vec<String>,
    /// What it is asked to do.
    pub prompt: String,
    /// The folder in which it works.
    pub workspace: PathBuf,
    /// The policy from the person's settings.
    pub policy: Policy,
    /// The location of the evidence.
    pub location: EvidenceLocation,
    /// How long the agent may send nothing before it is ended, as [`SILENCE`](super::SILENCE).
    pub silence: Duration,
}

/// What a session tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// The program is being started; what it may do and what enforces this.
    Starting {
        /// The sentence.
        limits: String,
        /// Whether walls keep the agent from changing the workspace by itself.
        is_held: bool,
    },
    /// The agent has said what it is.
    Connected(AgentInfo),
    /// The agent works. Its id of the session.
    Begun(String),
    /// The agent tells something.
    Update(Update),
    /// A request was rejected without a question, because it cannot be approved.
    NotApprovable {
        /// What the agent calls it.
        title: String,
        /// Why, as a clause.
        why: String,
    },
    /// A file that the agent sent was not written.
    Refused {
        /// The file.
        path: String,
        /// Why, as a clause.
        why: String,
        /// Whether the person was asked about it, so that its question says the same.
        asked: bool,
    },
    /// A file was written.
    Written {
        /// The file.
        path: String,
    },
    /// A part of the agent's stderr, or a line of its stdout that is no message.
    Printed(String),
}

/// What a person decides about a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is authorized, which is recorded.
    Approved,
    /// It is rejected.
    Rejected,
    /// It is rejected, and the agent is to end its turn.
    RejectedAndStop,
    /// Nobody has decided, because the session is over.
    Left,
}

/// The person at the other side of a session.
pub trait Person {
    /// Shows what a session tells.
    fn tell(&mut self, news: News);

    /// Lets the person decide about a plan, and records the decision. Blocks; must return once `over` is set, if it can.
    fn ask(&mut self, asked: &Asked, over: &Arc<StopSignal>) -> Verdict;

    /// Runs the plan with this number, which the person has authorized.
    ///
    /// # Errors
    /// Why the file was not written, as a sentence for the agent.
    fn run(&mut self, number: u64) -> Result<(), String>;
}

/// How a session has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEnd {
    /// Why the agent has ended its turn; `None` if it has not.
    pub reason: Option<StopReason>,
    /// What went wrong; `None` if nothing did.
    pub fault: Option<Failure>,
    /// Whether the person has stopped the session.
    pub stopped: bool,
    /// The files that were approved and that the agent has not sent.
    pub unused: Vec<String>,
}
