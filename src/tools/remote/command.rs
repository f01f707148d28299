//! A person's command on the host: sent in its wrapper, followed to its end, and judged by the wrapper's
//! word alone.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::run::Stream;

use super::super::StopSignal;
use super::super::process::Cause;
use super::session::RUN;
use super::sieve::Sieve;
use super::watch::{Over, Watch};
use super::{Connection, RemoteError};

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
    /// Everything it printed to stdout.
    pub stdout: Vec<u8>,
    /// Everything it printed to stderr, and after it what the client said of a connection that was lost.
    pub stderr: Vec<u8>,
    /// What the login shell printed on the way to the command; mostly empty.
    pub greeting: Vec<u8>,
    /// From the call to the end.
    pub duration: Duration,
    /// Whether something it started still held an output open; what that prints is not kept.
    pub left_open: bool,
}

impl Connection {
    /// Runs a command to its end; `output` gets text as it comes, on this thread.
    ///
    /// # Errors
    /// The client could not be started, and so nothing was sent.
    pub fn run(
        &self,
        command: &RemoteCommand<'_>,
        stop: &StopSignal,
        output: &dyn Fn(Stream, &str),
    ) -> Result<RemoteFinished, RemoteError> {
        let started = Instant::now();
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
        let streams = Mutex::new([Sieve::once(&session.nonce), Sieve::new(&session.nonce)]);
        let hear = |stream: Stream, text: &str| {
            let mut streams = streams.lock().unwrap_or_else(PoisonError::into_inner);
            let [stdout, stderr] = &mut *streams;
            let sieve = if stream == Stream::Stdout { stdout } else { stderr };
            let clean = sieve.push(text.as_bytes());
            let group = sieve.report("begin").and_then(|group| group.parse().ok());
            let has_ended = sieve.report("end").is_some();
            drop(streams);
            watch.change(|state| {
                state.group = state.group.or(group);
                state.has_ended |= has_ended;
            });
            if !clean.is_empty() {
                output(stream, &String::from_utf8_lossy(&clean));
            }
        };
        let limits = (None, Some(command.output_limit.saturating_add(SPARE)));
        let (finished, ended) = thread::scope(|scope| {
            let over = Over(&watch);
            let ender = thread::Builder::new()
                .name("ssh-stop".to_owned())
                .spawn_scoped(scope, || self.stand_by(&watch, deadline, stop, &here))
                .map_err(RemoteError::NotStarted)?;
            let finished = self.call(&session, limits, &here, &hear)?;
            drop(over);
            Ok::<_, RemoteError>((finished, ender.join().unwrap_or(None)))
        })?;
        let mut streams = [Sieve::once(&session.nonce), Sieve::new(&session.nonce)];
        let [stdout, stderr] = &mut streams;
        let mut clean =
            [stdout.push(finished.stdout.bytes()), stderr.push(finished.stderr.bytes())];
        let [out, err] = &mut clean;
        out.extend(stdout.end());
        err.extend(stderr.end());
        let ended = match finished.cause {
            Cause::TooMuch(stream) => {
                let group = stderr.report("begin").or(stdout.report("begin"));
                let group = group.and_then(|group| group.parse().ok());
                let is_confirmed = group.is_some_and(|group| self.end_group(group));
                Some((RemoteStop::TooMuch(stream), is_confirmed))
            }
            _ => ended,
        };
        let greeting = [stdout.before(), stderr.before()].concat();
        let end = match ended {
            Some((stop, true)) => RemoteEnd::Ended(stop),
            Some((stop, false)) => RemoteEnd::Unknown { stop: Some(stop), said: self.loss() },
            None => self.judge(stderr, finished.exit_code, &greeting),
        };
        let [mut stdout, mut stderr] = clean;
        let limit = usize::try_from(command.output_limit).unwrap_or(usize::MAX);
        stdout.truncate(limit);
        stderr.truncate(limit);
        let left_open = finished.left_open || watch.left_open.load(Ordering::SeqCst);
        Ok(RemoteFinished { end, stdout, stderr, greeting, duration: started.elapsed(), left_open })
    }

    /// How a command that nobody ended came to its end.
    fn judge(&self, stderr: &Sieve, exit_code: Option<i32>, greeting: &[u8]) -> RemoteEnd {
        if let Some(status) = stderr.report("end").and_then(|status| status.parse::<i32>().ok()) {
            return match status.checked_sub(128) {
                Some(signal) if signal > 0 && was_signalled(stderr) => RemoteEnd::Signalled(signal),
                _ => RemoteEnd::Exited(status),
            };
        }
        let has_begun = stderr.report("begin").is_some();
        // 255 is the client's own word for a session that broke off.
        if !has_begun && exit_code.is_some_and(|code| code != 255) {
            let said = String::from_utf8_lossy(greeting).trim().to_owned();
            let code = exit_code.filter(|code| *code != NOT_BEGUN);
            let code = code.map_or_else(String::new, |code| format!(" (exit code {code})"));
            return RemoteEnd::NotBegun(format!("{said}{code}").trim().to_owned());
        }
        RemoteEnd::Unknown { stop: None, said: self.loss() }
    }

    /// What is known of a session that broke off.
    fn loss(&self) -> String {
        if self.master.is_lost_after(LOSS) {
            let said = self.master.said();
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

/// Whether the host's shell says in its list of jobs that a signal ended the command.
fn was_signalled(stderr: &Sieve) -> bool {
    let states = stderr.reports().iter().filter(|it| it.kind == "job");
    let state = |value: &str| {
        let rest = value.split_once(']').map_or(value, |(_, rest)| rest);
        rest.trim_start_matches(['+', '-', ' ']).to_owned()
    };
    let last = states
        .map(|it| state(&it.value))
        .rfind(|it| !it.is_empty() && !it.starts_with("Stopped") && !it.starts_with("Running"));
    last.is_some_and(|state| !state.starts_with("Exit") && !state.starts_with("Done"))
}

impl RemoteFinished {
    fn not_begun(why: String) -> Self {
        Self {
            end: RemoteEnd::NotBegun(why),
            stdout: Vec::new(),
            stderr: Vec::new(),
            greeting: Vec::new(),
            duration: Duration::ZERO,
            left_open: false,
        }
    }
}
