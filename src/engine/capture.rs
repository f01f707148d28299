//! Passes the output of a step's program to the evidence while it arrives (SPEC §7.2).

use std::cell::RefCell;
use std::time::Duration;

use super::Journal;
use crate::evidence::{CapturedOutput, EvidenceError, OutputCapture};
use crate::plan::Step;
use crate::process::Capture;
use crate::run::{RunEvent, Stream, StreamExcerpt};
use crate::tools::CallResult;

/// The excerpts of stdout and stderr for a step result; `None` for an output that the tool did not produce.
pub(super) fn excerpts(tool_name: &str, invocation: &CallResult) -> [Option<StreamExcerpt>; 2] {
    if let Some(captured) = &invocation.captured {
        return captured.each_ref().map(|ends| Some(ends.excerpt()));
    }
    [&invocation.stdout, &invocation.stderr]
        .map(|output| output.as_deref().map(|output| StreamExcerpt::of(tool_name, output)))
}

/// Captures the output of one step.
pub(super) struct StepCapture<'a> {
    /// The open capture, or the first error, after which nothing more is stored.
    capture: RefCell<Result<OutputCapture, EvidenceError>>,
    journal: &'a Journal,
    step: &'a Step,
}

impl<'a> StepCapture<'a> {
    pub(super) fn new(capture: OutputCapture, journal: &'a Journal, step: &'a Step) -> Self {
        Self { capture: RefCell::new(Ok(capture)), journal, step }
    }

    /// Ends the capture and returns the stored output.
    ///
    /// # Errors
    /// When not all of it could be stored.
    pub(super) fn finish(self) -> Result<CapturedOutput, EvidenceError> {
        self.capture.into_inner()?.finish()
    }
}

impl Capture for StepCapture<'_> {
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool {
        let mut capture = self.capture.borrow_mut();
        if let Ok(open) = &mut *capture
            && let Err(error) = open.put(stream, bytes)
        {
            *capture = Err(error);
        }
        capture.is_ok()
    }

    fn quiet(&self, so_far: Duration) {
        self.journal.send(&RunEvent::StepQuiet {
            step_id: self.step.step_id.clone(),
            quiet_ms: u64::try_from(so_far.as_millis()).unwrap_or(u64::MAX),
        });
    }
}
