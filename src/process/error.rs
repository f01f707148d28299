//! Why a program could not be run to its end (SPEC §6).

use std::io;
use std::time::Duration;

use crate::plan::Code;
use crate::run::{ErrorInfo, Stream, text};

use super::{Cause, Finished};

/// Why a program could not be run to its end.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum ProcessError {
    #[error("{program} is not {place}")]
    Missing { program: &'static str, place: String, code: Code },
    #[error("cannot start {program}: {source}")]
    NotStarted { program: &'static str, code: Code, source: io::Error },
    #[error("stopped before the end; nothing was changed")]
    Stopped,
    #[error("{program} was still running after {after} and was ended")]
    TimedOut { program: &'static str, after: String },
    #[error("{program} printed more than {limit} bytes to {} and was ended", stream_name(*.stream))]
    TooMuchOutput { program: &'static str, stream: Stream, limit: u64 },
    #[error("{what}")]
    StoppedByWall { what: String },
    #[error("the output of {program} could not be stored, so it was ended")]
    NotKept { program: &'static str },
}

pub(super) fn stream_name(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    }
}

impl ErrorInfo for ProcessError {
    fn code(&self) -> Code {
        match self {
            Self::Missing { code, .. } | Self::NotStarted { code, .. } => *code,
            Self::Stopped => Code::Cancelled,
            Self::TimedOut { .. } => Code::TimedOut,
            Self::TooMuchOutput { .. } => Code::OutputLimit,
            Self::StoppedByWall { .. } => Code::StoppedByWall,
            Self::NotKept { .. } => Code::EvidenceStore,
        }
    }

    fn next(&self) -> String {
        match self {
            Self::Missing { program, .. } => {
                return format!("Install {program}, or add its folder to PATH.");
            }
            Self::NotStarted { .. } => "Check that the program can be run by your user.",
            Self::Stopped => "Run the plan again when you want it to be done.",
            Self::TimedOut { .. } => "Read its last output: it may be waiting for input.",
            Self::TooMuchOutput { .. } => "See in the output which lines repeat.",
            Self::StoppedByWall { .. } => {
                "Authorize the plan again with what the step needs, if the step may have it."
            }
            Self::NotKept { .. } => {
                "See that the evidence folder can be written to and that its disk has space."
            }
        }
        .to_owned()
    }
}

impl ProcessError {
    /// Returns a function that makes the error of a program that could not be started.
    pub(crate) fn not_started(program: &'static str, code: Code) -> impl Fn(io::Error) -> Self {
        move |source| Self::NotStarted { program, code, source }
    }
}

impl Cause {
    /// The error of a program that was ended for this cause. `timeout` and `limit` (in bytes, for each output) are
    /// those with which the program was started.
    pub(crate) fn error(
        self,
        program: &'static str,
        timeout: Duration,
        limit: u64,
    ) -> ProcessError {
        match self {
            Self::Stopped => ProcessError::Stopped,
            Self::TimedOut => ProcessError::TimedOut { program, after: text::duration(timeout) },
            Self::TooMuch(stream) => ProcessError::TooMuchOutput { program, stream, limit },
            Self::NotKept => ProcessError::NotKept { program },
        }
    }
}

impl<K> Finished<K> {
    /// The error when this process ended the program, or a wall stopped it; `None` when the program ended by
    /// itself, even with a failure. `program` is its name in messages; `timeout` and `limit` (in bytes, for each
    /// output) are those with which it was started.
    pub(crate) fn ended(
        &self,
        program: &'static str,
        timeout: Duration,
        limit: u64,
    ) -> Option<ProcessError> {
        match self.cause {
            Some(cause) => Some(cause.error(program, timeout, limit)),
            None => self.stopped_by_wall(),
        }
    }

    /// How the program failed, as the predicate of a sentence; `None` when its exit code is 0.
    pub(crate) fn failure(&self) -> Option<String> {
        match (self.exit_code, self.signal) {
            (Some(0), _) => None,
            (Some(code), _) => Some(format!("ended with exit code {code}")),
            (None, Some(signal)) => Some(format!("was ended by signal {signal}")),
            (None, None) => Some("did not end".to_owned()),
        }
    }

    /// The error for a program that a wall stopped: a protected file has changed, or network access was refused
    /// and the program did not succeed. `None` otherwise.
    fn stopped_by_wall(&self) -> Option<ProcessError> {
        let walls = &self.walls;
        let message = match (walls.changed.first(), self.exit_code) {
            (Some(first), _) => {
                let more = walls.changed.len() - 1;
                let others = if more == 0 { String::new() } else { format!(" and {more} more") };
                format!(
                    "files that no step may write have changed: {}{others}; new ones were renamed to *.refused-…",
                    first.display()
                )
            }
            (None, code) if code != Some(0) && walls.refused > 0 => {
                let times = if walls.refused == 1 { "time" } else { "times" };
                format!("the walls refused the network {} {times}", walls.refused)
            }
            _ => return None,
        };
        Some(ProcessError::StoppedByWall { what: message })
    }
}
