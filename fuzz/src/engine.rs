//! The part of the engine that asks the tools whether a precondition holds.

#[path = "../../src/engine/error.rs"]
mod error;
#[path = "../../src/engine/preconditions.rs"]
mod preconditions;

use std::collections::HashMap;

use crate::plan::Step;
use crate::run::Outcome;
use crate::tools::{StopSignal, Toolbox};

pub use error::ExecutionError;

/// Checks the step's precondition; `None` for a faulty step, which has no call.
pub fn check(
    step: &Step,
    toolbox: &Toolbox,
    outcomes: &HashMap<String, Outcome>,
) -> Option<Result<String, ExecutionError>> {
    let stop = StopSignal::default();
    let now = preconditions::Now { after: toolbox.now(), toolbox, outcomes, stop: &stop };
    Some(preconditions::check(step, step.call.as_ref()?, &now))
}
