//! Supervises one program from start to exit: forwards its output, and ends the program on a stop, at the
//! timeout, when an output exceeds its limit, or when its output cannot be recorded.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::hidden::OutputFilter;
use super::output_queue::{OutputQueue, Received};
use super::running::Running;
use super::{Cause, Finished, GRACE, HiddenTexts, Leftovers, ProcessIo, Program};
use crate::run::{Decoder, Stream, StreamEnds};

/// How long outputs are still read after the program has exited, while its descendants hold them open.
const DRAIN: Duration = Duration::from_secs(2);

/// An output that is kept in memory.
pub(super) trait KeptOutput: Default {
    /// Adds the next bytes.
    fn append(&mut self, bytes: &[u8]);
}

/// Keeps the complete output.
impl KeptOutput for Vec<u8> {
    fn append(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Keeps the beginning and the end of an output that a capture records completely.
impl KeptOutput for StreamEnds {
    fn append(&mut self, bytes: &[u8]) {
        self.push(bytes);
    }
}

/// Starts a program and supervises it until it has ended. The capture is notified after the time `quiet_after`
/// without output.
pub(super) fn supervise<K: KeptOutput>(
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
    let mut supervisor = Supervisor {
        running,
        io,
        quiet_after,
        cause: None,
        leftovers: program.leftovers,
        last_seen: (false, false),
        last_output_at: started,
        is_quiet: false,
        stdout: Output::<K>::with_limit(program.output_limit, io.hidden),
        stderr: Output::with_limit(program.output_limit, io.hidden),
    };
    let phase = supervisor.run(started.checked_add(program.timeout));
    let left_open = phase == Phase::LeftOpen;
    if program.leftovers == Leftovers::End {
        supervisor.running.kill();
    }
    supervisor.flush(left_open);
    let status = supervisor.running.reap();
    Ok(Finished {
        cause: supervisor.cause,
        exit_code: status.and_then(|status| status.code()),
        signal: status.as_ref().and_then(ExitStatusExt::signal),
        duration: started.elapsed(),
        stdout: supervisor.stdout.kept,
        stderr: supervisor.stderr.kept,
        left_open,
        walls: supervisor.running.walls(),
    })
}

/// The phase of a supervised program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The program runs, until this deadline if there is one.
    Runs(Option<Instant>),
    /// SIGTERM was sent; at this time the program is killed.
    Terminating(Instant),
    /// SIGKILL was sent; at this time the wait ends even if a process still exists.
    Killed(Instant),
    /// The program has exited by itself; its outputs are read until this time.
    Drains(Instant),
    /// The program has exited, and all its output was read.
    Ended,
    /// The wait has ended while an output was still open or a killed process was not released.
    LeftOpen,
}

/// One output of a running program.
struct Output<'a, K> {
    kept: K,
    filter: OutputFilter<'a>,
    decoder: Decoder,
    /// The number of bytes that are still accepted.
    remaining: u64,
}

impl<'a, K: KeptOutput> Output<'a, K> {
    fn with_limit(limit: u64, hidden: &'a HiddenTexts) -> Self {
        let (kept, decoder) = (K::default(), Decoder::default());
        Self { kept, filter: hidden.filter(), decoder, remaining: limit }
    }
}

/// A running program, and the state of its supervision.
struct Supervisor<'a, K> {
    running: Running,
    io: ProcessIo<'a>,
    quiet_after: Duration,
    cause: Option<Cause>,
    leftovers: Leftovers,
    /// Whether the child had exited and whether its outputs were closed, when the queue was last read.
    last_seen: (bool, bool),
    /// The time of the last output, or of the start.
    last_output_at: Instant,
    /// Whether the capture was notified of the current silence.
    is_quiet: bool,
    stdout: Output<'a, K>,
    stderr: Output<'a, K>,
}

impl<'a, K: KeptOutput> Supervisor<'a, K> {
    /// Handles events until the program has ended. Returns [`Phase::Ended`] or [`Phase::LeftOpen`].
    fn run(&mut self, deadline: Option<Instant>) -> Phase {
        let mut phase = Phase::Runs(deadline);
        while !matches!(phase, Phase::Ended | Phase::LeftOpen) {
            let received = self.wait(phase);
            self.notify_quiet(phase, &received);
            let cause = self.forward(&received);
            phase = self.next_phase(phase, &received, cause);
        }
        phase
    }

    /// Sleeps until there is output or an event that can change this phase, or until the phase's deadline.
    fn wait(&mut self, phase: Phase) -> Received {
        let until = match phase {
            Phase::Runs(until) => [until, self.quiet_at()].into_iter().flatten().min(),
            Phase::Terminating(until) | Phase::Killed(until) | Phase::Drains(until) => Some(until),
            Phase::Ended | Phase::LeftOpen => Some(Instant::now()),
        };
        let may_stop = matches!(phase, Phase::Runs(_) | Phase::Drains(_));
        let last_seen = self.last_seen;
        let received = self.running.queue.take(until, |exited, closed| {
            (may_stop && self.io.stop.is_set()) || (exited, closed) != last_seen
        });
        self.last_seen = (received.exited, received.closed);
        received
    }

    /// When to notify the capture of the current silence; `None` when it was notified already.
    fn quiet_at(&self) -> Option<Instant> {
        if self.is_quiet { None } else { self.last_output_at.checked_add(self.quiet_after) }
    }

    fn notify_quiet(&mut self, phase: Phase, received: &Received) {
        let now = Instant::now();
        if !received.chunks.is_empty() {
            (self.last_output_at, self.is_quiet) = (now, false);
        } else if matches!(phase, Phase::Runs(_))
            && !received.exited
            && self.quiet_at().is_some_and(|at| now >= at)
        {
            self.is_quiet = true;
            self.io.capture.quiet(now - self.last_output_at);
        }
    }

    /// The phase after these events; `cause` is the result of [`Self::forward`]. Terminates or kills the program
    /// where the transition requires it.
    fn next_phase(&mut self, phase: Phase, received: &Received, cause: Option<Cause>) -> Phase {
        let now = Instant::now();
        let is_done = received.exited && received.closed;
        match (phase, cause) {
            (Phase::Runs(_) | Phase::Drains(_), cause) if is_done => {
                // The last output may have exceeded its limit, or could not be recorded.
                self.cause = cause.or(self.cause);
                Phase::Ended
            }
            (Phase::Runs(_) | Phase::Drains(_), _) if self.io.stop.is_set() => {
                self.terminate(Cause::Stopped)
            }
            (Phase::Runs(_) | Phase::Drains(_), Some(cause)) => self.terminate(cause),
            (Phase::Runs(_), None) if received.exited => {
                if self.leftovers == Leftovers::End {
                    self.running.kill();
                }
                Phase::Drains(Instant::now() + DRAIN)
            }
            (Phase::Runs(Some(until)), None) if now >= until => self.terminate(Cause::TimedOut),
            (Phase::Drains(until), None) if now >= until => Phase::LeftOpen,
            (Phase::Terminating(until), _)
                if is_done && self.running.tree.wait_until_gone(until) =>
            {
                Phase::Ended
            }
            (Phase::Terminating(until), _) if is_done || now >= until => {
                self.running.kill();
                Phase::Killed(Instant::now() + GRACE)
            }
            (Phase::Killed(_), _) if is_done => Phase::Ended,
            (Phase::Killed(until), _) if now >= until => Phase::LeftOpen,
            _ => phase,
        }
    }

    /// Sends SIGTERM to the program and to all its descendants, and notes the first cause.
    fn terminate(&mut self, cause: Cause) -> Phase {
        self.cause.get_or_insert(cause);
        self.running.terminate();
        Phase::Terminating(Instant::now() + GRACE)
    }

    /// Forwards and keeps the new output. Returns a cause if the program must be ended: an output exceeds its
    /// limit, or the output cannot be recorded.
    fn forward(&mut self, received: &Received) -> Option<Cause> {
        let mut cause = None;
        for (stream, bytes) in &received.chunks {
            let ProcessIo { output, capture, .. } = self.io;
            let has_failed = self.cause == Some(Cause::NotKept);
            let target = self.output_of(*stream);
            let remaining = usize::try_from(target.remaining).unwrap_or(usize::MAX);
            let fits = bytes.get(..remaining).unwrap_or(bytes);
            target.remaining -= fits.len() as u64;
            let shown = target.filter.push(fits);
            target.kept.append(&shown);
            let text = target.decoder.push(&shown);
            if !text.is_empty() {
                output(*stream, &text);
            }
            if fits.len() < bytes.len() {
                cause = cause.or(Some(Cause::TooMuch(*stream)));
            }
            // A capture that has failed gets no more bytes.
            if !has_failed && !shown.is_empty() && !capture.keep(*stream, &shown) {
                self.cause = Some(Cause::NotKept);
                return self.cause;
            }
        }
        cause
    }

    /// Forwards what the filters and the decoders have held back: the beginning of a text that would have been hidden, and an
    /// incomplete UTF-8 sequence at the end of an output.
    fn flush(&mut self, left_open: bool) {
        let was_cut = left_open || self.cause.is_some();
        for stream in [Stream::Stdout, Stream::Stderr] {
            let held = self.output_of(stream).filter.end(was_cut);
            if !held.is_empty() {
                let target = self.output_of(stream);
                target.kept.append(&held);
                let text = target.decoder.push(&held).into_owned();
                (self.io.output)(stream, &text);
                if self.cause != Some(Cause::NotKept) && !self.io.capture.keep(stream, &held) {
                    self.cause = Some(Cause::NotKept);
                }
            }
            let rest = self.output_of(stream).decoder.end();
            if !rest.is_empty() {
                (self.io.output)(stream, rest);
            }
        }
    }

    fn output_of(&mut self, stream: Stream) -> &mut Output<'a, K> {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }
}
