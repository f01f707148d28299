//! Programs (SPEC §7.2): the one place that starts them.
//!
//! A program gets exactly what the caller says, no terminal, and no input but what the caller provides. It leads a
//! session and a process group of its own. Its two outputs are read apart, each on a thread of its own, passed on as
//! they arrive, up to a limit, and kept: whole by [`run`], only their ends by [`stream`]. Nothing here polls: the
//! caller's thread sleeps until there is output, an end, a stop or the deadline. To end a program, it and all its
//! child processes are asked first; after a grace period all of them are killed.
//!
//! The tools and the rooms below them call this. Absent on purpose: what a program means.
//!
//! # Which processes belong to a program
//!
//! The editor of the user is the only program that is started and not waited for. On Linux the child also adopts the
//! orphans below it, so that a process that leaves group and parent is still found below the child, and nothing
//! about our own process changes. This needs code between fork and exec. Signals go through process handles, because
//! ids are reused.
//!
//! # The end
//!
//! A stop, a timeout or a limit ends all processes. They are halted until two readings of the process list in a row
//! find nobody new and nobody that moves; only then are they asked to end, so that none leaves between being listed
//! and being signalled. Once the child itself is gone, orphans are found by a mark in their environment
//! (`COUNTERSIGN_CHILD`). A process is not found if it empties its environment, leaves session and parent, and does
//! so after it was asked to end and after the child has ended: that would take a process of our own above the child.
//!
//! What a program left running when it ends by itself is left alone, as in a shell, except after `splice` and the
//! check of a patch: nothing may change the workspace after a verdict.
//!
//! # Threads
//!
//! A program has three short-lived threads: one reads each output, one waits for the end. They write to a queue on
//! which the caller's thread sleeps, and a stop wakes it there. So output reaches events and evidence on one thread,
//! in one order. A program that prints faster than the evidence takes it waits; nobody waits for the window.

mod capture;
mod error;
mod kept;
mod launcher;
mod lookup;
mod output_queue;
mod path;
mod profile;
mod running;
mod scratch;
#[cfg(test)]
mod scratch_tests;
mod supervise;
#[cfg(test)]
mod tests;
#[cfg(all(test, target_os = "linux"))]
#[path = "tests.rs"]
mod tests_behind_files;
#[cfg(all(test, target_os = "linux"))]
#[path = "tests.rs"]
mod tests_behind_full;
mod tree;
pub(crate) mod walls;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::run::{StopSignal, Stream, StreamEnds};

pub use capture::{Capture, NoCapture, ProcessIo};
pub use error::ProcessError;
pub(crate) use kept::Captured;
pub(crate) use launcher::Launcher;
pub(crate) use lookup::{Programs, command_on_path, is_executable};
pub(crate) use path::left_out;
pub(crate) use profile::{Behind, Profile};
pub(crate) use scratch::{
    Scratch, parents as scratch_parents, tidy as tidy_scratch, usual_parent as scratch_parent,
};
use supervise::{Audience, supervise};
use walls::WallReport;

/// The variable with the key of the model server, which no program gets.
pub const MODEL_KEY: &str = "COUNTERSIGN_MODEL_KEY";
/// Between asking a program to end and killing it (SPEC §3).
const GRACE: Duration = Duration::from_secs(2);
/// How long a command may print nothing before a person is told (SPEC §7.2).
const QUIET: Duration = Duration::from_secs(15);
/// Bytes taken from an output at once.
const CHUNK: usize = 64 << 10;

/// What to start, and how far it may go.
pub(crate) struct Program<'a> {
    /// What it is started as, and with that whether it runs behind walls.
    pub(crate) profile: Profile<'a>,
    /// The program, by its path or by a name that is looked up in `PATH`.
    pub(crate) program: &'a OsStr,
    /// Its arguments, exactly.
    pub(crate) arguments: &'a [&'a str],
    /// What it reads; none for no input.
    pub(crate) input: Option<Input<'a>>,
    /// Where it runs.
    pub(crate) folder: &'a Path,
    /// What is set in its environment besides what this process has in its own.
    pub(crate) environment: &'a [(&'a str, &'a str)],
    /// What it must not have of the environment of this process.
    pub(crate) unset: &'a [OsString],
    /// What becomes of that which it has started, when it ends by itself.
    pub(crate) leftovers: Leftovers,
    /// When it is ended.
    pub(crate) timeout: Duration,
    /// Most bytes of each output; one more, and it is ended.
    pub(crate) output_limit: u64,
}

/// What a program reads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Input<'a> {
    /// This file.
    File(&'a Path),
    /// These bytes. They wait in a file without a name: a program that does not read makes nobody wait.
    Bytes(&'a [u8]),
}

/// What becomes of processes that a program leaves running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leftovers {
    /// They stay, as a shell would leave them.
    Stay,
    /// They are ended too, so that nothing works on the workspace behind a step that has ended.
    End,
}

/// Why a program came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
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
pub(crate) struct Finished<K = Captured> {
    /// Why it ended.
    pub(crate) cause: Cause,
    /// The code it ended with; none when a signal ended it.
    pub(crate) exit_code: Option<i32>,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
    /// From its start to its end.
    pub(crate) duration: Duration,
    pub(crate) stdout: K,
    pub(crate) stderr: K,
    /// Whether something it started still held an output open; what that prints is not kept.
    pub(crate) left_open: bool,
    /// What its walls refused; nothing where it had none.
    pub(crate) walls: WallReport,
}

fn command(program: &OsStr) -> Command {
    let mut command = bare_command(program);
    command.env_remove(MODEL_KEY);
    command
}

/// Starts with the whole environment, for the helper that hands it on.
#[expect(clippy::disallowed_methods, reason = "the one place that starts programs")]
fn bare_command(program: &OsStr) -> Command {
    Command::new(program)
}

/// Starts a program and lets it go: it has no input, what it prints is not kept, and a thread waits for its
/// end only so that the system can forget it.
///
/// # Errors
/// The system's own words when it could not be started.
pub(crate) fn start_beside(
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
pub(crate) fn run(
    program: &Program<'_>,
    stop: &StopSignal,
    output: &dyn Fn(Stream, &str),
) -> io::Result<Finished> {
    supervise(program, stop, Audience { output, capture: None, quiet_after: None })
}

/// Runs a program of any output to its end: every byte goes to the capture as it comes, and only the ends are
/// kept here.
///
/// # Errors
/// The system's own words when it could not be started.
pub(crate) fn stream(
    program: &Program<'_>,
    ProcessIo { stop, output, capture }: ProcessIo<'_>,
) -> io::Result<Finished<StreamEnds>> {
    supervise(program, stop, Audience { output, capture: Some(capture), quiet_after: Some(QUIET) })
}
