//! Plans that come from an old run, kept as files below the evidence folder so that they have a path.
//!
//! A file's name says which run it comes from. Whether it still is what was made of that run is
//! compared each time it is opened; the name alone proves nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::engine::{FollowUpError, plan_of, rest_of, revert_of, rollback_of, settlement_of};
use crate::evidence::{EvidenceReader, write_private};
use crate::risk::Policy;
use crate::run::{RunSummary, Way};

/// What was made of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Its plan as it was.
    Again,
    /// The plan of its rest.
    Rest,
    /// The plan that takes it back by commands of its own.
    Rollback,
    /// The plan that brings the files of its interrupted steps somewhere.
    Settled(Way),
    /// The plan that brings back the files that it changed, or that one of its steps did.
    Revert,
}

const FOLDER: &str = "continuations";

impl Kind {
    const ALL: [Self; 6] = [
        Self::Again,
        Self::Rest,
        Self::Rollback,
        Self::Settled(Way::RollBack),
        Self::Settled(Way::Finish),
        Self::Revert,
    ];

    const fn ending(self) -> &'static str {
        match self {
            Self::Again => ".again.plan.json",
            Self::Rest => ".rest.plan.json",
            Self::Rollback => ".rollback.plan.json",
            Self::Settled(Way::RollBack) => ".back.plan.json",
            Self::Settled(Way::Finish) => ".finish.plan.json",
            Self::Revert => ".revert.plan.json",
        }
    }

    /// Makes it of the run anew; a revert also of an execution, by its id.
    ///
    /// # Errors
    /// When there is no such run, or nothing of the kind can be made of it.
    pub(super) fn of(
        self,
        evidence: &mut EvidenceReader,
        run_id: Uuid,
        policy: &Policy,
    ) -> Result<(RunSummary, Vec<u8>), FollowUpError> {
        match self {
            Self::Again => plan_of(evidence, run_id),
            Self::Rest => rest_of(evidence, run_id),
            Self::Rollback => rollback_of(evidence, run_id),
            Self::Settled(way) => settlement_of(evidence, run_id, way, policy),
            Self::Revert => revert_of(evidence, run_id),
        }
    }
}

/// Where the plan is kept.
pub(super) fn path(evidence: &Path, run_id: Uuid, kind: Kind) -> PathBuf {
    evidence.join(FOLDER).join(format!("{run_id}{}", kind.ending()))
}

/// Keeps the plan; gives its absolute path.
///
/// # Errors
/// When its folder cannot be made or the file cannot be written.
pub(super) fn keep(evidence: &Path, run_id: Uuid, kind: Kind, bytes: &[u8]) -> io::Result<PathBuf> {
    let path = std::path::absolute(path(evidence, run_id, kind))?;
    if fs::read(&path).is_ok_and(|kept| kept == bytes) {
        return Ok(path);
    }
    write_private(&path, bytes)?;
    Ok(path)
}

/// The run that a kept plan comes from, by the place of the file.
pub(super) fn origin(evidence: &Path, file: &Path) -> Option<(Uuid, Kind)> {
    let name = file.file_name()?.to_str()?;
    let (run_id, kind) = Kind::ALL
        .into_iter()
        .find_map(|kind| Some((name.strip_suffix(kind.ending())?.parse().ok()?, kind)))?;
    let kept = std::path::absolute(path(evidence, run_id, kind)).ok()?;
    (kept == std::path::absolute(file).ok()?).then_some((run_id, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_plan_knows_its_run_and_no_other_file_does() {
        let temp = tempfile::tempdir().unwrap();
        let evidence = temp.path().join("evidence");
        let run_id = Uuid::new_v4();
        for kind in Kind::ALL {
            let file = keep(&evidence, run_id, kind, b"plan").unwrap();
            assert_eq!(fs::read(&file).unwrap(), b"plan");
            assert_eq!(origin(&evidence, &file), Some((run_id, kind)));
            let elsewhere = temp.path().join(file.file_name().unwrap());
            assert_eq!(origin(&evidence, &elsewhere), None);
            keep(&evidence, run_id, kind, b"other").unwrap();
            assert_eq!(fs::read(&file).unwrap(), b"other");
        }
        assert_eq!(origin(&evidence, &evidence.join(FOLDER).join("x.rest.plan.json")), None);
    }
}
