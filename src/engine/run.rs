//! The state of one run.

use std::collections::{BTreeMap, HashMap};

use uuid::Uuid;

use super::clock::RunClock;
use super::cut_off::CutOff;
use super::runnable::Runnable;
use super::{ExecutionError, ExecutorDeps, Journal};
use crate::authorization::FileState;
use crate::evidence::EvidenceError;
use crate::plan::Mode;
use crate::run::{HostResult, Outcome, StepResult};

/// A run under way.
pub(super) struct Run<'a> {
    pub(super) run_id: Uuid,
    pub(super) runnable: &'a Runnable,
    pub(super) deps: &'a ExecutorDeps,
    pub(super) journal: &'a mut Journal,
    pub(super) clock: RunClock<'a>,
    /// The state that each input file must have: the approved one, or the one that an earlier step recorded.
    pub(super) expected: BTreeMap<String, FileState>,
    /// The states to which commands of this run, or a person in place of a step, have changed files that the approval
    /// covers.
    pub(super) changed: BTreeMap<String, FileState>,
    /// The results of the steps so far.
    pub(super) results: Vec<StepResult>,
    /// How each step ended on each host, if the plan runs on several.
    pub(super) host_results: Vec<HostResult>,
    pub(super) outcomes: HashMap<String, Outcome>,
    /// The approved mode; guided since a person has requested that.
    pub(super) mode: Mode,
    /// The result of a step whose tool was called, if it could not be recorded.
    pub(super) not_recorded: Option<Box<StepResult>>,
    /// The step in which the run is cut off; see [`super::Executor::cut_off_in`].
    pub(super) cut_off_in: Option<usize>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        runnable: &'a Runnable,
        deps: &'a ExecutorDeps,
        journal: &'a mut Journal,
    ) -> Self {
        Self {
            run_id: Uuid::new_v4(),
            runnable,
            deps,
            journal,
            clock: RunClock::start(&*deps.clock),
            expected: runnable.authorization.binding.inputs.clone(),
            changed: BTreeMap::new(),
            results: Vec::with_capacity(runnable.plan.steps.len()),
            host_results: Vec::new(),
            outcomes: HashMap::new(),
            mode: runnable.authorization.binding.mode,
            not_recorded: None,
            cut_off_in: None,
        }
    }

    /// Unwinds if the run is to be cut off in this step. No message is printed, because nothing is wrong.
    pub(super) fn cut_off_if_wanted(&self, step_index: usize) {
        if self.cut_off_in == Some(step_index) {
            std::panic::resume_unwind(Box::new(CutOff));
        }
    }

    /// The error for evidence that could not be written. It takes the results of the steps so far.
    pub(super) fn store_error(&mut self, source: EvidenceError) -> ExecutionError {
        ExecutionError::EvidenceStore {
            run_id: self.run_id,
            step_results: std::mem::take(&mut self.results),
            not_recorded: self.not_recorded.take(),
            source: Box::new(source),
        }
    }
}
