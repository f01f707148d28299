//! Plans made from an old run, kept as files below the evidence folder so that they have a path.
//!
//! The file name says from which run a plan was made. Each time the file is opened it is compared with what that
//! run gives: the name alone proves nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::engine::FollowUp;
use crate::evidence::write_private;
use crate::run::Way;

const FOLDER: &str = "continuations";

/// How the names of the files end.
const ENDINGS: [(FollowUp, &str); 6] = [
    (FollowUp::RunAgain, ".again.plan.json"),
    (FollowUp::Continue, ".rest.plan.json"),
    (FollowUp::RollBack, ".rollback.plan.json"),
    (FollowUp::Settle(Way::RollBack), ".back.plan.json"),
    (FollowUp::Settle(Way::Finish), ".finish.plan.json"),
    (FollowUp::Revert, ".revert.plan.json"),
];

/// Where the plan is kept.
fn path(evidence: &Path, id: Uuid, follow_up: FollowUp) -> PathBuf {
    let ending = ENDINGS.iter().find(|(it, _)| *it == follow_up).map_or("", |(_, ending)| ending);
    evidence.join(FOLDER).join(format!("{id}{ending}"))
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
    fn only_a_kept_file_leads_to_its_run() {
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
