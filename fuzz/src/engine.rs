//! The part of the engine that checks preconditions by means of the tools.

#[path = "../../src/engine/error.rs"]
mod error;
#[path = "../../src/engine/preconditions.rs"]
mod preconditions;

use std::collections::HashMap;

use crate::plan::Step;
use crate::run::Outcome;
use crate::tools::Toolbox;

pub use error::ExecutionError;

/// Checks the precondition of a step. Returns what was found if it holds.
pub fn check(
    step: &Step,
    toolbox: &Toolbox,
    outcomes: &HashMap<String, Outcome>,
) -> Result<String, ExecutionError> {
    preconditions::check(step, &step.call, toolbox.now(), outcomes)
}
