//! Runs a planner process (SPEC §10): a command of the person, run in the workspace like a `shell` command,
//! or this program itself. It reads one request and prints one answer. This module does not parse the answer.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use crate::authorization::StepWalls;
use crate::plan::{Code, ToolCall, VerifyScope, limits};
use crate::process::{self, Finished, Input, Leftovers, MODEL_KEY, ProcessError, Profile, Program};
use crate::run::{StopSignal, Stream};

use super::{ProgramError, ToolError, Toolbox, command_shell, program};

/// Maximum size of each output of a planner, in bytes: the largest allowed plan and 64 KiB.
const OUTPUT_BYTES: u64 = limits::PLAN_BYTES as u64 + (64 << 10);

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

impl PlannerProgram {
    /// Paths that the planner must be able to read: for a program the folder in its third argument, and for a
    /// command every absolute path of a file that occurs in it.
    pub fn reads(&self) -> Vec<PathBuf> {
        match self {
            Self::Program { arguments, .. } => {
                let folder = arguments.get(2).map(PathBuf::from);
                folder.filter(|folder| folder.is_absolute()).into_iter().collect()
            }
            Self::Command(command) => command
                .split(|it: char| it.is_whitespace() || "'\"`;|&<>()".contains(it))
                .map(PathBuf::from)
                .filter(|path| path.is_absolute() && path.is_file())
                .collect(),
        }
    }
}

impl Toolbox {
    /// Runs a planner in the workspace behind `walls`, with `request` as its standard input. After `timeout`
    /// or at a stop it is killed with all its child processes. `told` receives its standard error while it
    /// runs.
    ///
    /// # Errors
    /// A program that cannot be started.
    pub fn ask_planner(
        &self,
        planner: &PlannerProgram,
        request: &[u8],
        walls: &StepWalls,
        timeout: Duration,
        stop: &StopSignal,
        told: &dyn Fn(&str),
    ) -> Result<Finished, ToolError> {
        let unset = command_shell::unset();
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
            profile: Profile::Planner(self.launcher.behind(walls)),
            program,
            arguments: &arguments,
            input: Some(Input::Bytes(request)),
            folder: self.workspace(),
            environment: &environment,
            unset: &unset,
            // No process may change the workspace after the plan was made from it.
            leftovers: Leftovers::End,
            timeout,
            output_limit: OUTPUT_BYTES,
        };
        let output = |stream, text: &str| {
            if stream == Stream::Stderr {
                told(text);
            }
        };
        let failed = ProcessError::not_started("the planner", Code::CommandFailed);
        Ok(process::run(&program, stop, &output).map_err(failed)?)
    }

    /// Whether the workspace has a command, or a Cargo project, for a verification of this scope.
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

    struct Space {
        folder: tempfile::TempDir,
        toolbox: Toolbox,
        stop: StopSignal,
    }

    fn space() -> Space {
        let folder = tempfile::tempdir().unwrap();
        let toolbox = Toolbox::open(folder.path(), &Policy::default()).unwrap();
        Space { folder, toolbox, stop: StopSignal::default() }
    }

    impl Space {
        fn ask(&self, command: &str, request: &[u8], timeout: Duration) -> (Finished, String) {
            let told = std::cell::RefCell::new(String::new());
            let planner = PlannerProgram::Command(command.to_owned());
            let finished = self
                .toolbox
                .ask_planner(&planner, request, StepWalls::NONE, timeout, &self.stop, &|text| {
                    told.borrow_mut().push_str(text);
                })
                .unwrap();
            (finished, told.into_inner())
        }
    }

    // What it prints to stderr is reported while it runs.
    #[cfg(unix)]
    #[test]
    fn planner_gets_its_request_in_the_workspace() {
        let space = space();
        std::fs::write(space.folder.path().join("a.txt"), "here").unwrap();
        let request = vec![b'x'; 3 << 20];
        let (finished, told) =
            space.ask("cat a.txt; wc -c; echo thinking >&2; exit 3", &request, LONG);
        assert_eq!((finished.cause, finished.exit_code), (None, Some(3)));
        let answer = String::from_utf8(finished.stdout).unwrap();
        assert_eq!(answer.split_whitespace().collect::<Vec<_>>(), ["here3145728"]);
        assert_eq!((told.as_str(), finished.stderr.as_slice()), ("thinking\n", &b"thinking\n"[..]));
        // A planner that does not read its request does not block.
        let (finished, _) = space.ask("echo none", &request, LONG);
        assert_eq!(finished.stdout, b"none\n");
    }

    #[cfg(unix)]
    #[test]
    fn timeout_and_stop_end_the_planner() {
        let space = space();
        let slow = "(sleep 600; echo late > late.txt) & sleep 600";
        let (finished, _) = space.ask(slow, b"", Duration::from_millis(200));
        assert_eq!((finished.cause, finished.exit_code), (Some(Cause::TimedOut), None));
        assert!(finished.duration < LONG);
        space.stop.set();
        let (finished, _) = space.ask(slow, b"", LONG);
        assert_eq!(finished.cause, Some(Cause::Stopped));
        assert!(!space.folder.path().join("late.txt").exists());
    }

    #[cfg(unix)]
    #[test]
    fn planner_output_has_a_limit() {
        let space = space();
        let (finished, _) = space.ask("yes", b"", LONG);
        assert_eq!(finished.cause, Some(Cause::TooMuch(Stream::Stdout)));
        assert_eq!(finished.stdout.len() as u64, OUTPUT_BYTES);
    }
}
