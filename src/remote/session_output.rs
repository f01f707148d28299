//! Handles the output of a session as it arrives: removes the wrapper's reports, and forwards the command's
//! output.

use std::cell::RefCell;
use std::time::Duration;

use crate::run::{Decoder, Stream, StreamEnds};

use super::frame_parser::FrameParser;
use super::watch::Watch;
use crate::process::{Capture, ProcessIo};

/// Receives the output of one session.
pub(super) struct SessionOutput<'a> {
    state: RefCell<State>,
    io: ProcessIo<'a>,
    watch: &'a Watch,
}

struct State {
    stdout: Side,
    stderr: Side,
    /// The output that reached its limit.
    full: Option<Stream>,
}

/// One output of the command.
struct Side {
    frames: FrameParser,
    decoder: Decoder,
    ends: StreamEnds,
    /// The number of bytes left until the limit.
    room: u64,
}

impl Side {
    fn new(frames: FrameParser, room: u64) -> Self {
        Self { frames, decoder: Decoder::default(), ends: StreamEnds::default(), room }
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
    pub(super) end: Option<i32>,
    /// Whether the host's shell reported that a signal ended it.
    pub(super) was_signalled: bool,
    /// The output that reached its limit.
    pub(super) full: Option<Stream>,
}

impl<'a> SessionOutput<'a> {
    /// A receiver for a session whose reports begin with this nonce. `limit` is the maximum size in bytes of
    /// each output of the command.
    pub(super) fn new(nonce: &str, limit: u64, io: ProcessIo<'a>, watch: &'a Watch) -> Self {
        let state = State {
            stdout: Side::new(FrameParser::once(nonce), limit),
            stderr: Side::new(FrameParser::new(nonce), limit),
            full: None,
        };
        Self { state: RefCell::new(state), io, watch }
    }

    /// Forwards the bytes that were held back, and returns the reports and the output of the session.
    pub(super) fn end(&self) -> SessionReport {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let rest = self.state.borrow_mut().side(stream).frames.end();
            // The result is ignored: an error of the capture is reported when the step is recorded.
            self.hand_on(stream, &rest);
            let mut state = self.state.borrow_mut();
            let text = state.side(stream).decoder.end().to_owned();
            drop(state);
            if !text.is_empty() {
                (self.io.output)(stream, &text);
            }
        }
        let mut state = self.state.borrow_mut();
        let begun = state.stderr.frames.report("begin").or(state.stdout.frames.report("begin"));
        let greeting = [state.stdout.frames.before(), state.stderr.frames.before()].concat();
        SessionReport {
            greeting,
            group: begun.and_then(|group| group.parse().ok()),
            end: state.stderr.frames.report("end").and_then(|status| status.parse().ok()),
            was_signalled: was_signalled(&state.stderr.frames),
            full: state.full,
            stdout: std::mem::take(&mut state.stdout.ends),
            stderr: std::mem::take(&mut state.stderr.ends),
        }
    }

    /// Forwards output of the command. False when the limit is exceeded or the bytes cannot be recorded.
    fn hand_on(&self, stream: Stream, clean: &[u8]) -> bool {
        let mut state = self.state.borrow_mut();
        let side = state.side(stream);
        let room = usize::try_from(side.room).unwrap_or(usize::MAX);
        let fits = clean.get(..room).unwrap_or(clean);
        side.room -= fits.len() as u64;
        side.ends.push(fits);
        let text = side.decoder.push(fits).into_owned();
        let is_full = fits.len() < clean.len();
        if is_full {
            state.full.get_or_insert(stream);
        }
        drop(state);
        if !text.is_empty() {
            (self.io.output)(stream, &text);
        }
        let is_kept = fits.is_empty() || self.io.capture.keep(stream, fits);
        is_kept && !is_full
    }
}

impl State {
    fn side(&mut self, stream: Stream) -> &mut Side {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }
}

impl Capture for SessionOutput<'_> {
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool {
        let mut state = self.state.borrow_mut();
        let frames = &mut state.side(stream).frames;
        let clean = frames.push(bytes);
        let group = frames.report("begin").and_then(|group| group.parse().ok());
        let has_ended = frames.report("end").is_some();
        drop(state);
        self.watch.change(|state| {
            state.group = state.group.or(group);
            state.has_ended |= has_ended;
        });
        self.hand_on(stream, &clean)
    }

    fn quiet(&self, so_far: Duration) {
        self.io.capture.quiet(so_far);
    }
}

/// Whether the host's shell reported in its list of jobs that a signal ended the command.
fn was_signalled(stderr: &FrameParser) -> bool {
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
