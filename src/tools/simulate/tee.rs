//! Combines the output of all calls of a simulation.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::authorization::FileState;
use crate::process::Capture;
use crate::run::{Stream, StreamEnds};
use crate::tools::Context;

/// Forwards the output of all calls, and keeps the beginning and the end of each stream.
pub(super) struct Tee<'a> {
    context: &'a Context<'a>,
    ends: [RefCell<StreamEnds>; 2],
}

impl<'a> Tee<'a> {
    pub(super) fn new(context: &'a Context<'a>) -> Self {
        Self { context, ends: Default::default() }
    }

    /// The context of a call on the copy.
    pub(super) fn context<'c>(&'c self, expected: &'c BTreeMap<String, FileState>) -> Context<'c> {
        Context {
            expected,
            stop: self.context.stop,
            execution_id: self.context.execution_id,
            output: self.context.output,
            capture: self,
            walls: self.context.walls,
            terminal: None,
        }
    }

    /// Forwards the complete output of a tool. Returns false if it cannot be recorded.
    pub(super) fn forward(&self, stream: Stream, bytes: Option<&[u8]>) -> bool {
        let bytes = bytes.unwrap_or_default();
        // The next output begins on a new line.
        let end: &[u8] = if bytes.is_empty() || bytes.ends_with(b"\n") { b"" } else { b"\n" };
        self.keep(stream, bytes) && self.keep(stream, end)
    }

    /// The beginning and the end of both outputs; `None` if nothing was printed.
    pub(super) fn ends(self) -> Option<[StreamEnds; 2]> {
        let ends = self.ends.map(RefCell::into_inner);
        ends.iter().any(|ends| ends.bytes() > 0).then_some(ends)
    }

    fn ends_of(&self, stream: Stream) -> &RefCell<StreamEnds> {
        let [stdout, stderr] = &self.ends;
        match stream {
            Stream::Stdout => stdout,
            Stream::Stderr => stderr,
        }
    }
}

impl Capture for Tee<'_> {
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        self.ends_of(stream).borrow_mut().push(bytes);
        self.context.capture.keep(stream, bytes)
    }

    fn quiet(&self, so_far: Duration) {
        self.context.capture.quiet(so_far);
    }
}
