//! Runs a planner process (SPEC §10): a command of the person, run in the workspace like a `shell` command,
//! or Countersign itself. The planner reads one request and prints one answer. This module does not parse the answer.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{ProgramError, ToolError, Toolbox, command_shell, program};
use crate::authorization::StepWalls;
use crate::plan::{Code, ToolCall, VerifyScope, limits};
use crate::process;
use crate::process::{Finished, Input, Leftovers, MODEL_KEY, ProcessError, Profile, Program};
use crate::run::{StopSignal, Stream};

/// Maximum size of each output of a planner, in bytes: the largest allowed plan and 64 KiB.
const OUTPUT_BYTES: u64 = limits::PLAN_BYTES as u64 + (64 << 10);

/// Longer than any planner may take, which starts the agent and is ended with it.
const NO_TIMEOUT: Duration = Duration::from_secs(2 * 86_400);

/// The program that is started as a planner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlannerProgram {
    /// A command for the local shell.
    Command(String),
    /// A program with its arguments, started without a shell.
    Program {
        /// The absolute path of the program.
        program: PathBuf,
        /// The arguments of the program, passed unchanged.
        arguments: Vec<String>,
        /// Whether the environment variable [`MODEL_KEY`] is set for the program.
        has_key: bool,
    },
}

/// The output of an agent's program that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentOutput {
    /// Why the program failed, as a sentence; `None` when it ended by itself with code 0.
    pub failure: Option<String>,
    /// Its stdout.
    pub stdout: Vec<u8>,
    /// Its stderr.
    pub stderr: Vec<u8>,
}

impl PlannerProgram {
    /// Paths that the planner must be able to read: a program and its third argument, if that is an absolute path; for a
    /// command every file in it that is named by an absolute path, or that is outside of this workspace.
    pub fn readable_paths(&self, workspace: &Path) -> Vec<PathBuf> {
        match self {
            Self::Program { program, arguments, .. } => {
                let folder = arguments.get(2).map(PathBuf::from);
                let folder = folder.filter(|folder| folder.is_absolute());
                folder.into_iter().chain([program.clone()]).collect()
            }
            Self::Command(command) => {
                let workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
                let word = |char: char| char.is_whitespace() || "'\"`;|&<>()".contains(char);
                let words = command.split(word).filter(|word| word.contains('/'));
                let file = |word: &str| match Path::new(word).is_absolute() {
                    true => Some(PathBuf::from(word)),
                    false => {
                        let path = workspace.join(word).canonicalize().ok()?;
                        (!path.starts_with(&workspace)).then_some(path)
                    }
                };
                words.filter_map(file).filter(|path| path.is_file()).collect()
            }
        }
    }
}

impl Toolbox {
    /// Runs a planner in the workspace behind `walls`, with `request` as its stdin. It is ended with all
    /// processes that it started at `timeout`, at a stop, or when an output is too large. `on_stderr` receives its
    /// stderr while it runs.
    ///
    /// # Errors
    /// There is no local shell, or the program cannot be started.
    pub fn run_planner(
        &self,
        planner: &PlannerProgram,
        request: &[u8],
        walls: &StepWalls,
        timeout: Duration,
        stop: &StopSignal,
        on_stderr: &dyn Fn(&str),
    ) -> Result<Finished, ToolError> {
        let removed = command_shell::removed_variables();
        let key = std::env::var(MODEL_KEY).ok();
        let mut environment = Vec::new();
        let (program, arguments): (&OsStr, Vec<&str>) = match planner {
            PlannerProgram::Command(command) => {
                let shell = self.command_shell()?;
                (shell.path.as_os_str(), shell.arguments(command))
            }
            PlannerProgram::Program { program, arguments, has_key } => {
                if *has_key {
                    environment.extend(key.as_deref().map(|key| (MODEL_KEY, key)));
                }
                (program.as_os_str(), arguments.iter().map(String::as_str).collect())
            }
        };
        let program = Program {
            profile: Profile::Planner(self.launcher.walls_for(walls)),
            program,
            arguments: &arguments,
            input: Some(Input::Bytes(request)),
            folder: self.workspace(),
            environment: &environment,
            unset: &removed,
            // No process may change the workspace after the planner has read it.
            leftovers: Leftovers::End,
            timeout,
            output_limit: OUTPUT_BYTES,
        };
        let output = |stream, text: &str| {
            if stream == Stream::Stderr {
                on_stderr(text);
            }
        };
        let failed = ProcessError::not_started("the planner", Code::CommandFailed);
        Ok(process::run(&program, stop, &output).map_err(failed)?)
    }

    /// Runs an agent's own program in the workspace, with `prompt` as its stdin. It gets no walls besides those of this
    /// process, because a bundled planner starts it, which is behind the walls of the planner. `output` receives its output
    /// while it runs. Whoever started the planner ends both.
    ///
    /// # Errors
    /// It is not on `PATH`, or cannot be started.
    pub fn run_agent(
        &self,
        name: &'static str,
        arguments: &[&str],
        prompt: &[u8],
        output: &dyn Fn(Stream, &str),
    ) -> Result<AgentOutput, ToolError> {
        let programs = &self.launcher.programs;
        let path = programs.find(name).ok_or_else(|| ProcessError::Missing {
            program: name,
            place: programs.where_searched(name),
            code: Code::CommandFailed,
        })?;
        let program = Program {
            profile: Profile::Agent(self.launcher.walls_for(StepWalls::NONE)),
            program: path.as_os_str(),
            arguments,
            input: Some(Input::Bytes(prompt)),
            folder: self.workspace(),
            environment: &[],
            unset: &[],
            leftovers: Leftovers::End,
            timeout: NO_TIMEOUT,
            output_limit: OUTPUT_BYTES,
        };
        let failed = ProcessError::not_started(name, Code::CommandFailed);
        let finished = process::run(&program, &StopSignal::default(), output).map_err(failed)?;
        let ended = finished.ended(name, NO_TIMEOUT, OUTPUT_BYTES).map(|error| error.to_string());
        let failed = || finished.failure().map(|failure| format!("{name} {failure}"));
        let failure = ended.or_else(failed);
        Ok(AgentOutput { failure, stdout: finished.stdout, stderr: finished.stderr })
    }

    /// Whether the workspace has a command or a Cargo project for a verification of this scope. True also if the
    /// preview of the verification fails for another reason.
    pub fn can_verify(&self, scope: VerifyScope) -> bool {
        let preview = program::preview(self.now(), &ToolCall::Verify { scope });
        let error = preview.as_ref().err().and_then(ToolError::get);
        !matches!(error, Some(ProgramError::NoCommand { .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Cause;
    use crate::risk::Policy;

    const LONG: Duration = Duration::from_secs(60);

    struct Fixture {
        folder: tempfile::TempDir,
        toolbox: Toolbox,
        stop: StopSignal,
    }

    fn fixture() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let toolbox = Toolbox::open(folder.path(), &Policy::default()).unwrap();
        Fixture { folder, toolbox, stop: StopSignal::default() }
    }

    impl Fixture {
        fn run(&self, command: &str, request: &[u8], timeout: Duration) -> (Finished, String) {
            let stderr = std::cell::RefCell::new(String::new());
            let planner = PlannerProgram::Command(command.to_owned());
            let finished = self
                .toolbox
                .run_planner(&planner, request, StepWalls::NONE, timeout, &self.stop, &|text| {
                    stderr.borrow_mut().push_str(text);
                })
                .unwrap();
            (finished, stderr.into_inner())
        }
    }

    // The stderr of the planner is reported while it runs.
    #[cfg(unix)]
    #[test]
    fn planner_gets_its_request_in_the_workspace() {
        let fixture = fixture();
        std::fs::write(fixture.folder.path().join("a.txt"), "here").unwrap();
        let request = vec![b'x'; 3 << 20];
        let (finished, stderr) =
            fixture.run("cat a.txt; wc -c; echo thinking >&2; exit 3", &request, LONG);
        assert_eq!((finished.cause, finished.exit_code), (None, Some(3)));
        let answer = String::from_utf8(finished.stdout).unwrap();
        assert_eq!(answer.split_whitespace().collect::<Vec<_>>(), ["here3145728"]);
        assert_eq!(
            (stderr.as_str(), finished.stderr.as_slice()),
            ("thinking\n", &b"thinking\n"[..])
        );
        // A planner that does not read its request does not block.
        let (finished, _) = fixture.run("echo none", &request, LONG);
        assert_eq!(finished.stdout, b"none\n");
    }

    #[cfg(unix)]
    #[test]
    fn timeout_and_stop_end_the_planner() {
        let fixture = fixture();
        let slow = "sleep 600 & sleep 600";
        let (finished, _) = fixture.run(slow, b"", Duration::from_millis(200));
        assert_eq!((finished.cause, finished.exit_code), (Some(Cause::TimedOut), None));
        assert!(finished.duration < LONG);
        fixture.stop.set();
        let (finished, _) = fixture.run(slow, b"", LONG);
        assert_eq!(finished.cause, Some(Cause::Stopped));
    }

    #[cfg(unix)]
    #[test]
    fn planner_output_has_a_limit() {
        let fixture = fixture();
        let (finished, _) = fixture.run("yes", b"", LONG);
        assert_eq!(finished.cause, Some(Cause::TooMuch(Stream::Stdout)));
        assert_eq!(finished.stdout.len() as u64, OUTPUT_BYTES);
    }
}
