//! One process of a step: how to start it, and its outcome.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::relay::{Reads, Relay};
use crate::plan::Code;
use crate::process::{Finished, Leftovers, ProcessError, Profile, Program};
use crate::run::StreamEnds;

/// A program of a step to start, with its limits.
#[derive(Debug)]
pub(super) struct Job {
    /// The command line, for people.
    pub(super) command: String,
    /// The name of the program in messages.
    pub(super) called: &'static str,
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    /// The canonical path of the working directory, for the records. `folder` is its absolute path.
    pub(super) key: String,
    pub(super) folder: PathBuf,
    /// Variables to set in its environment.
    pub(super) environment: Vec<(&'static str, String)>,
    /// Variables to remove from its environment.
    pub(super) unset: Vec<OsString>,
    pub(super) timeout: Duration,
    pub(super) output_limit: u64,
    /// The code of the error when the program cannot be started.
    pub(super) code: Code,
}

/// The outcome of a job.
pub(super) struct Ran {
    pub(super) job: Job,
    pub(super) finished: Finished<StreamEnds>,
}

impl Job {
    /// Runs the job and waits until it ends.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub(super) fn run(
        self,
        relay: &Relay<'_>,
        reader: &mut dyn Reads,
    ) -> Result<Ran, ProcessError> {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let environment: Vec<(&str, &str)> =
            self.environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let environment = [environment, relay.toolbox.launcher.environment()].concat();
        let program = Program {
            profile: Profile::Build(relay.behind()),
            program: OsStr::new(&self.program),
            arguments: &arguments,
            input: None,
            folder: Path::new(&self.folder),
            environment: &environment,
            unset: &self.unset,
            leftovers: relay.toolbox.launcher.leftovers(Leftovers::Stay),
            timeout: self.timeout,
            output_limit: self.output_limit,
        };
        let failed = ProcessError::not_started(self.called, self.code);
        let finished = relay.run(&program, reader).map_err(failed)?;
        Ok(Ran { job: self, finished })
    }
}

impl Ran {
    /// The error when the process was killed; `None` when it exited by itself.
    pub(super) fn ended(&self) -> Option<ProcessError> {
        self.finished.ended(self.job.called, self.job.timeout, self.job.output_limit)
    }

    /// The process as the result of the step lists it.
    pub(super) fn record(&self) -> Value {
        let finished = &self.finished;
        json!({
            "command": self.job.command,
            "folder": self.job.key,
            "timeout_seconds": self.job.timeout.as_secs(),
            "exit_code": finished.exit_code,
            "signal": finished.signal,
            "timed_out": finished.timed_out(),
            "output_left_open": finished.left_open,
            "duration_ms": u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
        })
    }
}
