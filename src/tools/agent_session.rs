//! Runs the program of an agent that is talked to while it runs (SPEC §13).

use std::io::PipeReader;
use std::path::PathBuf;
use std::time::Duration;

use super::{ToolError, Toolbox};
use crate::authorization::StepWalls;
use crate::plan::Code;
use crate::process::{
    self, Capture, Input, Leftovers, NOTHING_HIDDEN, ProcessError, ProcessIo, Profile, Program,
    is_executable,
};
use crate::run::{StopSignal, Stream};

/// Longer than a person works with one prompt.
const MAX_SESSION: Duration = Duration::from_secs(2 * 86_400);
/// The maximum size of each output of a session, in bytes. Only a little of it is in memory at a time.
const MAX_OUTPUT: u64 = 4 << 30;

/// The program of an agent and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCommand {
    /// The program, absolute.
    pub program: PathBuf,
    /// The arguments, passed unchanged.
    pub arguments: Vec<String>,
}

/// How an agent's program has ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentEnd {
    /// Why it failed, as the predicate of a sentence or as a sentence; `None` when it ended by itself with code 0, or was
    /// stopped.
    pub failure: Option<String>,
    /// The end of its stderr.
    pub stderr: String,
    /// Whether its stop was requested.
    pub stopped: bool,
}

impl Toolbox {
    /// The command of an agent: a program on `PATH` outside of the workspace, or a path.
    ///
    /// # Errors
    /// It is not there, or is no program.
    pub fn agent_command(&self, words: &[String]) -> Result<AgentCommand, ToolError> {
        let (name, arguments) =
            words.split_first().map_or(("", &[][..]), |(name, rest)| (name, rest));
        let program = if name.contains('/') {
            let path = std::path::absolute(name).ok().filter(|path| is_executable(path));
            path.ok_or_else(|| missing(format!("at {name:?}, or it is no program")))?
        } else {
            let programs = &self.launcher.programs;
            let place = || format!("{} as {name:?}", programs.where_searched(name));
            programs.find(name).ok_or_else(|| missing(place()))?
        };
        Ok(AgentCommand { program, arguments: arguments.to_vec() })
    }

    /// Runs the program of an agent in the workspace behind `walls`, until it ends or `stop` is set; then it is ended with
    /// all processes that it started. It reads what is written into the pipe of `input`. `keep` receives every byte of its
    /// output while it runs; if that returns false, it is ended.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn run_agent_session(
        &self,
        command: &AgentCommand,
        walls: &StepWalls,
        input: &PipeReader,
        stop: &StopSignal,
        keep: &dyn Fn(Stream, &[u8]) -> bool,
    ) -> Result<AgentEnd, ToolError> {
        let arguments: Vec<&str> = command.arguments.iter().map(String::as_str).collect();
        let program = Program {
            profile: Profile::Agent(self.launcher.walls_for(walls)),
            program: command.program.as_os_str(),
            arguments: &arguments,
            input: Some(Input::Pipe(input)),
            folder: self.workspace(),
            environment: &[],
            unset: &[],
            leftovers: Leftovers::End,
            timeout: MAX_SESSION,
            output_limit: MAX_OUTPUT,
        };
        let failed = ProcessError::not_started("the agent", Code::CommandFailed);
        let capture = Kept(keep);
        let (output, hidden) = (&|_: Stream, _: &str| {}, &NOTHING_HIDDEN);
        let io = ProcessIo { stop, output, capture: &capture, hidden };
        let finished = process::stream(&program, io).map_err(failed)?;
        let stopped =
            matches!(finished.cause, Some(process::Cause::Stopped | process::Cause::NotKept));
        let ended = finished.ended("the agent", MAX_SESSION, MAX_OUTPUT);
        let failure = match ended.filter(|_| !stopped) {
            Some(error) => Some(error.to_string()),
            None if stopped => None,
            None => finished.failure().map(|failure| format!("the agent {failure}")),
        };
        let stderr = String::from_utf8_lossy(&finished.stderr.latest()).into_owned();
        Ok(AgentEnd { failure, stderr, stopped })
    }
}

/// Passes output on.
struct Kept<'a>(&'a dyn Fn(Stream, &[u8]) -> bool);

impl Capture for Kept<'_> {
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool {
        (self.0)(stream, bytes)
    }

    fn quiet(&self, _: Duration) {}
}

fn missing(place: String) -> ToolError {
    ProcessError::Missing { program: "the agent", place, code: Code::CommandFailed }.into()
}
