//! Describes the files that a call changes, for previews and results.

use serde_json::{Value, json};

use crate::authorization::FileState;
use crate::run::{FileChange, FileEffect};
use crate::workspace::diff;
use crate::workspace::file::hash;

/// The change with its diff, for a preview.
pub(super) fn file_change(effect: &FileEffect) -> FileChange {
    FileChange {
        path: effect.path.clone(),
        before: effect.before,
        after: effect.after,
        diff: diff::diff(effect.before_bytes.as_deref(), effect.after_bytes.as_deref()),
    }
}

/// The note that an earlier step changes the file.
pub(super) fn earlier_step_note(path: &str) -> String {
    format!("An earlier step leaves {path} as it is shown here.")
}

/// The note that the file is too large for a diff of its lines; `None` if it is not.
pub(super) fn too_large_note(effect: &FileEffect) -> Option<String> {
    [&effect.before_bytes, &effect.after_bytes]
        .iter()
        .any(|bytes| diff::is_too_large(bytes.as_deref()))
        .then(|| format!("{} is too large to be shown line by line.", effect.path))
}

/// The changed files, for the field `changed_files` of a result.
pub(super) fn changed_files<'e>(effects: impl IntoIterator<Item = &'e FileEffect>) -> Value {
    effects.into_iter().map(|it| changed_file(&it.path, it.before, it.after)).collect()
}

/// A changed file in a result: its path, and the digests of the contents before and after.
pub(super) fn changed_file(path: &str, before: FileState, after: FileState) -> Value {
    json!({ "path": path, "before": hash(before), "after": hash(after) })
}
