//! Compares the effect of a step with its preview (DESIGN invariant 4).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::error::ExecutionError;
use crate::authorization::FileState;
use crate::evidence::ArtifactType;
use crate::run::{FileChange, FileEffect, Preview};

/// The error for files that differ from the prediction made just before the step. The last state of each file counts.
pub(super) fn not_as_shown(
    predicted: &[FileEffect],
    actual: &[FileEffect],
) -> Option<ExecutionError> {
    let last = |effects: &[FileEffect]| -> BTreeMap<String, FileState> {
        effects.iter().map(|effect| (effect.path.clone(), effect.after)).collect()
    };
    let (predicted, actual) = (last(predicted), last(actual));
    let words = |state: Option<&FileState>| {
        state.map_or_else(|| "as before".to_owned(), ToString::to_string)
    };
    let paths: BTreeSet<_> = predicted.keys().chain(actual.keys()).collect();
    let differences: Vec<_> = paths
        .into_iter()
        .filter(|path| predicted.get(*path) != actual.get(*path))
        .map(|path| {
            let (shown, now) = (words(predicted.get(path)), words(actual.get(path)));
            format!("{path} was to be {shown} and is {now}")
        })
        .collect();
    (!differences.is_empty())
        .then(|| ExecutionError::NotAsShown { differences: differences.join("; ") })
}

/// The diff of a step; if its effect is unknown, the preview. Only one of the two is stored, because they have the
/// same lines. The changes of a simulation on a copy of the workspace count as its effect; the preview is then stored
/// too if it differs.
pub(super) fn artifacts(
    preview: Option<&Preview>,
    files: &[FileEffect],
    simulated: &[FileChange],
) -> Vec<(ArtifactType, Value)> {
    let Some(preview) = preview else { return Vec::new() };
    let unified = |changes: &[FileChange]| changes.iter().map(FileChange::unified).collect();
    let on_copy: String = unified(simulated);
    if on_copy.is_empty() {
        return artifact(preview, files).into_iter().collect();
    }
    let predicted: String = unified(&preview.changes);
    let is_other = predicted != on_copy;
    let preview = is_other.then(|| artifact(preview, files)).flatten();
    preview.into_iter().chain([(ArtifactType::Diff, on_copy.into())]).collect()
}

fn artifact(preview: &Preview, files: &[FileEffect]) -> Option<(ArtifactType, Value)> {
    // The preview is the effect only if both lead to the same contents.
    let done = !files.is_empty()
        && preview.changes.len() == files.len()
        && preview.changes.iter().zip(files).all(|(change, file)| change.after == file.after);
    let diff: String = preview.changes.iter().map(FileChange::unified).collect();
    if done && !diff.is_empty() {
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
        assert!(not_as_shown(&shown, &[effect("b", "1"), effect("a", "2")]).is_none());
        assert!(not_as_shown(&[], &[]).is_none());
        for done in [
            vec![effect("a", "2"), effect("b", "x")],
            vec![effect("a", "2")],
            vec![effect("a", "2"), effect("b", "1"), effect("c", "1")],
        ] {
            let error = not_as_shown(&shown, &done).unwrap();
            assert_eq!(error.code(), Code::Conflict);
        }
        let error = not_as_shown(&shown, &[effect("a", "2")]).unwrap().to_string();
        assert!(error.ends_with("and is as before"), "{error}");
    }
}
