//! Stores plans made from an old run as files below the evidence folder, so that they have a path.
//!
//! The file name contains the run from which a plan was made. The name alone proves nothing: whenever the file is
//! opened, it is compared with the plan that the run gives.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::engine::FollowUp;
use crate::evidence::write_private;
use crate::run::Way;

const FOLDER: &str = "continuations";

/// The endings of the file names.
const ENDINGS: [(FollowUp, &str); 6] = [
    (FollowUp::RunAgain, ".again.plan.json"),
    (FollowUp::Continue, ".rest.plan.json"),
    (FollowUp::RollBack, ".rollback.plan.json"),
    (FollowUp::Settle(Way::RollBack), ".back.plan.json"),
    (FollowUp::Settle(Way::Finish), ".finish.plan.json"),
    (FollowUp::Revert, ".revert.plan.json"),
];

/// The path of a stored plan.
fn path(evidence: &Path, id: Uuid, follow_up: FollowUp) -> PathBuf {
    let ending = ENDINGS.iter().find(|(it, _)| *it == follow_up).map_or("", |(_, ending)| ending);
    evidence.join(FOLDER).join(format!("{id}{ending}"))
}

/// Stores the plan and returns its absolute path.
///
/// # Errors
/// When the folder cannot be created or the file cannot be written.
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

/// The run or execution from which a stored plan was made, by the path of its file.
pub(super) fn origin(evidence: &Path, file: &Path) -> Option<(Uuid, FollowUp)> {
    let name = file.file_name()?.to_str()?;
    let (id, follow_up) = ENDINGS
        .into_iter()
        .find_map(|(it, ending)| Some((name.strip_suffix(ending)?.parse().ok()?, it)))?;
    let kept = std::path::absolute(path(evidence, id, follow_up)).ok()?;
    (kept == std::path::absolute(file).ok()?).then_some((id, follow_up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_kept_plan_files_name_their_run() {
        let temp = tempfile::tempdir().unwrap();
        let evidence = temp.path().join("evidence");
        let run_id = Uuid::new_v4();
        for (follow_up, _) in ENDINGS {
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
