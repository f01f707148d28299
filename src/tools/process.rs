//! Programs (SPEC §7.2): the one place that starts them.
//!
//! A program gets exactly what the caller says, no terminal, and no input but what the caller hands it: it leads a session and a process group of its own. Its two outputs are read apart, each on a
//! thread of its own, handed on as they come, up to a limit, and kept: whole by [`run`], by its ends alone
//! by [`stream`]. Nothing here looks again and again: the caller's thread sleeps until there is output, an
//! end, a stop or the deadline. A program that is to end is asked first, and so is everything it started;
//! after a grace all of it is killed.
//!
//! The rest of the room calls this; nobody else can. Absent on purpose: what a program means, and what
//! its failure is called.

mod kept;
mod mailbox;
mod path;
mod profile;
mod running;
#[cfg(test)]
mod tests;
#[cfg(all(test, target_os = "linux"))]
#[path = "process/tests.rs"]
mod tests_behind_files;
#[cfg(all(test, target_os = "linux"))]
#[path = "process/tests.rs"]
mod tests_behind_full;
mod tree;
pub(super) mod walls;
mod watch;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::run::{Stream, StreamEnds};

use super::{Context, StopSignal, ToolError};
pub(super) use kept::Captured;
pub(super) use path::left_out;
pub(super) use profile::{Behind, Profile};
use walls::WallReport;
use watch::{Audience, watch};

/// Between asking a program to end and killing it (SPEC §3).
const GRACE: Duration = Duration::from_secs(2);
/// How long a command may print nothing before a person is told (SPEC §7.2).
const QUIET: Duration = Duration::from_secs(15);
/// Bytes taken from an output at once.
const CHUNK: usize = 64 << 10;

/// What to start, and how far it may go.
pub(super) struct Program<'a> {
    /// What it is started as, and with that whether it runs behind walls.
    pub(super) profile: Profile<'a>,
    /// The program, by its path or by a name that is looked up in `PATH`.
    pub(super) program: &'a OsStr,
    /// Its arguments, exactly.
    pub(super) arguments: &'a [&'a str],
    /// What it reads; none for no input.
    pub(super) input: Option<Input<'a>>,
    /// Where it runs.
    pub(super) folder: &'a Path,
    /// What is set in its environment besides what this process has in its own.
    pub(super) environment: &'a [(&'a str, &'a str)],
    /// What it must not have of the environment of this process.
    pub(super) unset: &'a [OsString],
    /// What becomes of that which it has started, when it ends by itself.
    pub(super) leftovers: Leftovers,
    /// When it is ended.
    pub(super) timeout: Duration,
    /// Most bytes of each output; one more, and it is ended.
    pub(super) output_limit: u64,
}

/// What a program reads.
#[derive(Debug, Clone, Copy)]
pub(super) enum Input<'a> {
    /// This file.
    File(&'a Path),
    /// These bytes. They wait in a file without a name: a program that does not read makes nobody wait.
    Bytes(&'a [u8]),
}

/// What becomes of processes that a program leaves running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leftovers {
    /// They stay, as a shell would leave them.
    Stay,
    /// They are ended too, so that nothing works on the workspace behind a step that has ended.
    End,
}

/// Why a program came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// By itself, or by somebody else.
    Itself,
    /// The timeout.
    TimedOut,
    /// A person asked to stop now.
    Stopped,
    /// This output reached its limit.
    TooMuch(Stream),
    /// What it printed could not be kept.
    NotKept,
}

/// What became of a program that was started.
#[derive(Debug)]
pub(super) struct Finished<K = Captured> {
    /// Why it ended.
    pub(super) cause: Cause,
    /// The code it ended with; none when a signal ended it.
    pub(super) exit_code: Option<i32>,
    /// The signal that ended it.
    pub(super) signal: Option<i32>,
    /// From its start to its end.
    pub(super) duration: Duration,
    pub(super) stdout: K,
    pub(super) stderr: K,
    /// Whether something it started still held an output open; what that prints is not kept.
    pub(super) left_open: bool,
    /// What its walls refused; nothing where it had none.
    pub(super) walls: WallReport,
}

fn command(program: &OsStr) -> Command {
    let mut command = bare_command(program);
    command.env_remove(super::planner::MODEL_KEY);
    command
}

/// The same with the whole environment, for a program whose start hands on what it was started with.
impl<K> Finished<K> {
    /// Why a wall was what stopped it; none where no wall was, or where it did its work all the same.
    pub(super) fn stopped_by_wall(&self) -> Option<ToolError> {
        let WallReport { refused, changed, .. } = &self.walls;
        let what = match (changed.first(), self.exit_code) {
            (Some(first), _) => {
                let more = changed.len() - 1;
                let others = if more == 0 { String::new() } else { format!(" and {more} more") };
                format!(
                    "what no step may write has changed: {}{others}; a new file among it is now named *.refused-…",
                    first.display()
                )
            }
            (None, code) if code != Some(0) && *refused > 0 => {
                let times = if *refused == 1 { "time" } else { "times" };
                format!(
                    "the network was refused {refused} {times}: sign again with network allowed?"
                )
            }
            _ => return None,
        };
        Some(ToolError::StoppedByWall { what })
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts programs")]
fn bare_command(program: &OsStr) -> Command {
    Command::new(program)
}

/// Starts a program and lets it go: it has no input, what it prints is not kept, and a thread waits for its
/// end only so that the system can forget it.
///
/// # Errors
/// The system's own words when it could not be started.
pub(super) fn start_beside(
    profile: Profile<'_>,
    program: &Path,
    arguments: &[String],
    folder: &Path,
) -> io::Result<()> {
    if profile.walls().is_some() {
        return Err(io::Error::other("what is let go cannot be walled"));
    }
    let mut command = command(program.as_os_str());
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    thread::Builder::new().name("countersign-beside".to_owned()).spawn(move || child.wait())?;
    Ok(())
}

/// Runs a program to its end and keeps all that it prints; `output` gets text as it comes, on this thread.
///
/// # Errors
/// The system's own words when it could not be started.
pub(super) fn run(
    program: &Program<'_>,
    stop: &StopSignal,
    output: &dyn Fn(Stream, &str),
) -> io::Result<Finished> {
    watch(program, stop, Audience { output, capture: None, quiet_after: None })
}

/// Runs a program of any output to its end: every byte goes to [`Context::capture`] as it comes, text to
/// [`Context::output`], and only the ends are kept here.
///
/// # Errors
/// The system's own words when it could not be started.
pub(super) fn stream(
    program: &Program<'_>,
    context: &Context<'_>,
) -> io::Result<Finished<StreamEnds>> {
    let Context { output, capture, .. } = *context;
    watch(
        program,
        context.stop,
        Audience { output, capture: Some(capture), quiet_after: Some(QUIET) },
    )
}
