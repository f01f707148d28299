//! Processes the output of a session as it arrives: extracts the wrapper's reports, and forwards the output of the
//! command.

use std::cell::RefCell;
use std::time::Duration;

use super::frame_parser::FrameParser;
use super::monitor::SessionMonitor;
use crate::process::{Capture, HiddenTexts, OutputFilter, ProcessIo};
use crate::run::{Decoder, Stream, StreamEnds};

/// Receives the output of one session.
pub(super) struct SessionOutput<'a> {
    state: RefCell<State<'a>>,
    io: ProcessIo<'a>,
    monitor: &'a SessionMonitor,
}

struct State<'a> {
    stdout: Output<'a>,
    stderr: Output<'a>,
    /// The first output that exceeded its limit.
    exceeded: Option<Stream>,
}

/// One output of the command.
struct Output<'a> {
    frames: FrameParser,
    filter: OutputFilter<'a>,
    decoder: Decoder,
    ends: StreamEnds,
    /// The number of bytes that are still accepted.
    remaining: u64,
}

impl<'a> Output<'a> {
    fn new(frames: FrameParser, limit: u64, hidden: &'a HiddenTexts) -> Self {
        let filter = hidden.filter();
        Self {
            frames,
            filter,
            decoder: Decoder::default(),
            ends: StreamEnds::default(),
            remaining: limit,
        }
    }
}

/// The reports and output of a session that is over.
pub(super) struct SessionReport {
    pub(super) stdout: StreamEnds,
    pub(super) stderr: StreamEnds,
    /// The output of the login shell before the command began.
    pub(super) greeting: Vec<u8>,
    /// The process group of the command, if it has begun.
    pub(super) group: Option<u32>,
    /// The exit status of the command, as the wrapper reported it.
    pub(super) exit_status: Option<i32>,
    /// Whether the wrapper reported that a signal ended the command. In a terminal it cannot know.
    pub(super) was_signalled: bool,
    /// The first output that exceeded its limit.
    pub(super) exceeded: Option<Stream>,
}

impl<'a> SessionOutput<'a> {
    /// A receiver for a session whose reports begin with this nonce. `limit` is the maximum size in bytes of
    /// each output of the command. A session with a terminal has one output with all reports.
    pub(super) fn new(
        nonce: &str,
        is_terminal: bool,
        limit: u64,
        io: ProcessIo<'a>,
        monitor: &'a SessionMonitor,
    ) -> Self {
        let state = State {
            stdout: Output::new(
                if is_terminal { FrameParser::new(nonce) } else { FrameParser::once(nonce) },
                limit,
                io.hidden,
            ),
            stderr: Output::new(FrameParser::new(nonce), limit, io.hidden),
            exceeded: None,
        };
        Self { state: RefCell::new(state), io, monitor }
    }

    /// Ends the session: forwards the bytes that were held back, and returns the reports and the output.
    pub(super) fn end(&self) -> SessionReport {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let rest = self.state.borrow_mut().output(stream).frames.end();
            // The result is ignored: an error of the capture is reported when the step is recorded.
            self.forward(stream, &rest);
            let mut state = self.state.borrow_mut();
            let ended = state.stderr.frames.report("end").or(state.stdout.frames.report("end"));
            let was_cut = ended.is_none() || state.exceeded.is_some();
            let held = state.output(stream).filter.end(was_cut);
            drop(state);
            self.show(stream, &held);
            let mut state = self.state.borrow_mut();
            let text = state.output(stream).decoder.end().to_owned();
            drop(state);
            if !text.is_empty() {
                (self.io.output)(stream, &text);
            }
        }
        let mut state = self.state.borrow_mut();
        let begun = state.stderr.frames.report("begin").or(state.stdout.frames.report("begin"));
        let ended = state.stderr.frames.report("end").or(state.stdout.frames.report("end"));
        let greeting = [state.stdout.frames.before(), state.stderr.frames.before()].concat();
        SessionReport {
            greeting,
            group: begun.and_then(|group| group.parse().ok()),
            exit_status: ended.and_then(|status| status.parse().ok()),
            was_signalled: was_signalled(&state.stderr.frames),
            exceeded: state.exceeded,
            stdout: std::mem::take(&mut state.stdout.ends),
            stderr: std::mem::take(&mut state.stderr.ends),
        }
    }

    /// Forwards output of the command. False if the output exceeds its limit or the bytes cannot be recorded.
    fn forward(&self, stream: Stream, clean: &[u8]) -> bool {
        let mut state = self.state.borrow_mut();
        let output = state.output(stream);
        let remaining = usize::try_from(output.remaining).unwrap_or(usize::MAX);
        let fits = clean.get(..remaining).unwrap_or(clean);
        output.remaining -= fits.len() as u64;
        let shown = output.filter.push(fits);
        let is_exceeded = fits.len() < clean.len();
        if is_exceeded {
            state.exceeded.get_or_insert(stream);
        }
        drop(state);
        self.show(stream, &shown) && !is_exceeded
    }

    /// Passes on what is shown of the output. False if it cannot be recorded.
    fn show(&self, stream: Stream, shown: &[u8]) -> bool {
        let mut state = self.state.borrow_mut();
        let output = state.output(stream);
        output.ends.push(shown);
        let text = output.decoder.push(shown).into_owned();
        drop(state);
        if !text.is_empty() {
            (self.io.output)(stream, &text);
        }
        shown.is_empty() || self.io.capture.keep(stream, shown)
    }
}

impl<'a> State<'a> {
    fn output(&mut self, stream: Stream) -> &mut Output<'a> {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }
}

impl Capture for SessionOutput<'_> {
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool {
        let mut state = self.state.borrow_mut();
        let frames = &mut state.output(stream).frames;
        let clean = frames.push(bytes);
        let group = frames.report("begin").and_then(|group| group.parse().ok());
        let has_ended = frames.report("end").is_some();
        drop(state);
        self.monitor.change(|state| {
            state.group = state.group.or(group);
            state.has_ended |= has_ended;
        });
        self.forward(stream, &clean)
    }

    fn quiet(&self, so_far: Duration) {
        self.io.capture.quiet(so_far);
    }
}

/// Whether a signal ended the command. Decided by the last state in the reported lists of jobs that is not `Stopped` or
/// `Running`: the shell writes `Exit` or `Done` for a command that exited by itself, and the signal otherwise.
fn was_signalled(stderr: &FrameParser) -> bool {
    let jobs = stderr.reports().iter().filter(|it| it.kind == "job");
    // A list looks like `[1]+  Exit 1    command`.
    let state = |value: &str| {
        let rest = value.split_once(']').map_or(value, |(_, rest)| rest);
        rest.trim_start_matches(['+', '-', ' ']).to_owned()
    };
    let last = jobs
        .map(|it| state(&it.value))
        .rfind(|it| !it.is_empty() && !it.starts_with("Stopped") && !it.starts_with("Running"));
    last.is_some_and(|state| !state.starts_with("Exit") && !state.starts_with("Done"))
}
