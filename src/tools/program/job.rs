//! One process of a step: the program to start, and its outcome.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::relay::{OutputParser, Relay};
use crate::plan::Code;
use crate::process::{Finished, Leftovers, ProcessError, Profile, Program};
use crate::run::StreamEnds;

/// A program of a step to start, with its limits.
#[derive(Debug)]
pub(super) struct Job {
    /// The command line, for a person to read.
    pub(super) command: String,
    /// The name of the program in messages.
    pub(super) display_name: &'static str,
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    /// The canonical path of the working directory, for the evidence.
    pub(super) key: String,
    /// The absolute path of the working directory.
    pub(super) folder: PathBuf,
    /// Variables to set in the environment of the program.
    pub(super) environment: Vec<(&'static str, String)>,
    /// Variables to remove from the environment of the program.
    pub(super) unset: Vec<OsString>,
    pub(super) timeout: Duration,
    pub(super) output_limit: u64,
    /// The code of the error when the program cannot be started.
    pub(super) code: Code,
}

/// The outcome of a job.
pub(super) struct FinishedJob {
    pub(super) job: Job,
    pub(super) process: Finished<StreamEnds>,
}

impl Job {
    /// Runs the job and waits until it ends.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(super) fn run(
        self,
        relay: &Relay<'_>,
        parser: &mut dyn OutputParser,
    ) -> Result<FinishedJob, ProcessError> {
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
        let failed = ProcessError::not_started(self.display_name, self.code);
        let process = relay.run(&program, parser).map_err(failed)?;
        Ok(FinishedJob { job: self, process })
    }
}

impl FinishedJob {
    /// The error if Countersign ended the process or a wall stopped it; otherwise `None`.
    pub(super) fn termination_error(&self) -> Option<ProcessError> {
        self.process.ended(self.job.display_name, self.job.timeout, self.job.output_limit)
    }

    /// The process, as the result of the step lists it.
    pub(super) fn json(&self) -> Value {
        let process = &self.process;
        json!({
            "command": self.job.command,
            "folder": self.job.key,
            "timeout_seconds": self.job.timeout.as_secs(),
            "exit_code": process.exit_code,
            "signal": process.signal,
            "timed_out": process.timed_out(),
            "output_left_open": process.left_open,
            "duration_ms": u64::try_from(process.duration.as_millis()).unwrap_or(u64::MAX),
        })
    }
}
