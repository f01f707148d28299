//! The writer.

use std::path::Path;

use uuid::Uuid;

use super::error::Result;
use super::record::{ExecutionRecord, IntentRecord, NewDecision, RunEnd, RunStart};
use crate::authorization::PlanAuthorization;
use crate::plan::Plan;

/// Appends to the evidence. Owned by one thread; several processes may have the same folder open.
#[derive(Debug)]
pub struct EvidenceStore {}

impl EvidenceStore {
    /// Opens the evidence in `dir`, making it when absent. `secrets` is the folder of the user's key.
    pub fn open(_dir: &Path, _secrets: &Path) -> Result<Self> {
        Ok(Self {})
    }
    /// Records an answer to a plan, with the plan's bytes.
    pub fn record_authorization(&mut self, _a: &PlanAuthorization, _plan: &Plan) -> Result<()> {
        Ok(())
    }
    /// The run that used this authorization, if any did.
    pub fn authorization_used_by(&self, _authorization_id: Uuid) -> Result<Option<Uuid>> {
        Ok(None)
    }
    /// Records the start of a run and consumes its authorization, in one commit.
    pub fn begin_run(&mut self, _start: &RunStart<'_>) -> Result<()> {
        Ok(())
    }
    /// Commits what is about to happen, before it happens.
    pub fn record_intent(&mut self, _intent: &IntentRecord<'_>) -> Result<()> {
        Ok(())
    }
    /// Commits what became of a step.
    pub fn record_execution(&mut self, _execution: &ExecutionRecord<'_>) -> Result<()> {
        Ok(())
    }
    /// Commits a decision about a whole run.
    pub fn record_decision(&mut self, _run_id: Uuid, _decision: &NewDecision<'_>) -> Result<()> {
        Ok(())
    }
    /// Commits the end of a run.
    pub fn end_run(&mut self, _end: &RunEnd<'_>) -> Result<()> {
        Ok(())
    }
}
