//! `file_write` and `file_create` (SPEC §4): whole files, published in one step or not at all.
//!
//! The content goes to a temporary file in the same folder, is flushed, and takes the target's place
//! by an exchange of the two names (see [`publish`]); then the folder is flushed. The folder is held open by a handle all the time, so
//! that nothing can be exchanged for something else between looking and writing.

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

/// What a write looks at besides its target.
#[derive(Clone, Copy)]
pub(crate) struct WriteContext<'a> {
    /// What each input file must still be just before the effect, by canonical path.
    pub(crate) expected: &'a BTreeMap<String, FileState>,
    /// Stands in the name of the temporary file.
    pub(crate) execution_id: Uuid,
    /// Set when a person asked to stop now.
    pub(crate) stop: &'a StopSignal,
}

/// Where a write goes, links resolved. Whether it would succeed is not yet said.
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

/// Why a write would fail that [`target`] has found, as far as names can tell.
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

/// Replaces a file that is there by this text, as `file_write` does. What comes back is why the content,
/// which is in place, may not survive a power cut, and what belonged to the file and could not be kept.
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
    /// The content is in place and may not survive a power cut.
    pub(crate) not_flushed: Option<WorkspaceError>,
    /// What belonged to the file and could not be kept.
    pub(crate) lost: Vec<String>,
}

/// Writes the whole file in one step or not at all.
///
/// # Errors
/// A target that cannot be written, or that is not what was approved.
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

/// Refuses a file that is not what was approved.
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

/// The folders on the way to a new file; those it created go again unless `keep` is set.
struct Folders<'a> {
    root: &'a Root,
    created: Vec<Created>,
    keep: bool,
}

/// A folder that a step has made.
struct Created {
    /// What it stands in.
    parent: Dir,
    name: PathBuf,
    /// Below the root.
    relative: PathBuf,
}

impl Folders<'_> {
    /// Opens the folder at `relative`, name by name and through no link; for a new file the missing
    /// ones are created.
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
                // Someone may have put something into it meanwhile: then it stays.
                let _ = parent.remove_dir(name);
            }
        }
    }
}

/// The name of the temporary file that this execution makes. It is hidden, so that no search finds it.
pub(crate) fn temporary_name(execution_id: Uuid) -> String {
    format!(".countersign-{execution_id}")
}

/// Makes names in a folder durable. The handle itself may be one that cannot be flushed, so the
/// folder is opened once more through it.
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

    /// Publishes `f` although something is there that the first look did not see.
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
