//! Compares the effect of a step with its prediction (DESIGN invariant 4), and selects which of the two is stored.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::ExecutionError;
use crate::authorization::FileState;
use crate::evidence::ArtifactType;
use crate::run::{FileChange, FileEffect, Preview};

/// The error if a file differs from the prediction made just before the step. The last state of each file counts.
pub(super) fn drift_error(
    predicted: &[FileEffect],
    actual: &[FileEffect],
) -> Option<ExecutionError> {
    let last = |effects: &[FileEffect]| -> BTreeMap<String, FileState> {
        effects.iter().map(|effect| (effect.path.clone(), effect.after)).collect()
    };
    let (predicted, actual) = (last(predicted), last(actual));
    let text = |state: Option<&FileState>| {
        state.map_or_else(|| "as before".to_owned(), ToString::to_string)
    };
    let paths: BTreeSet<_> = predicted.keys().chain(actual.keys()).collect();
    let differences: Vec<_> = paths
        .into_iter()
        .filter(|path| predicted.get(*path) != actual.get(*path))
        .map(|path| {
            let (shown, now) = (text(predicted.get(path)), text(actual.get(path)));
            format!("{path} was to be {shown} and is {now}")
        })
        .collect();
    (!differences.is_empty())
        .then(|| ExecutionError::NotAsShown { differences: differences.join("; ") })
}

/// The artifact of a step: the diff if the files got the previewed contents, else the preview. Never both, because they
/// have the same lines. `simulated` are the changes of a simulation on a copy of the workspace: their diff is stored,
/// and the artifact of the preview only if its diff differs.
pub(super) fn artifacts(
    preview: Option<&Preview>,
    files: &[FileEffect],
    simulated: &[FileChange],
) -> Vec<(ArtifactType, Value)> {
    let Some(preview) = preview else { return Vec::new() };
    let unified = |changes: &[FileChange]| changes.iter().map(FileChange::unified).collect();
    let copy_diff: String = unified(simulated);
    if copy_diff.is_empty() {
        return artifact(preview, files).into_iter().collect();
    }
    let preview_diff: String = unified(&preview.changes);
    let differs = preview_diff != copy_diff;
    let preview = differs.then(|| artifact(preview, files)).flatten();
    preview.into_iter().chain([(ArtifactType::Diff, copy_diff.into())]).collect()
}

fn artifact(preview: &Preview, files: &[FileEffect]) -> Option<(ArtifactType, Value)> {
    let is_as_previewed = !files.is_empty()
        && preview.changes.len() == files.len()
        && preview.changes.iter().zip(files).all(|(change, file)| change.after == file.after);
    let diff: String = preview.changes.iter().map(FileChange::unified).collect();
    if is_as_previewed && !diff.is_empty() {
        Some((ArtifactType::Diff, diff.into()))
    } else {
        serde_json::to_value(preview).ok().map(|value| (ArtifactType::Preview, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Code, Digest};
    use crate::run::Modes;

    fn effect(path: &str, after: &str) -> FileEffect {
        FileEffect {
            path: path.to_owned(),
            before: FileState::Absent,
            after: FileState::Content(Digest::of(after.as_bytes())),
            before_bytes: None,
            after_bytes: None,
            modes: Modes::default(),
        }
    }

    #[test]
    fn a_difference_from_the_preview_is_an_error() {
        let shown = [effect("a", "1"), effect("a", "2"), effect("b", "1")];
        assert!(drift_error(&shown, &[effect("b", "1"), effect("a", "2")]).is_none());
        assert!(drift_error(&[], &[]).is_none());
        for done in [
            vec![effect("a", "2"), effect("b", "x")],
            vec![effect("a", "2")],
            vec![effect("a", "2"), effect("b", "1"), effect("c", "1")],
        ] {
            let error = drift_error(&shown, &done).unwrap();
            assert_eq!(error.code(), Code::Conflict);
        }
        let error = drift_error(&shown, &[effect("a", "2")]).unwrap().to_string();
        assert!(error.ends_with("and is as before"), "{error}");
    }
}
