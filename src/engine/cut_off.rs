//! Cutting a run off in the middle of a step, as a power cut would.

/// What unwinds out of [`super::Executor::execute`] where a run was to be cut off.
#[derive(Debug)]
pub struct CutOff;
