//! `file_write` and `file_create` (SPEC §4): whole files, written atomically or not at all.
//!
//! The content is written to a temporary file in the same folder and flushed. Then this file takes the
//! target's name, by an exchange of the two names if the target exists (see [`super::publish`]), and the
//! folder is flushed. The folder stays open throughout, and the file is named relative to its handle, so that
//! replacing the folder between the check and the write has no effect on the write.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use uuid::Uuid;

use super::publish::{Published, Target};
use super::{
    Access, Disk, Folders, Kind, Last, Place, Workspace, WorkspaceError, check_cancelled, file,
};
use crate::authorization::FileState;
use crate::run::{FileEffect, Modes, StopSignal};

/// What a write does with an existing target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// The target is replaced, as by `file_write`.
    Replace,
    /// The write is refused, as by `file_create`.
    Refuse,
}

/// The parameters of a write besides its target and content.
#[derive(Clone, Copy)]
pub(crate) struct WriteContext<'a> {
    /// The state that each input file must have just before the write takes effect, by canonical path.
    pub(crate) expected: &'a BTreeMap<String, FileState>,
    /// Part of the name of the temporary file.
    pub(crate) execution_id: Uuid,
    /// The request of a person to stop now.
    pub(crate) stop: &'a StopSignal,
}

/// Resolves the target of a write, following links. [`check`] decides whether the write would succeed.
pub(crate) fn target<'a>(
    workspace: &'a Workspace,
    path: &str,
    existing: Existing,
) -> Result<Place<'a>, WorkspaceError> {
    let place = workspace.resolve(path, Last::Follow)?;
    // A link occupies its name, even if it leads nowhere.
    if existing == Existing::Refuse && place.through_link {
        return Err(WorkspaceError::AlreadyExists { path: path.to_owned() });
    }
    if place.kind == Kind::Absent && path.ends_with('/') {
        let reason = "it ends in a slash, so it names a folder";
        return Err(WorkspaceError::BadPath { path: path.to_owned(), reason });
    }
    check_kind(place.kind, path, existing)?;
    Ok(place)
}

/// Fails for what no write can replace by a file.
pub(crate) fn check_kind(kind: Kind, path: &str, existing: Existing) -> Result<(), WorkspaceError> {
    let path = path.to_owned();
    match (kind, existing) {
        (Kind::Absent | Kind::File, _) => Ok(()),
        (_, Existing::Refuse) => Err(WorkspaceError::AlreadyExists { path }),
        (_, Existing::Replace) => {
            Err(WorkspaceError::NotAFile { path, kind, access: Access::Write })
        }
    }
}

/// Fails if a write to a place from [`target`] would fail, as far as the kinds of the file and of its parents
/// show that.
pub(crate) fn check(
    place: &Place<'_>,
    path: &str,
    existing: Existing,
) -> Result<(), WorkspaceError> {
    if existing == Existing::Refuse && place.kind != Kind::Absent {
        return Err(WorkspaceError::AlreadyExists { path: path.to_owned() });
    }
    if place.blocked {
        let source = rustix::io::Errno::NOTDIR.into();
        return Err(WorkspaceError::WriteFailed { path: path.to_owned(), source });
    }
    if existing == Existing::Replace && place.parent == Kind::Absent {
        return Err(WorkspaceError::FolderMissing { path: path.to_owned() });
    }
    Ok(())
}

/// The change of the file at this canonical path from one content to another.
pub(crate) fn effect(
    path: String,
    before_bytes: Option<Arc<[u8]>>,
    after_bytes: Option<Arc<[u8]>>,
    modes: Modes,
) -> FileEffect {
    let before = file::state_of_bytes(before_bytes.as_deref());
    let after = file::state_of_bytes(after_bytes.as_deref());
    FileEffect { path, before, after, before_bytes, after_bytes, modes }
}

/// A file that was written.
pub(crate) struct Written {
    pub(crate) effect: FileEffect,
    pub(crate) created_folders: Vec<String>,
    /// Set if the content was written but may not survive a power failure.
    pub(crate) not_flushed: Option<WorkspaceError>,
    /// Metadata of the old file that could not be copied.
    pub(crate) lost: Vec<String>,
}

/// Writes the whole file atomically or not at all.
///
/// # Errors
/// The target cannot be written or is not in the approved state, a person stopped the step, or another process
/// wrote the file at the same time and its content is now in a second file.
pub(crate) fn write(
    workspace: &Workspace,
    path: &str,
    contents: &str,
    existing: Existing,
    context: &WriteContext<'_>,
) -> Result<Written, WorkspaceError> {
    let place = target(workspace, path, existing)?;
    let approved = context.expected.get(&place.key).copied();
    let now = place.open(path, Access::Write)?;
    check_state(path, approved, file::state(now.map(|(file, _)| file), path)?)?;
    check(&place, path, existing)?;
    check_cancelled(context.stop)?;
    let failed = |source| WorkspaceError::WriteFailed { path: path.to_owned(), source };
    let (Some(parent), Some(name)) = (place.relative.parent(), place.relative.file_name()) else {
        return Err(failed(rustix::io::Errno::ISDIR.into()));
    };
    let mut folders = Folders::new(Disk::REAL);
    let folder = folders.enter(place.root, parent, existing == Existing::Refuse).map_err(failed)?;
    // The folder of the file is flushed after the write; the folders above it are open only if one was
    // created.
    if let Some((_, error)) = folders.flush(Some(folder)).next() {
        return Err(failed(error));
    }
    let folder = folders.dir(folder).map_err(failed)?;
    let target = Target { disk: Disk::REAL, folder, name: Path::new(name), path, existing };
    let Published { before, modes, not_flushed, lost } =
        target.publish(contents, approved, context.execution_id, context.stop)?;
    Ok(Written {
        created_folders: folders.keep(),
        effect: effect(place.key, before.map(Arc::from), Some(contents.as_bytes().into()), modes),
        not_flushed,
        lost,
    })
}

/// Fails if the file is not in the approved state.
pub(crate) fn check_state(
    path: &str,
    approved: Option<FileState>,
    now: FileState,
) -> Result<(), WorkspaceError> {
    if approved == Some(now) {
        return Ok(());
    }
    Err(WorkspaceError::Stale { path: path.to_owned(), approved, now })
}

/// The name of the temporary file of this execution. It is hidden, so that no search finds it.
pub(crate) fn temporary_name(execution_id: Uuid) -> String {
    format!(".countersign-{execution_id}")
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;
    use cap_std::fs::Dir;

    use super::*;
    use crate::workspace::Root;

    fn names(folder: &tempfile::TempDir) -> Vec<String> {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Publishes to `f`, where a file has appeared since the first check.
    fn publish_over(
        existing: Existing,
        approved: FileState,
    ) -> (WorkspaceError, Vec<String>, Vec<u8>) {
        let temporary = tempfile::tempdir().unwrap();
        std::fs::write(temporary.path().join("f"), "theirs").unwrap();
        let folder = Dir::open_ambient_dir(temporary.path(), ambient_authority()).unwrap();
        let (name, path) = (Path::new("f"), "f");
        let target = Target { disk: Disk::REAL, folder: &folder, name, path, existing };
        let error = target.publish("ours", Some(approved), Uuid::new_v4(), &StopSignal::default());
        let error = error.err().unwrap();
        (error, names(&temporary), std::fs::read(temporary.path().join("f")).unwrap())
    }

    #[test]
    fn last_check_follows_writing_the_content() {
        for existing in [Existing::Replace, Existing::Refuse] {
            let (error, names, content) = publish_over(existing, FileState::Absent);
            assert!(matches!(error, WorkspaceError::Stale { .. }), "{error}");
            assert_eq!((names, content), (vec!["f".to_owned()], b"theirs".to_vec()));
        }
    }

    #[test]
    fn planted_folder_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("real")).unwrap();
        std::os::unix::fs::symlink("real", folder.path().join("sub")).unwrap();
        let root = Root::open(folder.path(), true).unwrap();
        for make in [false, true] {
            let mut folders = Folders::new(Disk::REAL);
            assert!(folders.enter(&root, Path::new("sub"), make).is_err());
            assert!(folders.enter(&root, Path::new("real"), make).is_ok());
        }
    }
}
