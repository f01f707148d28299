//! Forwards the output of the processes of one step as one output, and passes each line to a parser. The relay holds
//! at most one line of each stream in memory, up to [`LINE_BYTES`].

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use crate::cargo::Cargo;
use crate::process;
use crate::process::{Capture, Finished, ProcessIo, Program, ProgramWalls};
use crate::run::{Decoder, Stream, StreamEnds};
use crate::tools::{Context, Toolbox};

/// Maximum length of a line that is parsed, in bytes; a longer line is forwarded unparsed.
const LINE_BYTES: usize = 16 << 20;

/// The output to forward for a parsed line.
pub(super) enum Forward {
    /// The line itself.
    Unchanged,
    /// This text, on stderr, instead of the line; nothing for `None`.
    Replaced(Option<String>),
}

/// A parser of a program's output.
pub(super) trait OutputParser {
    /// Whether the lines of this stream are held back until they are complete. Only such lines can be replaced;
    /// others are forwarded at once, whatever [`Self::parse_line`] returns.
    fn holds_back(&self, stream: Stream) -> bool;

    /// Parses the next line, without its line break.
    fn parse_line(&mut self, stream: Stream, line: &[u8]) -> Forward;
}

/// Parses nothing, and forwards the output at once.
pub(super) struct NoParser;

impl OutputParser for NoParser {
    fn holds_back(&self, _: Stream) -> bool {
        false
    }

    fn parse_line(&mut self, _: Stream, _: &[u8]) -> Forward {
        Forward::Unchanged
    }
}

/// Forwards the output of all processes of a step.
pub(super) struct Relay<'a> {
    pub(super) toolbox: &'a Toolbox,
    pub(super) context: &'a Context<'a>,
    /// The states of stdout and stderr.
    streams: [RefCell<StreamState>; 2],
}

#[derive(Default)]
struct StreamState {
    ends: StreamEnds,
    decoder: Decoder,
    /// The incomplete line; empty if it is too long.
    pending: Vec<u8>,
    /// Whether the incomplete line is too long to parse.
    too_long: bool,
}

/// The relay for one process, with the parser of its output.
struct ProcessRelay<'r, 'a, 'p> {
    relay: &'r Relay<'a>,
    parser: RefCell<&'p mut dyn OutputParser>,
}

impl<'a> Relay<'a> {
    pub(super) fn new(toolbox: &'a Toolbox, context: &'a Context<'a>) -> Self {
        Self { toolbox, context, streams: Default::default() }
    }

    /// The walls of the processes of this step.
    pub(super) fn behind(&self) -> ProgramWalls<'_> {
        self.toolbox.behind(self.context)
    }

    /// The runner of cargo for this step.
    pub(super) fn cargo(&self) -> Cargo<'a> {
        self.toolbox.cargo(self.context)
    }

    /// Runs a program until it ends, and forwards its output through the parser.
    ///
    /// # Errors
    /// The system's error when the program cannot be started.
    pub(super) fn run(
        &self,
        program: &Program<'_>,
        parser: &mut dyn OutputParser,
    ) -> io::Result<Finished<StreamEnds>> {
        let process = ProcessRelay { relay: self, parser: RefCell::new(parser) };
        let io = ProcessIo { output: &|_, _| {}, capture: &process, ..self.context.io() };
        let finished = process::stream(program, io)?;
        for stream in [Stream::Stdout, Stream::Stderr] {
            process.end(stream);
        }
        Ok(finished)
    }

    /// The ends of both outputs, for the result of the step.
    pub(super) fn ends(self) -> [StreamEnds; 2] {
        self.streams.map(|state| state.into_inner().ends)
    }

    fn state(&self, stream: Stream) -> &RefCell<StreamState> {
        let [stdout, stderr] = &self.streams;
        match stream {
            Stream::Stdout => stdout,
            Stream::Stderr => stderr,
        }
    }

    /// Forwards bytes. Returns false if they cannot be recorded.
    fn forward(&self, stream: Stream, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        let mut state = self.state(stream).borrow_mut();
        state.ends.push(bytes);
        let text = state.decoder.push(bytes);
        if !text.is_empty() {
            (self.context.output)(stream, &text);
        }
        self.context.capture.keep(stream, bytes)
    }
}

impl ProcessRelay<'_, '_, '_> {
    /// Adds bytes to the pending line, or marks the line as too long.
    fn append(&self, stream: Stream, piece: &[u8]) {
        let mut state = self.relay.state(stream).borrow_mut();
        state.too_long |= state.pending.len() + piece.len() > LINE_BYTES;
        if !state.too_long {
            state.pending.extend_from_slice(piece);
        }
    }

    /// Parses the complete line, and forwards it or its replacement if it was held back. A line that is too long
    /// was forwarded before. Returns false if the text cannot be recorded.
    fn finish_line(&self, stream: Stream, is_held: bool, ending: &[u8]) -> bool {
        let (line, is_parsed) = {
            let mut state = self.relay.state(stream).borrow_mut();
            (std::mem::take(&mut state.pending), !std::mem::take(&mut state.too_long))
        };
        let text = line.strip_suffix(b"\r").unwrap_or(&line);
        let forward = match is_parsed {
            true => self.parser.borrow_mut().parse_line(stream, text),
            false => Forward::Unchanged,
        };
        match forward {
            Forward::Unchanged if is_held => {
                self.relay.forward(stream, &line) && self.relay.forward(stream, ending)
            }
            Forward::Replaced(Some(text)) => self.relay.forward(Stream::Stderr, text.as_bytes()),
            Forward::Unchanged | Forward::Replaced(None) => true,
        }
    }

    /// Forwards the rest of the output: a last line without a line break, and an incomplete character.
    fn end(&self, stream: Stream) {
        let is_held = self.parser.borrow().holds_back(stream);
        let is_empty = self.relay.state(stream).borrow().pending.is_empty();
        if !is_empty {
            self.finish_line(stream, is_held, b"");
        }
        let rest = self.relay.state(stream).borrow_mut().decoder.end();
        if !rest.is_empty() {
            (self.relay.context.output)(stream, rest);
        }
    }
}

impl Capture for ProcessRelay<'_, '_, '_> {
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool {
        let is_held = self.parser.borrow().holds_back(stream);
        if !is_held && !self.relay.forward(stream, bytes) {
            return false;
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ending) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, &b"\n"[..]),
                None => (piece, &b""[..]),
            };
            let was_too_long = self.relay.state(stream).borrow().too_long;
            self.append(stream, text);
            if is_held && !self.forward_long_line(stream, was_too_long, text) {
                return false;
            }
            if !ending.is_empty() && !self.finish_line(stream, is_held, ending) {
                return false;
            }
        }
        true
    }

    fn quiet(&self, so_far: Duration) {
        self.relay.context.capture.quiet(so_far);
    }
}

impl ProcessRelay<'_, '_, '_> {
    /// Forwards a line that was held back and is now too long to parse; does nothing for other lines. Returns false if
    /// the line cannot be recorded.
    fn forward_long_line(&self, stream: Stream, was_too_long: bool, piece: &[u8]) -> bool {
        let held = {
            let mut state = self.relay.state(stream).borrow_mut();
            if !state.too_long {
                return true;
            }
            std::mem::take(&mut state.pending)
        };
        let held = if was_too_long { Vec::new() } else { held };
        self.relay.forward(stream, &held) && self.relay.forward(stream, piece)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use uuid::Uuid;

    use super::super::cargo::MessageParser;
    use super::*;
    use crate::process::NoCapture;
    use crate::run::StopSignal;

    /// The forwarded output for these bytes, which are received in pieces of this size.
    fn relayed(bytes: &[u8], piece: usize, parser: &mut dyn OutputParser) -> [String; 2] {
        let printed = RefCell::new([String::new(), String::new()]);
        let (expected, stop) = (BTreeMap::new(), StopSignal::default());
        let context = Context {
            expected: &expected,
            stop: &stop,
            execution_id: Uuid::nil(),
            output: &|stream, text| {
                printed.borrow_mut()[usize::from(stream == Stream::Stderr)].push_str(text)
            },
            capture: &NoCapture,
            walls: crate::authorization::StepWalls::NONE,
            terminal: None,
        };
        let folder = tempfile::tempdir().unwrap();
        let toolbox = Toolbox::open(folder.path(), &crate::risk::Policy::default()).unwrap();
        let relay = Relay::new(&toolbox, &context);
        let process = ProcessRelay { relay: &relay, parser: RefCell::new(parser) };
        for piece in bytes.chunks(piece) {
            assert!(process.keep(Stream::Stdout, piece));
        }
        process.end(Stream::Stdout);
        let ends = relay.ends().map(|ends| ends.bytes());
        assert_eq!(ends, printed.borrow().each_ref().map(|text| text.len() as u64));
        printed.into_inner()
    }

    // Diagnostics are replaced by their rendered text; all other output is forwarded in its order.
    #[test]
    fn messages_are_extracted_however_output_is_cut() {
        let message = r#"{"reason":"compiler-message","message":{"message":"m","code":null,"level":"error","spans":[],"children":[],"rendered":"for people\n"}}"#;
        let text = format!(
            "\n{{\"reason\":\"mine\"}}\r\n{message}\nä\n{{\"reason\":\"compiler-artifact\"}}\n{message}"
        );
        for piece in [1, 2, 3, 7, 100, 10_000] {
            let [stdout, stderr] = relayed(text.as_bytes(), piece, &mut MessageParser::default());
            assert_eq!(stdout, "\n{\"reason\":\"mine\"}\r\nä\n", "in pieces of {piece}");
            assert_eq!(stderr, "for people\nfor people\n");
        }
        // Without a parser, an incomplete line is forwarded at once.
        assert_eq!(relayed(b"no end", 1, &mut NoParser)[0], "no end");
    }

    #[test]
    fn unreadable_compiler_message_is_passed_on() {
        let line = "{\"reason\":\"compiler-message\",\"message\":{\"level\":\"error\"}}\n";
        let [stdout, _] = relayed(line.as_bytes(), 100, &mut MessageParser::default());
        assert_eq!(stdout, line);
    }

    #[test]
    fn overlong_line_is_passed_on_whole() {
        let text = format!("{{{}\n{{\"reason\":\"build-finished\"}}\nend", "x".repeat(LINE_BYTES));
        let [stdout, stderr] = relayed(text.as_bytes(), 64 << 10, &mut MessageParser::default());
        assert_eq!(stdout.len(), 1 + LINE_BYTES + 1 + 3);
        assert!(stdout.ends_with("x\nend") && stderr.is_empty());
    }
}
