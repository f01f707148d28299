//! Passes the output of a step's program to the evidence while it arrives (SPEC §7.2).

use std::cell::RefCell;
use std::time::Duration;

use super::journal::Journal;
use crate::evidence::{CapturedOutput, EvidenceError, OutputCapture};
use crate::plan::Step;
use crate::process::Capture;
use crate::run::{RunEvent, Stream, StreamExcerpt};
use crate::tools::CallResult;

/// The excerpts of both outputs for a step result.
pub(super) fn excerpts(tool_name: &str, invocation: &CallResult) -> [Option<StreamExcerpt>; 2] {
    if let Some(ends) = &invocation.captured {
        return ends.each_ref().map(|ends| Some(ends.excerpt()));
    }
    [&invocation.stdout, &invocation.stderr]
        .map(|whole| whole.as_deref().map(|whole| StreamExcerpt::of(tool_name, whole)))
}

/// Captures the output of one step.
pub(super) struct Incoming<'a> {
    /// The open capture, or the first error, after which nothing more is stored.
    intake: RefCell<Result<OutputCapture, EvidenceError>>,
    journal: &'a Journal,
    step: &'a Step,
}

impl<'a> Incoming<'a> {
    pub(super) fn new(intake: OutputCapture, journal: &'a Journal, step: &'a Step) -> Self {
        Self { intake: RefCell::new(Ok(intake)), journal, step }
    }

    /// The captured output.
    ///
    /// # Errors
    /// When not all of it could be stored.
    pub(super) fn finish(self) -> Result<CapturedOutput, EvidenceError> {
        self.intake.into_inner()?.finish()
    }
}

impl Capture for Incoming<'_> {
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool {
        let mut intake = self.intake.borrow_mut();
        if let Ok(open) = &mut *intake
            && let Err(error) = open.put(stream, bytes)
        {
            *intake = Err(error);
        }
        intake.is_ok()
    }

    fn quiet(&self, so_far: Duration) {
        self.journal.tell(&RunEvent::StepQuiet {
            step_id: self.step.step_id.clone(),
            quiet_ms: u64::try_from(so_far.as_millis()).unwrap_or(u64::MAX),
        });
    }
}
