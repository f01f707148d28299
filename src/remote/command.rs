//! A person's command on the host: sent in its wrapper, followed to its end, and judged by the wrapper's
//! word alone.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::run::{Stream, StreamEnds};

use super::session::RUN;
use super::session_output::{Heard, SessionOutput};
use super::watch::{Over, Watch};
use super::{Connection, RemoteError};
use crate::process::Cause;
use crate::process::ProcessIo;
use crate::run::StopSignal;

/// How long a connection may take to be seen as lost when one of its sessions broke off.
const LOSS: Duration = Duration::from_secs(2);
/// The exit code of the wrapper when it has not begun: the folder could not be entered, or what was sent did
/// not arrive whole.
const NOT_BEGUN: i32 = 125;
/// Room for the reports beside what a command may print.
const SPARE: u64 = 64 << 10;

/// A command for a host.
#[derive(Debug, Clone, Copy)]
pub struct RemoteCommand<'a> {
    /// The command, exactly.
    pub command: &'a str,
    /// Its folder: absolute, or relative to the home folder; none for that.
    pub folder: Option<&'a str>,
    /// When its process group is ended.
    pub timeout: Duration,
    /// Most bytes of each output; one more, and its process group is ended.
    pub output_limit: u64,
}

/// Why a command did not end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteStop {
    /// The timeout.
    TimedOut,
    /// A person asked to stop now.
    Stopped,
    /// This output reached its limit.
    TooMuch(Stream),
    /// What it printed could not be kept.
    NotKept,
}

/// How a command ended, as far as the host has said so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteEnd {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// Its process group was ended, and the host confirmed that nothing of it is left.
    Ended(RemoteStop),
    /// It did not begin, for this reason.
    NotBegun(String),
    /// The outcome on the host is unknown (E308): the connection was lost, or the host did not confirm that
    /// nothing is left.
    Unknown {
        /// Why it was to be ended, if it was.
        stop: Option<RemoteStop>,
        /// Why it is unknown, in the words of the client where it has any.
        said: String,
    },
}

/// A command that is over.
#[derive(Debug)]
pub struct RemoteFinished {
    /// How it ended.
    pub end: RemoteEnd,
    /// The ends of what it printed to stdout.
    pub stdout: StreamEnds,
    /// The ends of what it printed to stderr, and after it what the client said of a connection that was
    /// lost.
    pub stderr: StreamEnds,
    /// What the login shell printed on the way to the command; mostly empty.
    pub greeting: Vec<u8>,
    /// From the call to the end.
    pub duration: Duration,
    /// Whether something it started still held an output open; what that prints is not kept.
    pub left_open: bool,
}

impl Connection {
    /// Runs a command to its end: what it prints goes to the capture and the output as it
    /// comes, on this thread, and only its ends are kept.
    ///
    /// # Errors
    /// The client could not be started, and so nothing was sent.
    pub fn run(
        &self,
        command: &RemoteCommand<'_>,
        io: ProcessIo<'_>,
    ) -> Result<RemoteFinished, RemoteError> {
        let started = Instant::now();
        let stop = io.stop;
        let folder = folder_word(command.folder);
        if command.command.contains('\0') || folder.contains('\0') {
            let why = "a command and its folder cannot have a NUL in them".to_owned();
            return Ok(RemoteFinished::not_begun(why));
        }
        if stop.is_set() {
            return Ok(RemoteFinished::not_begun("stopped before it was sent".to_owned()));
        }
        let variables = [("folder", folder.as_str()), ("command", command.command)];
        let session = self.session(RUN, &variables)?;
        let watch = Arc::new(Watch::default());
        let wake: Arc<dyn Fn() + Send + Sync> = {
            let watch = Arc::clone(&watch);
            Arc::new(move || watch.change(|_| {}))
        };
        stop.listen(&wake);
        let deadline = started.checked_add(command.timeout);
        // Ends the client here, once the host has been told, or cannot be.
        let here = StopSignal::default();
        let session_output = SessionOutput::new(&session.nonce, command.output_limit, io, &watch);
        let limit = command.output_limit.saturating_add(SPARE);
        let (finished, ended) = thread::scope(|scope| {
            let over = Over(&watch);
            let ender = thread::Builder::new()
                .name("ssh-stop".to_owned())
                .spawn_scoped(scope, || self.stand_by(&watch, deadline, stop, &here))
                .map_err(RemoteError::NotStarted)?;
            let heard =
                ProcessIo { stop: &here, output: &|_, _| {}, capture: &session_output, ..io };
            let finished = self.follow(&session, limit, heard)?;
            drop(over);
            Ok::<_, RemoteError>((finished, ender.join().unwrap_or(None)))
        })?;
        let heard = session_output.end();
        let limit_reached = match finished.cause {
            Cause::TooMuch(stream) => Some(RemoteStop::TooMuch(stream)),
            Cause::NotKept => Some(heard.full.map_or(RemoteStop::NotKept, RemoteStop::TooMuch)),
            // Its last words were too many.
            _ => heard.full.map(RemoteStop::TooMuch),
        };
        let ended = match limit_reached {
            // It has ended by itself, and so has its group, as far as it waited for it.
            Some(stop) if heard.end.is_some() => Some((stop, true)),
            Some(stop) => Some((stop, heard.group.is_some_and(|group| self.end_group(group)))),
            None => ended,
        };
        let end = match ended {
            Some((stop, true)) => RemoteEnd::Ended(stop),
            Some((stop, false)) => RemoteEnd::Unknown { stop: Some(stop), said: self.loss() },
            None => self.judge(&heard, finished.exit_code),
        };
        let Heard { stdout, stderr, greeting, .. } = heard;
        let left_open = finished.left_open || watch.left_open.load(Ordering::SeqCst);
        Ok(RemoteFinished { end, stdout, stderr, greeting, duration: started.elapsed(), left_open })
    }

    /// How a command that nobody ended came to its end.
    fn judge(&self, heard: &Heard, exit_code: Option<i32>) -> RemoteEnd {
        if let Some(status) = heard.end {
            return match status.checked_sub(128) {
                Some(signal) if signal > 0 && heard.was_signalled => RemoteEnd::Signalled(signal),
                _ => RemoteEnd::Exited(status),
            };
        }
        // 255 is the client's own word for a session that broke off.
        if heard.group.is_none() && exit_code.is_some_and(|code| code != 255) {
            let said = String::from_utf8_lossy(&heard.greeting).trim().to_owned();
            let code = exit_code.filter(|code| *code != NOT_BEGUN);
            let code = code.map_or_else(String::new, |code| format!(" (exit code {code})"));
            return RemoteEnd::NotBegun(format!("{said}{code}").trim().to_owned());
        }
        RemoteEnd::Unknown { stop: None, said: self.loss() }
    }

    /// What is known of a session that broke off.
    fn loss(&self) -> String {
        if self.control.is_lost_after(LOSS) {
            let said = self.control.said();
            return format!("the connection was lost\n{said}").trim_end().to_owned();
        }
        "the host did not confirm that nothing of the command is left".to_owned()
    }
}

/// The folder as the wrapper takes it: `cd` would take a lone `-` for another folder, and nobody expands `~`.
fn folder_word(folder: Option<&str>) -> String {
    match folder.unwrap_or_default() {
        "" | "~" | "~/" => String::new(),
        path if path.starts_with('/') => path.to_owned(),
        path => format!("./{}", path.strip_prefix("~/").unwrap_or(path)),
    }
}

impl RemoteFinished {
    fn not_begun(why: String) -> Self {
        Self {
            end: RemoteEnd::NotBegun(why),
            stdout: StreamEnds::default(),
            stderr: StreamEnds::default(),
            greeting: Vec::new(),
            duration: Duration::ZERO,
            left_open: false,
        }
    }
}
