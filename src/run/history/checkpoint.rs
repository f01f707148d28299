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

/// The moment just before a run, an execution or an attempt. As text: `run:ID`, `execution:ID` or `loop:ID:N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckpointName {
    /// Before a run.
    Run(Uuid),
    /// Before one step.
    Execution(Uuid),
    /// Before an attempt of a loop.
    Attempt(Attempt),
}

impl fmt::Display for CheckpointName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(id) => write!(f, "run:{id}"),
            Self::Execution(id) => write!(f, "execution:{id}"),
            Self::Attempt(Attempt { loop_id, number }) => write!(f, "loop:{loop_id}:{number}"),
        }
    }
}

/// The error for a text that is not the name of a moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no checkpoint; one is \"run:ID\", \"execution:ID\" or \"loop:ID:N\"")]
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
            Some(("loop", rest)) => rest.split_once(':').and_then(|(id, number)| {
                let attempt = Attempt { loop_id: id.parse().ok()?, number: number.parse().ok()? };
                Some(Self::Attempt(attempt))
            }),
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
