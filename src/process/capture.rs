//! The interface between a running program and the caller that started it: the stop signal, and the receivers of
//! output.

use std::time::Duration;

use super::HiddenTexts;
use crate::run::{StopSignal, Stream};

/// The stop signal for a running program, and the receivers of its output.
#[derive(Clone, Copy)]
pub struct ProcessIo<'a> {
    /// Set when the person stops the run.
    pub stop: &'a StopSignal,
    /// Receives the output as text for display, while the program prints it.
    pub output: &'a dyn Fn(Stream, &str),
    /// Receives every byte of the output for the evidence, while the program prints it.
    pub capture: &'a dyn Capture,
    /// What neither of them receives.
    pub hidden: &'a HiddenTexts,
}

/// Receives the output of a command, which may be too large for memory (SPEC §7.2).
pub trait Capture {
    /// Keeps these bytes. Returns false when they cannot be kept; the command is then ended and no more bytes follow.
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool;

    /// Called once per silence, after the command has printed nothing for the time `so_far`.
    fn quiet(&self, so_far: Duration);
}

/// Discards the output, for programs whose output is not recorded while they run.
#[derive(Debug, Clone, Copy)]
pub struct NoCapture;

impl Capture for NoCapture {
    fn keep(&self, _: Stream, _: &[u8]) -> bool {
        true
    }

    fn quiet(&self, _: Duration) {}
}
