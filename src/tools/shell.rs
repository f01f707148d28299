//! `shell` (SPEC §7.2): one command, read by the shell that the risk was judged for.
//!
//! The shell is started by its whole path, without start-up files, and without what would change how it
//! reads a command. It has no input and no terminal. What the command does to files is its own affair:
//! nothing of it is foreseen.

mod remote;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::authorization::StepWalls;
use crate::plan::Code;
use crate::risk::Shell;
use crate::run::{Predicted, Preview, StreamEnds};

use super::place::Last;
use super::process::{self, Cause, Finished, Leftovers, Profile, Program};
use super::{Context, Invocation, Kind, ToolError, Toolbox, words};

/// When a command is ended, unless its plan says otherwise.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Most bytes of each output: 2 GiB.
pub(super) const OUTPUT_BYTES: u64 = 2 << 30;
/// Variables through which a shell would run something else first, or read the command in another way;
/// exported functions, too, which would stand in for the programs that were judged.
const CHANGES_READING: [&str; 6] =
    ["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "BASH_COMPAT", "POSIXLY_CORRECT"];
/// How the variable of an exported function begins.
const FUNCTION: &str = "BASH_FUNC_";

/// A command of a plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Command<'a> {
    pub(super) command: &'a str,
    /// The host on which it runs; none for this machine.
    pub(super) target: Option<&'a str>,
    /// The folder, as the plan names it.
    pub(super) cwd: Option<&'a str>,
    pub(super) timeout_seconds: Option<u32>,
}

impl Command<'_> {
    fn timeout(&self) -> Duration {
        self.timeout_seconds.map_or(TIMEOUT, |seconds| Duration::from_secs(seconds.into()))
    }

    /// The folder on this machine: its canonical name and its path.
    fn folder(&self, toolbox: &Toolbox) -> Result<(String, PathBuf), ToolError> {
        let Some(cwd) = self.cwd else {
            return Ok((".".to_owned(), toolbox.workspace().to_owned()));
        };
        let place = toolbox.roots.resolve(cwd, Last::Follow)?;
        if place.kind != Kind::Folder {
            return Err(ToolError::NoFolder { path: cwd.to_owned(), kind: place.kind });
        }
        let path = place.root.path.join(&place.relative);
        Ok((place.key, path))
    }
}

/// The program that reads commands.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) path: PathBuf,
    shell: Shell,
}

/// The shell of this machine: `bash`, else another `sh`.
fn reader(toolbox: &Toolbox) -> Option<&Reader> {
    let usual = |path: &str| Some(PathBuf::from(path)).filter(|path| path.is_file());
    let find = |name: &str| {
        let named = toolbox.command_available(name);
        named.or_else(|| usual(&format!("/bin/{name}")))
    };
    toolbox.reader.get_or_init(|| choose(find)).as_ref()
}

/// `bash` where it can be found, else another `sh`.
fn choose(find: impl Fn(&str) -> Option<PathBuf>) -> Option<Reader> {
    find("bash")
        .map(|path| Reader { path, shell: Shell::Bash })
        .or_else(|| find("sh").map(|path| Reader { path, shell: Shell::Posix }))
}

/// Which shell reads the commands of this machine. Where there is none, nothing can be relied on.
pub(super) fn kind(toolbox: &Toolbox) -> Shell {
    reader(toolbox).map_or(Shell::Posix, |reader| reader.shell)
}

impl Reader {
    pub(super) fn here(toolbox: &Toolbox) -> Result<&Self, ToolError> {
        reader(toolbox).ok_or_else(|| ToolError::ProgramMissing {
            program: "bash",
            place: toolbox.nowhere("bash"),
            code: Code::CommandFailed,
        })
    }

    /// Its arguments; the last is read as a command even where it begins with a dash.
    pub(super) fn arguments<'a>(&self, command: &'a str) -> Vec<&'a str> {
        match self.shell {
            Shell::Bash => vec!["--noprofile", "--norc", "-c", "--", command],
            Shell::Posix => vec!["-c", "--", command],
        }
    }
}

/// The variables of this process's environment that the shell must not see.
pub(super) fn unset() -> Vec<OsString> {
    std::env::vars_os()
        .map(|(name, _)| name)
        .filter(|name| {
            CHANGES_READING.iter().any(|changes| name == changes)
                || name.as_encoded_bytes().starts_with(FUNCTION.as_bytes())
        })
        .collect()
}

/// Runs it.
pub(super) fn invoke(
    toolbox: &Toolbox,
    command: &Command<'_>,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    if context.stop.is_set() {
        return Err(ToolError::Cancelled);
    }
    if let Some(target) = command.target {
        return remote::invoke(toolbox, target, command, context);
    }
    let (key, folder) = command.folder(toolbox)?;
    let reader = Reader::here(toolbox)?;
    let profile = Profile::Step(toolbox.behind(context));
    read_by(reader, command, (&key, &folder), OUTPUT_BYTES, profile, context)
}

/// Runs it in a folder, which has a name and a path, until one of its outputs has more bytes than this.
fn read_by(
    reader: &Reader,
    command: &Command<'_>,
    (key, folder): (&str, &Path),
    limit: u64,
    profile: Profile<'_>,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    let left_out = process::left_out(profile);
    let finished = run(reader, command, folder, limit, profile, context)?;
    let mut result = result(command, reader, key, &finished);
    if let (Value::Object(fields), false) = (&mut result, left_out.is_empty()) {
        let names = left_out.iter().map(|folder| folder.to_string_lossy().into_owned());
        fields.insert("not_in_path".to_owned(), names.collect::<Vec<_>>().into());
    }
    Ok(Invocation {
        exit_code: finished.exit_code,
        result,
        error: error(command, &finished, limit),
        walls: finished.walls.clone(),
        captured: Some([finished.stdout, finished.stderr]),
        ..Invocation::default()
    })
}

fn run(
    reader: &Reader,
    command: &Command<'_>,
    folder: &Path,
    output_limit: u64,
    profile: Profile<'_>,
    context: &Context<'_>,
) -> Result<Finished<StreamEnds>, ToolError> {
    let program = Program {
        profile,
        program: OsStr::new(&reader.path),
        arguments: &reader.arguments(command.command),
        input: None,
        folder,
        environment: &[],
        unset: &unset(),
        // As in a terminal: what a command leaves running on purpose stays.
        leftovers: Leftovers::Stay,
        timeout: command.timeout(),
        output_limit,
    };
    process::stream(&program, context).map_err(|source| ToolError::NotStarted {
        program: "the shell",
        code: Code::CommandFailed,
        source,
    })
}

/// Why it failed; none when it exited with 0 in time.
fn error(command: &Command<'_>, finished: &Finished<StreamEnds>, limit: u64) -> Option<ToolError> {
    let program = "the command";
    let by_wall = finished.stopped_by_wall();
    match (finished.cause, finished.exit_code, finished.signal) {
        (Cause::Stopped, ..) => Some(ToolError::Cancelled),
        (Cause::TimedOut, ..) => {
            Some(ToolError::TimedOut { program, after: words::duration(command.timeout()) })
        }
        (Cause::TooMuch(stream), ..) => Some(ToolError::TooMuchOutput { program, stream, limit }),
        (Cause::NotKept, ..) => Some(ToolError::NotKept { program }),
        (Cause::Itself, ..) if by_wall.is_some() => by_wall,
        (Cause::Itself, Some(0), _) => None,
        (Cause::Itself, Some(code), _) => {
            Some(ToolError::CommandFailed { how: format!("ended with exit code {code}") })
        }
        (Cause::Itself, None, Some(signal)) => {
            Some(ToolError::CommandFailed { how: format!("was ended by signal {signal}") })
        }
        (Cause::Itself, None, None) => {
            Some(ToolError::CommandFailed { how: "did not end".to_owned() })
        }
    }
}

fn result(
    command: &Command<'_>,
    reader: &Reader,
    key: &str,
    finished: &Finished<StreamEnds>,
) -> Value {
    json!({
        "command": command.command,
        "shell": reader.path.to_string_lossy(),
        "folder": key,
        "timeout_seconds": command.timeout().as_secs(),
        "exit_code": finished.exit_code,
        "signal": finished.signal,
        "timed_out": finished.cause == Cause::TimedOut,
        "stdout_bytes": finished.stdout.bytes(),
        "stderr_bytes": finished.stderr.bytes(),
        "output_left_open": finished.left_open,
        "duration_ms": u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
    })
}

/// What would run, where, as whom, and how far it may go.
pub(super) fn preview(toolbox: &Toolbox, command: &Command<'_>) -> Result<Preview, ToolError> {
    let mut without = None;
    let (place, by) = match command.target {
        Some(target) => remote::place(toolbox, target, command.cwd),
        None => {
            let place = match command.folder(toolbox)?.0.as_str() {
                "." => "in the workspace folder".to_owned(),
                key => format!("in {key}"),
            };
            let behind =
                process::Behind { step: StepWalls::NONE, run: toolbox.walls(), write: &[] };
            let left_out = process::left_out(Profile::Step(behind));
            let names: Vec<_> = left_out.iter().map(|it| it.to_string_lossy()).collect();
            without = (!names.is_empty()).then(|| {
                format!("Folders of PATH in the workspace are left out: {}.", names.join(", "))
            });
            let by = format!("Read by {}, as {}.", Reader::here(toolbox)?.path.display(), user());
            (place, by)
        }
    };
    let limits = format!(
        "Ended after {}, or when one of its outputs has more than {}.",
        words::duration(command.timeout()),
        words::size(OUTPUT_BYTES)
    );
    Ok(Preview {
        predicted: Predicted::Unpredictable,
        summary: format!("Runs the command {place}."),
        changes: Vec::new(),
        notes: [by, "What it changes cannot be foreseen.".to_owned(), limits]
            .into_iter()
            .chain(without)
            .collect(),
    })
}

/// As whom programs run here: the rights are this process's own.
pub(super) fn user() -> String {
    let name = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    #[cfg(unix)]
    let id = format!("user id {}", rustix::process::geteuid().as_raw());
    #[cfg(not(unix))]
    let id = "your user".to_owned();
    name.filter(|name| !name.is_empty()).map_or(id.clone(), |name| format!("{name} ({id})"))
}

#[cfg(test)]
mod tests;
