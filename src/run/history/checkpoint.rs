//! Names of moments to which files can be brought back (SPEC §9).

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// One attempt of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attempt {
    /// The loop.
    pub loop_id: Uuid,
    /// The number of the attempt, from 1.
    pub number: u32,
}

/// The moment just before a run, an execution, an attempt of a loop or the whole loop. As text: `run:ID`,
/// `execution:ID`, `loop:ID:N` or `loop:ID`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckpointName {
    /// Before a run.
    Run(Uuid),
    /// Before one step.
    Execution(Uuid),
    /// Before an attempt of a loop.
    Attempt(Attempt),
    /// Before the first attempt of a loop.
    Loop(Uuid),
}

impl fmt::Display for CheckpointName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(id) => write!(f, "run:{id}"),
            Self::Execution(id) => write!(f, "execution:{id}"),
            Self::Loop(id) => write!(f, "loop:{id}"),
            Self::Attempt(Attempt { loop_id, number }) => write!(f, "loop:{loop_id}:{number}"),
        }
    }
}

/// The error for a text that is not the name of a moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no checkpoint; one is \"run:ID\", \"execution:ID\", \"loop:ID\" or \"loop:ID:N\""
)]
pub struct NoCheckpoint {
    /// The text.
    pub text: String,
}

impl FromStr for CheckpointName {
    type Err = NoCheckpoint;

    fn from_str(text: &str) -> Result<Self, NoCheckpoint> {
        let named = match text.split_once(':') {
            Some(("run", id)) => id.parse().ok().map(Self::Run),
            Some(("execution", id)) => id.parse().ok().map(Self::Execution),
            Some(("loop", rest)) => match rest.split_once(':') {
                None => rest.parse().ok().map(Self::Loop),
                Some((id, number)) => id
                    .parse()
                    .ok()
                    .zip(number.parse().ok())
                    .map(|(loop_id, number)| Self::Attempt(Attempt { loop_id, number })),
            },
            _ => None,
        };
        named.ok_or_else(|| NoCheckpoint { text: text.to_owned() })
    }
}

/// A moment to which the files of a workspace can be brought back, as far as recorded steps changed them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its name.
    pub name: CheckpointName,
    /// The position among all records.
    pub position: i64,
    /// The time of the moment, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// The title of what began then: the name of a plan, or the goal of a loop.
    pub title: String,
}

impl Checkpoint {
    /// Whether this is the moment `name`, or begins an attempt of the loop `name`.
    pub(super) fn begins(&self, name: &CheckpointName) -> bool {
        match (self.name, name) {
            (CheckpointName::Attempt(attempt), CheckpointName::Loop(id)) => attempt.loop_id == *id,
            (own, name) => own == *name,
        }
    }
}
