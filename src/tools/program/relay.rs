//! Forwards the output of the processes of one step as one output, and passes each line to a parser of
//! diagnostics. Memory use is bounded by [`LINE_BYTES`], not by the size of the output.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use crate::process::{self, Behind, Capture, Finished, ProcessIo, Program};
use crate::run::{Decoder, Stream, StreamEnds};
use crate::tools::{Context, Toolbox};

/// Maximum length of a line that is parsed, in bytes; a longer line is forwarded unparsed.
const LINE_BYTES: usize = 16 << 20;

/// The output to forward for a parsed line.
pub(super) enum Forward {
    /// The line is forwarded unchanged.
    AsItIs,
    /// This text is forwarded on stderr, or nothing for `None`, because the line is only for programs.
    Instead(Option<String>),
}

/// A parser of a program's output.
pub(super) trait Reads {
    /// Whether lines of this stream are held back until they are complete, because other text may replace
    /// them. Only such lines can be replaced.
    fn holds(&self, stream: Stream) -> bool;

    /// Parses the next line, without its line break.
    fn line(&mut self, stream: Stream, line: &[u8]) -> Forward;
}

/// A parser that reports nothing and forwards every line.
pub(super) struct Nothing;

impl Reads for Nothing {
    fn holds(&self, _: Stream) -> bool {
        false
    }

    fn line(&mut self, _: Stream, _: &[u8]) -> Forward {
        Forward::AsItIs
    }
}

/// Forwards the output of all processes of a step.
pub(super) struct Relay<'a> {
    pub(super) toolbox: &'a Toolbox,
    context: &'a Context<'a>,
    sides: [RefCell<Side>; 2],
}

#[derive(Default)]
struct Side {
    ends: StreamEnds,
    decoder: Decoder,
    /// The beginning of an incomplete line.
    pending: Vec<u8>,
    /// Whether the line is too long to parse.
    too_long: bool,
}

/// The relay for one process, with its parser.
struct Part<'r, 'a, 'p> {
    relay: &'r Relay<'a>,
    reader: RefCell<&'p mut dyn Reads>,
}

const fn side(stream: Stream) -> usize {
    match stream {
        Stream::Stdout => 0,
        Stream::Stderr => 1,
    }
}

impl<'a> Relay<'a> {
    pub(super) fn new(toolbox: &'a Toolbox, context: &'a Context<'a>) -> Self {
        Self { toolbox, context, sides: Default::default() }
    }

    /// The walls of the processes of the step.
    pub(super) fn behind(&self) -> Behind<'_> {
        self.toolbox.behind(self.context)
    }

    /// Runs a program until it ends, and forwards its output through the parser.
    ///
    /// # Errors
    /// The system's error when the program cannot be started.
    pub(super) fn run(
        &self,
        program: &Program<'_>,
        reader: &mut dyn Reads,
    ) -> io::Result<Finished<StreamEnds>> {
        let part = Part { relay: self, reader: RefCell::new(reader) };
        let io = ProcessIo { output: &|_, _| {}, capture: &part, ..self.context.io() };
        let finished = process::stream(program, io)?;
        for stream in [Stream::Stdout, Stream::Stderr] {
            part.end(stream);
        }
        Ok(finished)
    }

    /// The ends of both outputs, for the result of the step.
    pub(super) fn ends(self) -> [StreamEnds; 2] {
        self.sides.map(|side| side.into_inner().ends)
    }

    fn side(&self, stream: Stream) -> &RefCell<Side> {
        let [stdout, stderr] = &self.sides;
        if side(stream) == 0 { stdout } else { stderr }
    }

    /// Forwards bytes; false when they cannot be recorded.
    fn pass(&self, stream: Stream, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        let mut side = self.side(stream).borrow_mut();
        side.ends.push(bytes);
        let text = side.decoder.push(bytes);
        if !text.is_empty() {
            (self.context.output)(stream, &text);
        }
        self.context.capture.keep(stream, bytes)
    }
}

impl Part<'_, '_, '_> {
    /// Adds bytes to the pending line, or marks the line as too long.
    fn collect(&self, stream: Stream, piece: &[u8]) {
        let mut side = self.relay.side(stream).borrow_mut();
        side.too_long |= side.pending.len() + piece.len() > LINE_BYTES;
        if !side.too_long {
            side.pending.extend_from_slice(piece);
        }
    }

    /// Parses the complete line; false when its text cannot be recorded.
    fn whole(&self, stream: Stream, holds: bool, ending: &[u8]) -> bool {
        let (line, read) = {
            let mut side = self.relay.side(stream).borrow_mut();
            (std::mem::take(&mut side.pending), !std::mem::take(&mut side.too_long))
        };
        let text = line.strip_suffix(b"\r").unwrap_or(&line);
        let heard =
            if read { self.reader.borrow_mut().line(stream, text) } else { Forward::AsItIs };
        match heard {
            Forward::AsItIs if holds => {
                self.relay.pass(stream, &line) && self.relay.pass(stream, ending)
            }
            Forward::Instead(Some(text)) => self.relay.pass(Stream::Stderr, text.as_bytes()),
            Forward::AsItIs | Forward::Instead(None) => true,
        }
    }

    /// Ends the output, including a last line without a line break.
    fn end(&self, stream: Stream) {
        let holds = self.reader.borrow().holds(stream);
        let is_empty = self.relay.side(stream).borrow().pending.is_empty();
        if !is_empty {
            self.whole(stream, holds, b"");
        }
        let rest = self.relay.side(stream).borrow_mut().decoder.end();
        if !rest.is_empty() {
            (self.relay.context.output)(stream, rest);
        }
    }
}

impl Capture for Part<'_, '_, '_> {
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool {
        let holds = self.reader.borrow().holds(stream);
        if !holds && !self.relay.pass(stream, bytes) {
            return false;
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ending) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, &b"\n"[..]),
                None => (piece, &b""[..]),
            };
            let was_too_long = self.relay.side(stream).borrow().too_long;
            self.collect(stream, text);
            if holds && self.gives_up(stream, was_too_long, text).is_some_and(|kept| !kept) {
                return false;
            }
            if !ending.is_empty() && !self.whole(stream, holds, ending) {
                return false;
            }
        }
        true
    }

    fn quiet(&self, so_far: Duration) {
        self.relay.context.capture.quiet(so_far);
    }
}

impl Part<'_, '_, '_> {
    /// Forwards a line that was held back and is now too long to parse; `None` for other lines, false when it
    /// cannot be recorded.
    fn gives_up(&self, stream: Stream, was_too_long: bool, piece: &[u8]) -> Option<bool> {
        let held = {
            let mut side = self.relay.side(stream).borrow_mut();
            if !side.too_long {
                return None;
            }
            std::mem::take(&mut side.pending)
        };
        let held = if was_too_long { Vec::new() } else { held };
        Some(self.relay.pass(stream, &held) && self.relay.pass(stream, piece))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use uuid::Uuid;

    use super::super::cargo::Messages;
    use super::*;
    use crate::process::NoCapture;
    use crate::run::StopSignal;

    /// The output for these bytes, given in pieces of this size.
    fn through(bytes: &[u8], piece: usize, reader: &mut dyn Reads) -> [String; 2] {
        let printed = RefCell::new([String::new(), String::new()]);
        let (expected, stop) = (BTreeMap::new(), StopSignal::default());
        let context = Context {
            expected: &expected,
            stop: &stop,
            execution_id: Uuid::nil(),
            output: &|stream, text| printed.borrow_mut()[side(stream)].push_str(text),
            capture: &NoCapture,
            walls: crate::authorization::StepWalls::NONE,
        };
        let folder = tempfile::tempdir().unwrap();
        let toolbox = Toolbox::open(folder.path(), &crate::risk::Policy::default()).unwrap();
        let relay = Relay::new(&toolbox, &context);
        let part = Part { relay: &relay, reader: RefCell::new(reader) };
        for piece in bytes.chunks(piece) {
            assert!(part.keep(Stream::Stdout, piece));
        }
        part.end(Stream::Stdout);
        let ends = relay.ends().map(|ends| ends.bytes());
        assert_eq!(ends, printed.borrow().each_ref().map(|text| text.len() as u64));
        printed.into_inner()
    }

    // All other output is passed on in its order.
    #[test]
    fn messages_are_extracted_however_output_is_cut() {
        let message = r#"{"reason":"compiler-message","message":{"message":"m","code":null,"level":"error","spans":[],"children":[],"rendered":"for people\n"}}"#;
        let text = format!(
            "\n{{\"reason\":\"mine\"}}\r\n{message}\nä\n{{\"reason\":\"compiler-artifact\"}}\n{message}"
        );
        for piece in [1, 2, 3, 7, 100, 10_000] {
            let [stdout, stderr] = through(text.as_bytes(), piece, &mut Messages::default());
            assert_eq!(stdout, "\n{\"reason\":\"mine\"}\r\nä\n", "in pieces of {piece}");
            assert_eq!(stderr, "for people\nfor people\n");
        }
        // Without a parser, an incomplete line is forwarded at once.
        assert_eq!(through(b"no end", 1, &mut Nothing)[0], "no end");
    }

    #[test]
    fn unreadable_compiler_message_is_passed_on() {
        let line = "{\"reason\":\"compiler-message\",\"message\":{\"level\":\"error\"}}\n";
        let [stdout, _] = through(line.as_bytes(), 100, &mut Messages::default());
        assert_eq!(stdout, line);
    }

    #[test]
    fn overlong_line_is_passed_on_whole() {
        let text = format!("{{{}\n{{\"reason\":\"build-finished\"}}\nend", "x".repeat(LINE_BYTES));
        let [stdout, stderr] = through(text.as_bytes(), 64 << 10, &mut Messages::default());
        assert_eq!(stdout.len(), 1 + LINE_BYTES + 1 + 3);
        assert!(stdout.ends_with("x\nend") && stderr.is_empty());
    }
}
