//! Supervises one program from start to exit: forwards its output, and ends it on a stop, at the timeout,
//! when an output exceeds its limit, or when its output cannot be recorded.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::output_queue::{Mail, OutputQueue};
use super::running::Running;
use super::{Cause, Finished, GRACE, Leftovers, ProcessIo, Program};
use crate::run::{Decoder, Stream, StreamEnds};

/// How long outputs are still read after the program has exited, while its descendants hold them open.
const DRAIN: Duration = Duration::from_secs(2);

/// An output that is kept in memory.
pub(super) trait Keep: Default {
    /// Adds the next bytes.
    fn keep(&mut self, bytes: &[u8]);
}

/// Keeps the whole output.
impl Keep for Vec<u8> {
    fn keep(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Keeps the beginning and the end of an output that a capture records whole.
impl Keep for StreamEnds {
    fn keep(&mut self, bytes: &[u8]) {
        self.push(bytes);
    }
}

/// Starts a program and supervises it until it has ended. After the time `quiet_after` without output the
/// capture is notified.
pub(super) fn supervise<K: Keep>(
    program: &Program<'_>,
    io: ProcessIo<'_>,
    quiet_after: Duration,
) -> io::Result<Finished<K>> {
    let queue = Arc::new(OutputQueue::default());
    let wake: Arc<dyn Fn() + Send + Sync> = {
        let queue = Arc::clone(&queue);
        Arc::new(move || queue.wake())
    };
    io.stop.listen(&wake);
    let started = Instant::now();
    let running = Running::start(program, queue)?;
    let mut watch = Watch {
        running,
        io,
        quiet_after,
        cause: None,
        leftovers: program.leftovers,
        seen: (false, false),
        spoke_at: started,
        is_quiet: false,
        stdout: Side::<K>::up_to(program.output_limit),
        stderr: Side::up_to(program.output_limit),
    };
    let phase = watch.follow(started.checked_add(program.timeout));
    let left_open = phase == Phase::LeftOpen;
    if program.leftovers == Leftovers::End {
        watch.running.kill();
    }
    watch.flush();
    let status = watch.running.reap();
    Ok(Finished {
        cause: watch.cause,
        exit_code: status.and_then(|status| status.code()),
        signal: status.as_ref().and_then(ExitStatusExt::signal),
        duration: started.elapsed(),
        stdout: watch.stdout.kept,
        stderr: watch.stderr.kept,
        left_open,
        walls: watch.running.walls(),
    })
}

/// The phase of a supervised program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The program runs, until this deadline if there is one.
    Runs(Option<Instant>),
    /// SIGTERM was sent; at this time the program is killed.
    Asked(Instant),
    /// SIGKILL was sent. At this time the wait ends even if the kernel has not released the process.
    Killed(Instant),
    /// The program has exited by itself; its outputs are read until this time.
    Drains(Instant),
    /// The program has exited, and all its output was read.
    Ended,
    /// The wait has ended while an output was still open or a killed process was not released.
    LeftOpen,
}

/// One output of a running program.
struct Side<K> {
    kept: K,
    decoder: Decoder,
    /// The number of bytes that are still accepted.
    room: u64,
}

impl<K: Keep> Side<K> {
    fn up_to(limit: u64) -> Self {
        Self { kept: K::default(), decoder: Decoder::default(), room: limit }
    }
}

/// A running program, and the state of its supervision.
struct Watch<'a, K> {
    running: Running,
    io: ProcessIo<'a>,
    quiet_after: Duration,
    cause: Option<Cause>,
    leftovers: Leftovers,
    /// The last seen values of (exited, outputs closed).
    seen: (bool, bool),
    /// Time of the last output, or of the start.
    spoke_at: Instant,
    /// Whether the capture was notified of the current silence.
    is_quiet: bool,
    stdout: Side<K>,
    stderr: Side<K>,
}

impl<K: Keep> Watch<'_, K> {
    /// Handles events until the program has ended.
    fn follow(&mut self, deadline: Option<Instant>) -> Phase {
        let mut phase = Phase::Runs(deadline);
        while !matches!(phase, Phase::Ended | Phase::LeftOpen) {
            let mail = self.wait(phase);
            self.notice_quiet(phase, &mail);
            let too_much = self.take(&mail);
            phase = self.next(phase, &mail, too_much);
        }
        phase
    }

    /// Sleeps until something happens that matters in this phase, or until the phase's deadline.
    fn wait(&mut self, phase: Phase) -> Mail {
        let until = match phase {
            Phase::Runs(until) => [until, self.quiet_at()].into_iter().flatten().min(),
            Phase::Asked(until) | Phase::Killed(until) | Phase::Drains(until) => Some(until),
            Phase::Ended | Phase::LeftOpen => Some(Instant::now()),
        };
        let may_stop = matches!(phase, Phase::Runs(_) | Phase::Drains(_));
        let seen = self.seen;
        let mail = self.running.queue.take(until, |exited, closed| {
            (may_stop && self.io.stop.is_set()) || (exited, closed) != seen
        });
        self.seen = (mail.exited, mail.closed);
        mail
    }

    /// When to notify the capture of a silence; `None` when it was notified already.
    fn quiet_at(&self) -> Option<Instant> {
        if self.is_quiet { None } else { self.spoke_at.checked_add(self.quiet_after) }
    }

    fn notice_quiet(&mut self, phase: Phase, mail: &Mail) {
        let now = Instant::now();
        if !mail.chunks.is_empty() {
            (self.spoke_at, self.is_quiet) = (now, false);
        } else if matches!(phase, Phase::Runs(_))
            && !mail.exited
            && self.quiet_at().is_some_and(|at| now >= at)
        {
            self.is_quiet = true;
            self.io.capture.quiet(now - self.spoke_at);
        }
    }

    /// The phase that follows after these events. Ends or kills the program where the transition requires it.
    fn next(&mut self, phase: Phase, mail: &Mail, too_much: Option<Cause>) -> Phase {
        let now = Instant::now();
        let is_done = mail.exited && mail.closed;
        match (phase, too_much) {
            (Phase::Runs(_) | Phase::Drains(_), too_much) if is_done => {
                // The last output exceeded the limit or could not be recorded, or the program was to be ended
                // before.
                self.cause = too_much.or(self.cause);
                Phase::Ended
            }
            (Phase::Runs(_) | Phase::Drains(_), _) if self.io.stop.is_set() => {
                self.end(Cause::Stopped)
            }
            (Phase::Runs(_) | Phase::Drains(_), Some(cause)) => self.end(cause),
            (Phase::Runs(_), None) if mail.exited => {
                if self.leftovers == Leftovers::End {
                    self.running.kill();
                }
                Phase::Drains(Instant::now() + DRAIN)
            }
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

    /// Sends SIGTERM to the program and to all its descendants.
    fn end(&mut self, cause: Cause) -> Phase {
        self.cause.get_or_insert(cause);
        self.running.ask_to_end();
        Phase::Asked(Instant::now() + GRACE)
    }

    /// Forwards and keeps the new output. Returns a cause if the program must be ended: an output exceeds its
    /// limit, or the output cannot be recorded.
    fn take(&mut self, mail: &Mail) -> Option<Cause> {
        let mut cause = None;
        for (stream, bytes) in &mail.chunks {
            let ProcessIo { output, capture, .. } = self.io;
            let has_failed = self.cause == Some(Cause::NotKept);
            let side = self.side(*stream);
            let room = usize::try_from(side.room).unwrap_or(usize::MAX);
            let fits = bytes.get(..room).unwrap_or(bytes);
            side.room -= fits.len() as u64;
            side.kept.keep(fits);
            let text = side.decoder.push(fits);
            if !text.is_empty() {
                output(*stream, &text);
            }
            if fits.len() < bytes.len() {
                cause = cause.or(Some(Cause::TooMuch(*stream)));
            }
            // A capture that has failed gets no more bytes.
            if !has_failed && !capture.keep(*stream, fits) {
                self.cause = Some(Cause::NotKept);
                return self.cause;
            }
        }
        cause
    }

    /// Forwards an incomplete UTF-8 sequence at the end of an output.
    fn flush(&mut self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let rest = self.side(stream).decoder.end();
            if !rest.is_empty() {
                (self.io.output)(stream, rest);
            }
        }
    }

    fn side(&mut self, stream: Stream) -> &mut Side<K> {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }
}
