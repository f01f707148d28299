//! Plans that are made from an old run (SPEC §3, §8, §11), and the warnings about each. Read-only: such a plan is
//! shown, authorized, run and recorded like any other.

use std::path::Path;

use uuid::Uuid;

use super::FollowUpError;
use super::continuation::{changes_since, continuation_of, plan_of, rollback_of};
use super::interrupted_plan::settlement_of;
use super::revert::{irreversible_effects, revert_of};
use crate::evidence::EvidenceReader;
use crate::plan::Finding;
use crate::risk::Policy;
use crate::run::{RunSummary, SettleMode};

/// A plan made from a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowUp {
    /// The plan of the run, from its recorded bytes.
    RunAgain,
    /// The steps that did not succeed.
    Continue,
    /// The rollback commands that the plan of the run names.
    RollBack,
    /// Brings the files of the run's interrupted steps to their state before these steps, or to the intended one.
    Settle(SettleMode),
    /// Restores the files that the run, one execution of it, or all runs of a loop changed.
    Revert,
}

impl FollowUp {
    /// Rebuilds the plan from the recorded run. Returns the run, and the plan's exact bytes. `id` is the id of a run;
    /// a revert also accepts the id of an execution or of a loop, and returns the last run of the loop.
    ///
    /// # Errors
    /// When the plan cannot be made, for instance because there is no such run or no step is left.
    pub fn plan(
        self,
        evidence: &mut EvidenceReader,
        id: Uuid,
        policy: &Policy,
    ) -> Result<(RunSummary, Vec<u8>), FollowUpError> {
        match self {
            Self::RunAgain => plan_of(evidence, id),
            Self::Continue => continuation_of(evidence, id),
            Self::RollBack => rollback_of(evidence, id),
            Self::Settle(way) => settlement_of(evidence, id, way, policy),
            Self::Revert => revert_of(evidence, id),
        }
    }

    /// What a person should know before they authorize the plan: changes since the run, or what a revert does not
    /// take back.
    ///
    /// # Errors
    /// When the evidence cannot be read; for a continuation, when the workspace cannot be opened; for a revert, when
    /// the id is unknown or the run is still under way.
    pub fn warnings(
        self,
        evidence: &mut EvidenceReader,
        id: Uuid,
        workspace: &Path,
        policy: &Policy,
    ) -> Result<Vec<Finding>, FollowUpError> {
        match self {
            Self::Continue => changes_since(evidence, id, workspace, policy),
            Self::Revert => irreversible_effects(evidence, id),
            Self::RunAgain | Self::RollBack | Self::Settle(_) => Ok(Vec::new()),
        }
    }

    /// Whether a run of the plan is recorded as a continuation of the old run.
    pub const fn is_linked(self) -> bool {
        matches!(self, Self::Continue | Self::Revert)
    }
}
