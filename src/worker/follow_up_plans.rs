//! Plans made from an old run, kept as files below the evidence folder so that they have a path.
//!
//! The file name says from which run a plan was made. Each time the file is opened it is compared with what that
//! run gives: the name alone proves nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::engine::{FollowUpError, plan_of, rest_of, revert_of, rollback_of, settlement_of};
use crate::evidence::{EvidenceReader, write_private};
use crate::risk::Policy;
use crate::run::{RunSummary, Way};

/// A plan made from a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowUp {
    /// The plan of the run, from its recorded bytes.
    RunAgain,
    /// What the run left undone.
    Continue,
    /// The commands that the plan of the run names to take it back.
    RollBack,
    /// Brings the files of the run's interrupted steps to one of two states.
    Settle(Way),
    /// Restores the files that the run, or one execution of it, changed.
    Revert,
}

const FOLDER: &str = "continuations";

impl FollowUp {
    const ALL: [Self; 6] = [
        Self::RunAgain,
        Self::Continue,
        Self::RollBack,
        Self::Settle(Way::RollBack),
        Self::Settle(Way::Finish),
        Self::Revert,
    ];

    const fn ending(self) -> &'static str {
        match self {
            Self::RunAgain => ".again.plan.json",
            Self::Continue => ".rest.plan.json",
            Self::RollBack => ".rollback.plan.json",
            Self::Settle(Way::RollBack) => ".back.plan.json",
            Self::Settle(Way::Finish) => ".finish.plan.json",
            Self::Revert => ".revert.plan.json",
        }
    }

    /// Rebuilds the plan from the recorded run. A revert may also start from one execution.
    ///
    /// # Errors
    /// When there is no such run, or nothing to be done.
    pub(super) fn plan(
        self,
        evidence: &mut EvidenceReader,
        id: Uuid,
        policy: &Policy,
    ) -> Result<(RunSummary, Vec<u8>), FollowUpError> {
        match self {
            Self::RunAgain => plan_of(evidence, id),
            Self::Continue => rest_of(evidence, id),
            Self::RollBack => rollback_of(evidence, id),
            Self::Settle(way) => settlement_of(evidence, id, way, policy),
            Self::Revert => revert_of(evidence, id),
        }
    }
}

/// Where the plan is kept.
fn path(evidence: &Path, id: Uuid, follow_up: FollowUp) -> PathBuf {
    evidence.join(FOLDER).join(format!("{id}{}", follow_up.ending()))
}

/// Keeps the plan; gives its absolute path.
///
/// # Errors
/// When its folder cannot be made or the file cannot be written.
pub(super) fn keep(
    evidence: &Path,
    id: Uuid,
    follow_up: FollowUp,
    bytes: &[u8],
) -> io::Result<PathBuf> {
    let path = std::path::absolute(path(evidence, id, follow_up))?;
    if fs::read(&path).is_ok_and(|kept| kept == bytes) {
        return Ok(path);
    }
    write_private(&path, bytes)?;
    Ok(path)
}

/// The run or execution from which a kept plan was made, by the path of the file.
pub(super) fn origin(evidence: &Path, file: &Path) -> Option<(Uuid, FollowUp)> {
    let name = file.file_name()?.to_str()?;
    let (id, follow_up) = FollowUp::ALL
        .into_iter()
        .find_map(|it| Some((name.strip_suffix(it.ending())?.parse().ok()?, it)))?;
    let kept = std::path::absolute(path(evidence, id, follow_up)).ok()?;
    (kept == std::path::absolute(file).ok()?).then_some((id, follow_up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_kept_file_leads_to_its_run() {
        let temp = tempfile::tempdir().unwrap();
        let evidence = temp.path().join("evidence");
        let run_id = Uuid::new_v4();
        for follow_up in FollowUp::ALL {
            let file = keep(&evidence, run_id, follow_up, b"plan").unwrap();
            assert_eq!(fs::read(&file).unwrap(), b"plan");
            assert_eq!(origin(&evidence, &file), Some((run_id, follow_up)));
            let elsewhere = temp.path().join(file.file_name().unwrap());
            assert_eq!(origin(&evidence, &elsewhere), None);
            keep(&evidence, run_id, follow_up, b"other").unwrap();
            assert_eq!(fs::read(&file).unwrap(), b"other");
        }
        assert_eq!(origin(&evidence, &evidence.join(FOLDER).join("x.rest.plan.json")), None);
    }
}
