//! `file_write` and `file_create` (SPEC §4): whole files, written atomically or not at all.
//!
//! The content is written to a temporary file in the same folder and flushed. Then this file takes the target's
//! name, by an exchange of the two names if the target exists (see [`super::publish`]), and the folder is
//! flushed. An open handle holds the folder throughout, so that it cannot be replaced between the check and the
//! write.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use uuid::Uuid;

use crate::authorization::FileState;
use crate::run::{FileEffect, Modes, StopSignal};

use super::publish::{Published, Target};
use super::{Access, Disk, Kind, Last, Place, Root, Workspace, WorkspaceError, file, go_on};

/// What happens to a target that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// `file_write`.
    Replace,
    /// `file_create`.
    Refuse,
}

/// What a write needs besides its target and content.
#[derive(Clone, Copy)]
pub(crate) struct WriteContext<'a> {
    /// The state that each input file must have just before the write takes effect, by canonical path.
    pub(crate) expected: &'a BTreeMap<String, FileState>,
    /// Part of the name of the temporary file.
    pub(crate) execution_id: Uuid,
    /// Set when a person asked to stop now.
    pub(crate) stop: &'a StopSignal,
}

/// Resolves the target of a write, following links. Whether the write would succeed is for [`check`].
pub(crate) fn target<'a>(
    workspace: &'a Workspace,
    path: &str,
    existing: Existing,
) -> Result<Place<'a>, WorkspaceError> {
    let place = workspace.resolve(path, Last::Follow)?;
    // A link occupies its name, wherever it leads.
    if existing == Existing::Refuse && place.through_link {
        return Err(WorkspaceError::AlreadyExists { path: path.to_owned() });
    }
    match place.kind {
        Kind::Absent if path.ends_with('/') => Err(WorkspaceError::BadPath {
            path: path.to_owned(),
            reason: "it ends in a slash, so it names a folder",
        }),
        Kind::Absent | Kind::File => Ok(place),
        Kind::Folder | Kind::Other if existing == Existing::Refuse => {
            Err(WorkspaceError::AlreadyExists { path: path.to_owned() })
        }
        kind => {
            Err(WorkspaceError::NotAFile { path: path.to_owned(), kind, access: Access::Write })
        }
    }
}

/// Checks whether a write to a place from [`target`] would succeed, as far as names can tell.
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

/// What the write of `contents` does to the file at this canonical path.
pub(crate) fn effect(
    path: String,
    before: Option<Arc<[u8]>>,
    contents: &str,
    modes: Modes,
) -> FileEffect {
    FileEffect {
        path,
        before: file::state_of_bytes(before.as_deref()),
        after: file::state_of_bytes(Some(contents.as_bytes())),
        before_bytes: before,
        after_bytes: Some(Arc::from(contents.as_bytes())),
        modes,
    }
}

/// Replaces an existing file by this text, as `file_write` does. Returns why the content, which is in place,
/// may not survive a power failure, if so; and the metadata that could not be kept.
///
/// # Errors
/// As for `file_write`.
pub(crate) fn replace(
    workspace: &Workspace,
    path: &str,
    contents: &str,
    context: &WriteContext<'_>,
) -> Result<(Option<WorkspaceError>, Vec<String>), WorkspaceError> {
    let written = write(workspace, path, contents, Existing::Replace, context)?;
    Ok((written.not_flushed, written.lost))
}

/// A file that was written.
pub(crate) struct Written {
    pub(crate) effect: FileEffect,
    pub(crate) created_folders: Vec<String>,
    /// Set if the content is in place but may not survive a power failure.
    pub(crate) not_flushed: Option<WorkspaceError>,
    /// Metadata of the old file that could not be kept.
    pub(crate) lost: Vec<String>,
}

/// Writes the whole file atomically or not at all.
///
/// # Errors
/// The target cannot be written, or is not in the approved state.
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
    compare(path, approved, file::state(now.map(|(file, _)| file), path)?)?;
    check(&place, path, existing)?;
    go_on(context.stop)?;
    let failed = |source| WorkspaceError::WriteFailed { path: path.to_owned(), source };
    let (Some(parent), Some(name)) = (place.relative.parent(), place.relative.file_name()) else {
        return Err(failed(rustix::io::Errno::ISDIR.into()));
    };
    let mut folders = Folders { root: place.root, created: Vec::new(), keep: false };
    let folder = folders.enter(parent, existing).map_err(failed)?;
    let target = Target { disk: Disk::REAL, folder, name: Path::new(name), path, existing };
    let Published { before, modes, not_flushed, lost } =
        target.publish(contents, approved, context.execution_id, context.stop)?;
    folders.keep = true;
    Ok(Written {
        created_folders: folders.created.iter().map(|it| place.root.key(&it.relative)).collect(),
        effect: effect(place.key, before.map(Arc::from), contents, modes),
        not_flushed,
        lost,
    })
}

/// Fails if the file is not in the approved state.
pub(crate) fn compare(
    path: &str,
    approved: Option<FileState>,
    now: FileState,
) -> Result<(), WorkspaceError> {
    if approved == Some(now) {
        return Ok(());
    }
    Err(WorkspaceError::Stale { path: path.to_owned(), approved, now })
}

/// The folders above a new file; those it created are removed on drop unless `keep` is set.
struct Folders<'a> {
    root: &'a Root,
    created: Vec<Created>,
    keep: bool,
}

/// A folder that this write created.
struct Created {
    /// Its parent.
    parent: Dir,
    name: PathBuf,
    /// The path below the root.
    relative: PathBuf,
}

impl Folders<'_> {
    /// Opens the folder at `relative` name by name, without following links; creates missing folders for a new
    /// file.
    fn enter(&mut self, relative: &Path, existing: Existing) -> io::Result<Dir> {
        let mut folder = self.root.dir.try_clone()?;
        let mut here = PathBuf::new();
        for name in relative {
            here.push(name);
            let name = Path::new(name);
            folder = match file::open_folder(&folder, name) {
                Err(error)
                    if error.kind() == io::ErrorKind::NotFound && existing == Existing::Refuse =>
                {
                    match folder.create_dir(name) {
                        Ok(()) => self.created.push(Created {
                            parent: folder.try_clone()?,
                            name: name.to_owned(),
                            relative: here.clone(),
                        }),
                        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                        Err(error) => return Err(error),
                    }
                    flush_folder(&folder)?;
                    file::open_folder(&folder, name)?
                }
                opened => opened?,
            };
        }
        Ok(folder)
    }
}

impl Drop for Folders<'_> {
    fn drop(&mut self) {
        if !self.keep {
            for Created { parent, name, .. } in self.created.iter().rev() {
                // If another process has put something into it meanwhile, it stays.
                let _ = parent.remove_dir(name);
            }
        }
    }
}

/// The name of the temporary file of this execution. It is hidden, so that no search finds it.
pub(crate) fn temporary_name(execution_id: Uuid) -> String {
    format!(".countersign-{execution_id}")
}

/// Makes names in a folder durable. A handle opened with `O_PATH` cannot be flushed, so the folder is opened
/// again through it.
fn flush_folder(folder: &Dir) -> io::Result<()> {
    folder.open(".")?.sync_all()
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;

    use super::*;

    fn names(folder: &tempfile::TempDir) -> Vec<String> {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Publishes to `f` when a file has appeared there since the first check.
    fn publish_over(
        existing: Existing,
        approved: FileState,
    ) -> (WorkspaceError, Vec<String>, Vec<u8>) {
        let temporary = tempfile::tempdir().unwrap();
        std::fs::write(temporary.path().join("f"), "theirs").unwrap();
        let folder = Dir::open_ambient_dir(temporary.path(), ambient_authority()).unwrap();
        let target = Target { disk: Disk::REAL, folder, name: Path::new("f"), path: "f", existing };
        let error = target.publish("ours", Some(approved), Uuid::new_v4(), &StopSignal::default());
        let error = error.err().unwrap();
        (error, names(&temporary), std::fs::read(temporary.path().join("f")).unwrap())
    }

    #[test]
    fn the_last_look_is_after_the_content_is_on_disk() {
        for existing in [Existing::Replace, Existing::Refuse] {
            let (error, names, content) = publish_over(existing, FileState::Absent);
            assert!(matches!(error, WorkspaceError::Stale { .. }), "{error}");
            assert_eq!((names, content), (vec!["f".to_owned()], b"theirs".to_vec()));
        }
    }

    #[test]
    fn a_link_that_was_put_in_the_way_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("real")).unwrap();
        std::os::unix::fs::symlink("real", folder.path().join("sub")).unwrap();
        let root = Root::open(folder.path(), true).unwrap();
        for existing in [Existing::Replace, Existing::Refuse] {
            let mut folders = Folders { root: &root, created: Vec::new(), keep: false };
            assert!(folders.enter(Path::new("sub"), existing).is_err());
            assert!(folders.enter(Path::new("real"), existing).is_ok());
        }
    }
}
