//! How a running program is stopped, and where its output goes.

use std::time::Duration;

use crate::run::{StopSignal, Stream};

/// The connection to a running program.
#[derive(Clone, Copy)]
pub struct ProcessIo<'a> {
    /// Set when the person stops the run.
    pub stop: &'a StopSignal,
    /// Takes output as it comes, as text to show.
    pub output: &'a dyn Fn(Stream, &str),
    /// Takes every byte of the output as it comes, for the evidence.
    pub capture: &'a dyn Capture,
}

/// Receives the output of a command, which may be too large for memory (SPEC §7.2).
pub trait Capture {
    /// Keeps these bytes. Returns false when they cannot be kept; the command is then ended.
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool;

    /// Called once per silence, when the command has printed nothing for this long.
    fn quiet(&self, so_far: Duration);
}

/// Discards the output, for calls that run no command.
#[derive(Debug, Clone, Copy)]
pub struct NoCapture;

impl Capture for NoCapture {
    fn keep(&self, _: Stream, _: &[u8]) -> bool {
        true
    }

    fn quiet(&self, _: Duration) {}
}
