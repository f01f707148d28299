//! Passes the output of a step's program to the evidence while it arrives (SPEC §7.2).

use std::cell::RefCell;
use std::time::Duration;

use super::journal::Journal;
use crate::evidence::{CapturedOutput, EvidenceError, OutputCapture};
use crate::plan::Step;
use crate::process::Capture;
use crate::run::{RunEvent, Stream, StreamExcerpt};
use crate::tools::Invocation;

/// What a step result carries of both outputs.
pub(super) fn excerpts(tool_name: &str, invocation: &Invocation) -> [Option<StreamExcerpt>; 2] {
    if let Some(ends) = &invocation.captured {
        return ends.each_ref().map(|ends| Some(ends.excerpt()));
    }
    [&invocation.stdout, &invocation.stderr]
        .map(|whole| whole.as_deref().map(|whole| StreamExcerpt::of(tool_name, whole)))
}

/// Captures the output of one step.
pub(super) struct Incoming<'a> {
    state: RefCell<State>,
    journal: &'a Journal,
    step: &'a Step,
}

struct State {
    intake: OutputCapture,
    failed: Option<EvidenceError>,
}

impl<'a> Incoming<'a> {
    pub(super) fn new(intake: OutputCapture, journal: &'a Journal, step: &'a Step) -> Self {
        Self { state: RefCell::new(State { intake, failed: None }), journal, step }
    }

    /// The captured output.
    ///
    /// # Errors
    /// When not all of it could be stored.
    pub(super) fn finish(self) -> Result<CapturedOutput, EvidenceError> {
        let State { intake, failed } = self.state.into_inner();
        failed.map_or_else(|| intake.finish(), Err)
    }
}

impl Capture for Incoming<'_> {
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool {
        let mut state = self.state.borrow_mut();
        if state.failed.is_none() {
            state.failed = state.intake.put(stream, bytes).err();
        }
        state.failed.is_none()
    }

    fn quiet(&self, so_far: Duration) {
        self.journal.tell(&RunEvent::StepQuiet {
            step_id: self.step.step_id.clone(),
            quiet_ms: u64::try_from(so_far.as_millis()).unwrap_or(u64::MAX),
        });
    }
}
