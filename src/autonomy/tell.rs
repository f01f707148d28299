//! One listener for the loop and for the runs in it.

use std::sync::Arc;

use crate::engine::ProgressCallback;
use crate::plan::Step;
use crate::run::{RunEvent, StepResult, Stream};

/// The same listener, for an executor.
pub(super) struct Shared(pub(super) Arc<dyn ProgressCallback>);

impl ProgressCallback for Shared {
    fn on_event(&self, event: &RunEvent) {
        self.0.on_event(event);
    }

    fn on_step_start(&self, step: &Step) {
        self.0.on_step_start(step);
    }

    fn on_step_output(&self, step: &Step, stream: Stream, chunk: &str) {
        self.0.on_step_output(step, stream, chunk);
    }

    fn on_step_complete(&self, result: &StepResult) {
        self.0.on_step_complete(result);
    }

    fn on_step_failed(&self, result: &StepResult) {
        self.0.on_step_failed(result);
    }

    fn on_step_skipped(&self, result: &StepResult, reason: &str) {
        self.0.on_step_skipped(result, reason);
    }
}
