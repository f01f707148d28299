//! Programs (SPEC §7.2): the one place that starts them.
//!
//! A program gets exactly what the caller says, no terminal, and no input unless the caller has some: it leads a session and a
//! process group of its own. Its two outputs are read apart, each on a thread of its own, handed on as
//! they come and kept up to a limit. Nothing here looks again and again: the caller's thread sleeps
//! until there is output, an end, a stop or the deadline. A program that is to end is asked first, and
//! so is everything it started; after a grace all of it is killed.
//!
//! The rest of the room calls this; nobody else can. Absent on purpose: what a program means, and what
//! its failure is called.

mod captured;
mod mailbox;
#[cfg(test)]
mod tests;
mod text;
mod tree;

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::run::Stream;

use super::StopSignal;
pub(super) use captured::Captured;
use mailbox::{Mail, Mailbox};
use text::Text;
use tree::Tree;

/// Between asking a program to end and killing it (SPEC §3).
const GRACE: Duration = Duration::from_secs(2);
/// How long the outputs of a program that has ended may stay open in the hands of what it started.
const DRAIN: Duration = Duration::from_secs(2);
/// Bytes taken from an output at once.
const CHUNK: usize = 64 << 10;

/// What to start, and how far it may go.
pub(super) struct Program<'a> {
    /// The program, by its path or by a name that is looked up in `PATH`.
    pub(super) program: &'a OsStr,
    /// Its arguments, exactly.
    pub(super) arguments: &'a [&'a str],
    /// Where it runs.
    pub(super) folder: &'a Path,
    /// What is set in its environment besides what this process has in its own.
    pub(super) environment: &'a [(&'a str, &'a str)],
    /// When it is ended.
    pub(super) timeout: Duration,
    /// Most bytes of each output; one more, and it is ended.
    pub(super) output_limit: u64,
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
}

/// What became of a program that was started.
#[derive(Debug)]
pub(super) struct Finished {
    /// Why it ended.
    pub(super) cause: Cause,
    /// The code it ended with; none when a signal ended it.
    pub(super) exit_code: Option<i32>,
    /// The signal that ended it.
    pub(super) signal: Option<i32>,
    /// From its start to its end.
    pub(super) duration: Duration,
    pub(super) stdout: Captured,
    pub(super) stderr: Captured,
    /// Whether something it started still held an output open; what that prints is not kept.
    pub(super) left_open: bool,
}

/// Starts a program and lets it go: it has no input, what it prints is not kept, and a thread waits for its
/// end only so that the system can forget it.
///
/// # Errors
/// The system's own words when it could not be started.
#[expect(clippy::disallowed_methods, reason = "the one place that starts programs")]
pub(super) fn start_beside(program: &Path, arguments: &[String], folder: &Path) -> io::Result<()> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    thread::Builder::new().name("countersign-beside".to_owned()).spawn(move || child.wait())?;
    Ok(())
}

/// Runs a program to its end; `output` gets text as it comes, on this thread.
///
/// # Errors
/// The system's own words when it could not be started.
pub(super) fn run(
    program: &Program<'_>,
    stop: &StopSignal,
    output: &dyn Fn(Stream, &str),
) -> io::Result<Finished> {
    run_on(program, Stdio::null(), stop, output)
}

/// The same for a program that reads this.
///
/// # Errors
/// As for [`run`].
pub(super) fn run_on(
    program: &Program<'_>,
    input: Stdio,
    stop: &StopSignal,
    output: &dyn Fn(Stream, &str),
) -> io::Result<Finished> {
    let mailbox = Arc::new(Mailbox::default());
    let wake: Arc<dyn Fn() + Send + Sync> = {
        let mailbox = Arc::clone(&mailbox);
        Arc::new(move || mailbox.wake())
    };
    stop.listen(&wake);
    let started = Instant::now();
    let running = Running::start(program, input, mailbox)?;
    let mut watch = Watch {
        running,
        stop,
        output,
        cause: Cause::Itself,
        seen: (false, false),
        stdout: (Captured::up_to(program.output_limit), Text::default()),
        stderr: (Captured::up_to(program.output_limit), Text::default()),
    };
    let phase = watch.follow(started.checked_add(program.timeout));
    let left_open = phase == Phase::LeftOpen;
    watch.flush();
    let status = watch.running.reap();
    Ok(Finished {
        cause: watch.cause,
        exit_code: status.and_then(|status| status.code()),
        signal: status.and_then(signal_of),
        duration: started.elapsed(),
        stdout: watch.stdout.0,
        stderr: watch.stderr.0,
        left_open,
    })
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}

/// How far a program has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Under way, until the timeout, if there is one.
    Runs(Option<Instant>),
    /// Asked to end; killed at this time.
    Asked(Instant),
    /// Killed; at this time it is given up, because the system does not let go of it.
    Killed(Instant),
    /// Ended by itself; its outputs are read until this time.
    Drains(Instant),
    /// Ended, and everything it printed was read.
    Ended,
    /// Ended, while something else held an output open.
    LeftOpen,
}

/// A program under way, and where what it prints goes.
struct Watch<'a> {
    running: Running,
    stop: &'a StopSignal,
    output: &'a dyn Fn(Stream, &str),
    cause: Cause,
    /// Whether the program was seen to have ended, and its outputs to be closed.
    seen: (bool, bool),
    stdout: (Captured, Text),
    stderr: (Captured, Text),
}

impl Watch<'_> {
    /// Follows the program to its end.
    fn follow(&mut self, deadline: Option<Instant>) -> Phase {
        let mut phase = Phase::Runs(deadline);
        while !matches!(phase, Phase::Ended | Phase::LeftOpen) {
            let mail = self.wait(phase);
            let full = self.take(&mail);
            phase = self.next(phase, &mail, full);
        }
        phase
    }

    /// Sleeps until there is news in this phase, or its time is over.
    fn wait(&mut self, phase: Phase) -> Mail {
        let until = match phase {
            Phase::Runs(until) => until,
            Phase::Asked(until) | Phase::Killed(until) | Phase::Drains(until) => Some(until),
            Phase::Ended | Phase::LeftOpen => Some(Instant::now()),
        };
        let may_stop = matches!(phase, Phase::Runs(_) | Phase::Drains(_));
        let seen = self.seen;
        let mail = self.running.mailbox.take(until, |exited, closed| {
            (may_stop && self.stop.is_set()) || (exited, closed) != seen
        });
        self.seen = (mail.exited, mail.closed);
        mail
    }

    fn next(&mut self, phase: Phase, mail: &Mail, full: Option<Stream>) -> Phase {
        let now = Instant::now();
        let is_done = mail.exited && mail.closed;
        match (phase, full) {
            (Phase::Runs(_) | Phase::Drains(_), full) if is_done => {
                // Its last words were too many.
                self.cause = full.map_or(self.cause, Cause::TooMuch);
                Phase::Ended
            }
            (Phase::Runs(_) | Phase::Drains(_), _) if self.stop.is_set() => {
                self.end(Cause::Stopped)
            }
            (Phase::Runs(_) | Phase::Drains(_), Some(stream)) => self.end(Cause::TooMuch(stream)),
            (Phase::Runs(_), None) if mail.exited => Phase::Drains(now + DRAIN),
            (Phase::Runs(Some(until)), None) if now >= until => self.end(Cause::TimedOut),
            (Phase::Drains(until), None) if now >= until => Phase::LeftOpen,
            (Phase::Asked(until), _) if is_done && self.running.tree.wait_until_gone(until) => {
                Phase::Ended
            }
            (Phase::Asked(until), _) if is_done || now >= until => {
                self.running.kill();
                Phase::Killed(Instant::now() + GRACE)
            }
            (Phase::Killed(_), _) if is_done => Phase::Ended,
            (Phase::Killed(until), _) if now >= until => Phase::LeftOpen,
            _ => phase,
        }
    }

    /// Asks the program and all that it started to end.
    fn end(&mut self, cause: Cause) -> Phase {
        self.cause = cause;
        self.running.ask_to_end();
        Phase::Asked(Instant::now() + GRACE)
    }

    /// Hands on and keeps what came; the output that has reached its limit, if one has.
    fn take(&mut self, mail: &Mail) -> Option<Stream> {
        let mut full = None;
        for (stream, bytes) in &mail.chunks {
            let (captured, text) = self.side(*stream);
            let kept = captured.push(bytes);
            let chunk = text.push(kept);
            if kept.len() < bytes.len() {
                full = Some(*stream);
            }
            if !chunk.is_empty() {
                (self.output)(*stream, &chunk);
            }
        }
        full
    }

    /// Hands on what was the beginning of a character and has no end.
    fn flush(&mut self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let rest = self.side(stream).1.end();
            if !rest.is_empty() {
                (self.output)(stream, rest);
            }
        }
    }

    fn side(&mut self, stream: Stream) -> &mut (Captured, Text) {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }
}

/// `PATH` without its relative folders: those would be folders of the workspace, and what a program starts
/// by name would be looked for there. None when nothing is left: an empty one means the folder, too.
fn absolute(paths: &OsStr) -> Option<OsString> {
    let folders = std::env::split_paths(paths).filter(|path| path.is_absolute());
    std::env::join_paths(folders).ok().filter(|paths| !paths.is_empty())
}

/// A child process with everything it started; nothing of it outlives this.
struct Running {
    child: Child,
    tree: Tree,
    mailbox: Arc<Mailbox>,
    reaped: bool,
}

impl Running {
    fn start(program: &Program<'_>, input: Stdio, mailbox: Arc<Mailbox>) -> io::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "this is the place")]
        let mut command = Command::new(program.program);
        command
            .args(program.arguments)
            .current_dir(program.folder)
            .envs(program.environment.iter().copied())
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        match std::env::var_os("PATH").and_then(|paths| absolute(&paths)) {
            Some(paths) => command.env("PATH", paths),
            None => command.env_remove("PATH"),
        };
        tree::set_apart(&mut command);
        let child = command.spawn()?;
        let tree = Tree::of(&child);
        // From here on an error ends the child, because this is dropped.
        let mut running = Self { child, tree, mailbox, reaped: false };
        if let Some(stdout) = running.child.stdout.take() {
            running.read(Stream::Stdout, stdout)?;
        }
        if let Some(stderr) = running.child.stderr.take() {
            running.read(Stream::Stderr, stderr)?;
        }
        let mailbox = Arc::clone(&running.mailbox);
        let wait = running.tree.wait_for_end(move || mailbox.exited());
        thread::Builder::new().name("child-end".to_owned()).spawn(wait)?;
        Ok(running)
    }

    /// Reads an output to its end on a thread of its own. The thread outlives the program only where
    /// something else holds the output open, and then ends with the next byte.
    fn read(&self, stream: Stream, mut pipe: impl Read + Send + 'static) -> io::Result<()> {
        let mailbox = Arc::clone(&self.mailbox);
        let name = match stream {
            Stream::Stdout => "child-stdout",
            Stream::Stderr => "child-stderr",
        };
        mailbox.open(stream);
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            let mut buffer = vec![0; CHUNK];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => {
                        if !mailbox.put(stream, buffer.get(..count).unwrap_or_default()) {
                            break;
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            mailbox.close(stream);
        })?;
        Ok(())
    }

    fn ask_to_end(&mut self) {
        self.tree.ask_to_end(&mut self.child);
    }

    fn kill(&mut self) {
        self.tree.kill(&mut self.child);
    }

    /// Takes the status of a child that has ended; none while the system does not let go of it.
    fn reap(&mut self) -> Option<ExitStatus> {
        self.mailbox.abandon();
        let status = tree::status(&mut self.child);
        self.reaped = status.is_some();
        status
    }
}

impl Drop for Running {
    /// On the way out of a panic or an error nobody else ends the child.
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            self.reap();
        }
    }
}
