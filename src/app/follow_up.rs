//! Whether a run that is over can be followed up.

use super::session::PlanSession;
use crate::run::{Phase, RunStatus};

impl PlanSession {
    /// Whether its run is over, so that it can be followed up.
    pub(super) fn is_over(&self) -> bool {
        self.run.is_over() && self.run.run_id.is_some()
    }

    /// Whether its run is over and left something undone.
    pub(super) fn is_unfinished(&self) -> bool {
        self.is_over() && self.run.phase != Phase::Ended(RunStatus::Completed)
    }
}
