//! Stores follow-up plans as files below the evidence folder, so that they have a path.
//!
//! The file name contains the id of the run or execution, and the kind of the plan. The name alone proves nothing:
//! whenever the file is opened, it is compared with the plan that is rebuilt from the evidence.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::engine::FollowUp;
use crate::evidence::write_private;
use crate::plan::{Code, Digest};
use crate::run::{Attempt, Failure, SettleMode};

const FOLDER: &str = "continuations";

/// The suffixes of the file names.
const SUFFIXES: [(FollowUp, &str); 6] = [
    (FollowUp::RunAgain, ".again.plan.json"),
    (FollowUp::Continue, ".rest.plan.json"),
    (FollowUp::RollBack, ".rollback.plan.json"),
    (FollowUp::Settle(SettleMode::RollBack), ".back.plan.json"),
    (FollowUp::Settle(SettleMode::Finish), ".finish.plan.json"),
    (FollowUp::Revert, ".revert.plan.json"),
];

/// The path of a stored plan.
fn path(evidence: &Path, id: Uuid, follow_up: FollowUp) -> PathBuf {
    let suffix = SUFFIXES.iter().find(|(it, _)| *it == follow_up).map_or("", |(_, suffix)| suffix);
    evidence.join(FOLDER).join(format!("{id}{suffix}"))
}

/// Stores a plan and returns the absolute path of its file. Another plan at this path is replaced.
///
/// # Errors
/// When the folder cannot be created or the file cannot be written.
pub(super) fn store(
    evidence: &Path,
    id: Uuid,
    follow_up: FollowUp,
    bytes: &[u8],
) -> io::Result<PathBuf> {
    let path = std::path::absolute(path(evidence, id, follow_up))?;
    if fs::read(&path).is_ok_and(|stored| stored == bytes) {
        return Ok(path);
    }
    write_private(&path, bytes)?;
    Ok(path)
}

/// The run or execution and the kind of the plan that is stored at `file`; `None` if `file` is no path of a stored
/// plan. The content is not checked.
pub(super) fn origin(evidence: &Path, file: &Path) -> Option<(Uuid, FollowUp)> {
    let name = file.file_name()?.to_str()?;
    let (id, follow_up) = SUFFIXES
        .into_iter()
        .find_map(|(it, suffix)| Some((name.strip_suffix(suffix)?.parse().ok()?, it)))?;
    let stored = std::path::absolute(path(evidence, id, follow_up)).ok()?;
    (stored == std::path::absolute(file).ok()?).then_some((id, follow_up))
}

/// The path of a plan that was stored, or why it could not be.
pub(super) fn written(stored: io::Result<PathBuf>) -> Result<PathBuf, Failure> {
    stored.map_err(|error| Failure {
        code: Code::WriteFailed,
        message: format!("the plan cannot be written below the evidence folder: {error}"),
        next: "See that the evidence folder can be written to, then try again.".to_owned(),
    })
}

/// Stores a plan that was made of suggestions of a check, and returns the absolute path of its file.
///
/// # Errors
/// As [`store`].
pub(super) fn store_suggestion(
    evidence: &Path,
    run_id: Uuid,
    digest: Digest,
    bytes: &[u8],
) -> io::Result<PathBuf> {
    let name = suggestion_name(run_id, digest);
    let path = std::path::absolute(evidence.join(FOLDER).join(name))?;
    write_private(&path, bytes)?;
    Ok(path)
}

fn suggestion_name(run_id: Uuid, digest: Digest) -> String {
    // As many digits as the id that is derived for a plan without one.
    let mut digits = digest.hex();
    digits.truncate(16);
    format!("{run_id}.{digits}.fix.plan.json")
}

/// Stores the plan that a planner proposed in an attempt of a loop, and returns the absolute path of its file.
///
/// # Errors
/// As [`store`].
pub(super) fn store_proposal(
    evidence: &Path,
    attempt: Attempt,
    bytes: &[u8],
) -> io::Result<PathBuf> {
    let name = format!("{}.{}.plan.json", attempt.loop_id, attempt.number);
    let path = std::path::absolute(evidence.join(FOLDER).join(name))?;
    write_private(&path, bytes)?;
    Ok(path)
}

/// The run whose check suggested the plan with these bytes; `None` if `file` is no path of such a plan, or the plan was
/// changed since.
pub(super) fn suggested_in(evidence: &Path, file: &Path, bytes: &[u8]) -> Option<Uuid> {
    let name = file.file_name()?.to_str()?;
    let run_id = name.split_once('.')?.0.parse().ok()?;
    let stored = evidence.join(FOLDER).join(suggestion_name(run_id, Digest::of(bytes)));
    (std::path::absolute(stored).ok()? == std::path::absolute(file).ok()?).then_some(run_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggested_plan_names_its_run_until_it_changes() {
        let temp = tempfile::tempdir().unwrap();
        let run_id = Uuid::new_v4();
        let file = store_suggestion(temp.path(), run_id, Digest::of(b"plan"), b"plan").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"plan");
        assert_eq!(suggested_in(temp.path(), &file, b"plan"), Some(run_id));
        assert_eq!(suggested_in(temp.path(), &file, b"other"), None);
        assert_eq!(suggested_in(&temp.path().join("elsewhere"), &file, b"plan"), None);
        assert_eq!(origin(temp.path(), &file), None, "nothing rebuilds it");
    }

    #[test]
    fn only_kept_plan_files_name_their_run() {
        let temp = tempfile::tempdir().unwrap();
        let evidence = temp.path().join("evidence");
        let run_id = Uuid::new_v4();
        for (follow_up, _) in SUFFIXES {
            let file = store(&evidence, run_id, follow_up, b"plan").unwrap();
            assert_eq!(fs::read(&file).unwrap(), b"plan");
            assert_eq!(origin(&evidence, &file), Some((run_id, follow_up)));
            let elsewhere = temp.path().join(file.file_name().unwrap());
            assert_eq!(origin(&evidence, &elsewhere), None);
            store(&evidence, run_id, follow_up, b"other").unwrap();
            assert_eq!(fs::read(&file).unwrap(), b"other");
        }
        assert_eq!(origin(&evidence, &evidence.join(FOLDER).join("x.rest.plan.json")), None);
    }
}
