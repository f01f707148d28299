//! How a program under way is stopped, and where its output goes.

use std::time::Duration;

use crate::run::{StopSignal, Stream};

/// The connection to a program under way.
#[derive(Clone, Copy)]
pub struct ProcessIo<'a> {
    /// Set when a person asked to stop now.
    pub stop: &'a StopSignal,
    /// Takes output as it comes, as text for a person.
    pub output: &'a dyn Fn(Stream, &str),
    /// Takes every byte of the output as it comes, for the records.
    pub capture: &'a dyn Capture,
}

/// Where the output of a command goes, which may be too large for memory (SPEC §7.2).
pub trait Capture {
    /// Keeps these bytes. False when they cannot be kept: then the command is ended.
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool;

    /// The command has printed nothing for this long; called once for each silence.
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
