//! The state of the current step, shared by the modules of this folder.

use uuid::Uuid;

use crate::authorization::StepWalls;
use crate::engine::run::Run;
use crate::evidence::{CapturedOutput, EvidenceError, StepDecision};
use crate::plan::Step;
use crate::run::{FileEffect, Preview};
use crate::tools::CallResult;

/// One step of one run.
pub(in crate::engine) struct StepRun<'a, 'r> {
    pub(in crate::engine) run: &'a mut Run<'r>,
    pub(in crate::engine) step: &'a Step,
    /// The approved walls of the step; `None` if it starts no process on this computer.
    pub(in crate::engine) walls: Option<&'r StepWalls>,
}

/// What is known about the step so far.
#[derive(Default)]
pub(super) struct StepProgress {
    pub(super) execution_id: Uuid,
    pub(super) timestamp_ms: i64,
    pub(super) duration_ms: i64,
    pub(super) decision: Option<StepDecision>,
    /// Whether the decision was recorded with the intent.
    pub(super) decision_recorded: bool,
    pub(super) invocation: Option<CallResult>,
    /// The captured output, or why it could not be stored.
    pub(super) captured: Option<Result<CapturedOutput, EvidenceError>>,
    /// Whether the tool was called with a terminal.
    pub(super) had_terminal: bool,
    /// The preview that a person was shown, else the one computed just before the call.
    pub(super) preview: Option<Preview>,
    /// The changes predicted just before the call, with exact contents, which are searched for secrets.
    pub(super) predicted: Vec<FileEffect>,
}
