//! Child processes (SPEC §7.2): the only module that starts programs.
//!
//! A child gets exactly the arguments that the caller names, and no terminal and no input unless the caller
//! supplies them. It inherits the environment of this process, without [`MODEL_KEY`], with a filtered `PATH`,
//! and with the changes that the caller names. It leads its own process group and, on Linux, its own session.
//! Signals that this process ignores have their default effect in the child (`ignored_signals`).
//! Stdout and stderr are read by one thread each, and every chunk is forwarded at once, up to a limit. `run`
//! keeps the complete output, `stream` only its beginning and end. Nothing polls: the calling thread sleeps
//! until there is output, an exit, a stop or the deadline. To end a program, SIGTERM is sent to it and to all
//! its descendants; processes that still run after the grace period are killed.
//!
//! Only the tools and the rooms below them start programs; the rooms above the tools use only the types.
//!
//! # Which processes belong to a program
//!
//! The user's editor is the only program that is started and not supervised. On Linux the child is made a
//! subreaper: it adopts the orphans among its descendants, so that a process that leaves group and parent is
//! still found below the child, while Countersign itself adopts no process. This needs code between fork and
//! exec. Signals are sent through process handles (pidfd), because process ids are reused.
//!
//! # How a program is ended
//!
//! A stop, a timeout, a limit, or output that cannot be recorded ends all processes. They are first suspended
//! with SIGSTOP, until two successive listings find no process that runs; only then is SIGTERM sent, so that no
//! process escapes between being listed and being signalled. After the child has exited, orphans are found by a
//! mark in their environment (`COUNTERSIGN_CHILD`). A process that empties its environment and leaves session
//! and parent is not found if it does so after SIGTERM and after the child has exited. Finding it too would
//! need another process between Countersign and the child.
//!
//! Processes that a program leaves running when it exits by itself keep running, as under a shell, unless the
//! caller chooses `Leftovers::End` because nothing may change the workspace afterwards: for example after
//! `splice`, a planner, or the check of a replacement.
//!
//! # Threads
//!
//! Each program has three threads: one for each output, and one that waits for its exit. A thread outlives
//! the program only while another process holds the output open. These threads write to a queue on which the
//! caller's thread sleeps; a stop wakes the caller's thread too. So output reaches events and evidence on one
//! thread, in one order. A program that prints faster than the evidence stores its output is blocked.

mod askpass;
mod capture;
mod error;
mod hidden;
mod ignored_signals;
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
mod terminal;
#[cfg(test)]
mod tests;
#[cfg(all(test, target_os = "linux"))]
#[path = "tests/mod.rs"]
mod tests_behind_files;
#[cfg(all(test, target_os = "linux"))]
#[path = "tests/mod.rs"]
mod tests_behind_full;
mod tree;
pub mod walls;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::run::{OpenTerminal, StopSignal, Stream, StreamEnds};

pub(crate) use askpass::Askpass;
pub use askpass::start_askpass;
pub use capture::{Capture, NoCapture, ProcessIo};
pub use error::ProcessError;
pub use hidden::HiddenTexts;
pub(crate) use hidden::{NOTHING_HIDDEN, OutputFilter};
pub use ignored_signals::is_ignored;
pub(crate) use launcher::Launcher;
pub(crate) use lookup::{Programs, is_executable};
pub(crate) use output_queue::wait_for_change;
pub(crate) use path::excluded_folders;
pub(crate) use profile::{Profile, ProgramWalls};
pub(crate) use scratch::{
    Scratch, default_parent as scratch_parent, parents as scratch_parents, private_folder,
    remove_abandoned as tidy_scratch,
};
use supervise::supervise;
use walls::WallReport;

/// The environment variable with the API key of the model server. It is removed from the environment of every
/// program, and set only for a planner that needs it.
pub const MODEL_KEY: &str = "COUNTERSIGN_MODEL_KEY";
/// Time between SIGTERM and SIGKILL (SPEC §3).
const GRACE: Duration = Duration::from_secs(2);
/// How long a command may print nothing before the person is notified (SPEC §7.2).
const QUIET: Duration = Duration::from_secs(15);
/// Maximum number of bytes that one read of an output returns.
const CHUNK: usize = 64 << 10;

/// A program to start, with its limits.
pub(crate) struct Program<'a> {
    /// The kind of the program, with its walls if it runs behind walls.
    pub(crate) profile: Profile<'a>,
    /// The path of the program, or a name that is looked up in the child's `PATH`.
    pub(crate) program: &'a OsStr,
    /// The arguments of the program, passed unchanged.
    pub(crate) arguments: &'a [&'a str],
    /// The stdin of the program; `None` for an empty one.
    pub(crate) input: Option<Input<'a>>,
    /// The working directory of the program.
    pub(crate) folder: &'a Path,
    /// Variables added to the environment that the program inherits.
    pub(crate) environment: &'a [(&'a str, &'a str)],
    /// Variables that the program does not inherit. One of them that is also in `environment` has the value there.
    pub(crate) unset: &'a [OsString],
    /// The treatment of processes that the program started and that still run when it exits by itself.
    pub(crate) leftovers: Leftovers,
    /// The program is ended after this time.
    pub(crate) timeout: Duration,
    /// Maximum size of each output, in bytes; the program is ended when it prints more.
    pub(crate) output_limit: u64,
}

/// The stdin of a program.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Input<'a> {
    /// These bytes. They are passed in an unlinked or in-memory file, which, unlike a pipe, does not block
    /// the writer if the program never reads.
    Bytes(&'a [u8]),
    /// What the caller writes into the other end of this pipe while the program runs. The caller must not write on the
    /// thread that supervises the program, and must drop its end of the reader once the program has ended.
    Pipe(&'a io::PipeReader),
    /// A pseudo-terminal, into which a person types. It also receives stdout and stderr, which are then read as one
    /// output, [`Stream::Stdout`].
    Terminal(&'a OpenTerminal),
}

/// The treatment of processes that are still running when the program that started them exits by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leftovers {
    /// They keep running, as under a shell.
    Stay,
    /// They are ended too, so that nothing changes the workspace after the step has ended.
    End,
}

/// Why a program was ended before it exited by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The program was still running at the timeout.
    TimedOut,
    /// A person stopped the run.
    Stopped,
    /// This output exceeded its limit.
    TooMuch(Stream),
    /// The output could not be recorded.
    NotKept,
}

/// Result of a program that was started.
#[derive(Debug)]
pub struct Finished<K = Vec<u8>> {
    /// Why this process ended the program; `None` when the program exited by itself or was ended by another
    /// process.
    pub cause: Option<Cause>,
    /// The exit code of the program; `None` when a signal ended it or its status is not known.
    pub exit_code: Option<i32>,
    /// The signal that ended the program, if one did.
    pub signal: Option<i32>,
    /// The time from the start of the program to its end.
    pub duration: Duration,
    /// The stdout of the program up to the limit: complete, or only its beginning and end.
    pub stdout: K,
    /// The stderr of the program, in the same form.
    pub stderr: K,
    /// Whether the supervision ended while a process that the program started held an output open, or while a
    /// killed process still existed. Later output is not kept.
    pub left_open: bool,
    /// The report of the walls of the program; empty when it had none.
    pub walls: WallReport,
}

impl<K> Finished<K> {
    /// Whether the program exited by itself with code 0.
    pub(crate) fn is_success(&self) -> bool {
        self.cause.is_none() && self.exit_code == Some(0)
    }

    /// Whether the program was ended at the timeout.
    pub fn timed_out(&self) -> bool {
        self.cause == Some(Cause::TimedOut)
    }
}

/// A command that does not inherit [`MODEL_KEY`].
fn command(program: &OsStr) -> Command {
    let mut command = bare_command(program);
    command.env_remove(MODEL_KEY).env_remove(askpass::SOCKET);
    command
}

/// A command that inherits the complete environment of this process. Apart from [`command`], only the helper of
/// the walls calls it: the helper's environment is already the one that the program is to get.
#[expect(clippy::disallowed_methods, reason = "the one place that starts programs")]
fn bare_command(program: &OsStr) -> Command {
    ignored_signals::not_for_programs();
    Command::new(program)
}

/// Starts a program without supervising it: the program has no input, its output is discarded, and a thread waits
/// for its exit only to reap it.
///
/// # Errors
/// The error of the operating system when the program cannot be started; also a profile with walls.
pub(crate) fn start_detached(
    profile: Profile<'_>,
    program: &Path,
    arguments: &[String],
    folder: &Path,
) -> io::Result<()> {
    if profile.walls().is_some() {
        return Err(io::Error::other("a detached program cannot run behind walls"));
    }
    let mut command = command(program.as_os_str());
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    thread::Builder::new().name("countersign-detached".to_owned()).spawn(move || child.wait())?;
    Ok(())
}

/// Runs a program to its end and keeps its complete output, up to the limit. `output` receives the text on the
/// calling thread, while the program prints it.
///
/// # Errors
/// The error of the operating system when the program cannot be started.
pub(crate) fn run(
    program: &Program<'_>,
    stop: &StopSignal,
    output: &dyn Fn(Stream, &str),
) -> io::Result<Finished> {
    let io = ProcessIo { stop, output, capture: &NoCapture, hidden: &NOTHING_HIDDEN };
    supervise(program, io, QUIET)
}

/// Runs a program with large output: the capture receives every byte up to the limit while the program prints
/// it, and only the beginning and the end stay in memory.
///
/// # Errors
/// The error of the operating system when the program cannot be started.
pub(crate) fn stream(program: &Program<'_>, io: ProcessIo<'_>) -> io::Result<Finished<StreamEnds>> {
    supervise(program, io, QUIET)
}
