//! `file_write` and `file_create` (SPEC §4): whole files, published in one step or not at all.
//!
//! The content goes to a temporary file in the same folder, is flushed, and takes the target's place
//! by an exchange of the two names (see [`publish`]); then the folder is flushed. The folder is held open by a handle all the time, so
//! that nothing can be exchanged for something else between looking and writing.

mod publish;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use serde_json::json;
use uuid::Uuid;

use crate::authorization::FileState;
use crate::run::{Edge, EdgeType, FileEffect, Modes, TargetKind};

use super::batch::Disk;
use super::place::{Last, Place, Root, Roots};
use super::{Access, Context, Invocation, Kind, ToolError, file};
use publish::{Published, Target};

/// What happens to a target that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    /// `file_write`.
    Replace,
    /// `file_create`.
    Refuse,
}

/// Where a write goes, links resolved. Whether it would succeed is not yet said.
pub(super) fn target<'a>(
    roots: &'a Roots,
    path: &str,
    existing: Existing,
) -> Result<Place<'a>, ToolError> {
    let place = roots.resolve(path, Last::Follow)?;
    // A link occupies its name, wherever it leads.
    if existing == Existing::Refuse && place.through_link {
        return Err(ToolError::AlreadyExists { path: path.to_owned() });
    }
    match place.kind {
        Kind::Absent if path.ends_with('/') => Err(ToolError::BadPath {
            path: path.to_owned(),
            reason: "it ends in a slash, so it names a folder",
        }),
        Kind::Absent | Kind::File => Ok(place),
        Kind::Folder | Kind::Other if existing == Existing::Refuse => {
            Err(ToolError::AlreadyExists { path: path.to_owned() })
        }
        kind => Err(ToolError::NotAFile { path: path.to_owned(), kind, access: Access::Write }),
    }
}

/// Why a write would fail that [`target`] has found, as far as names can tell.
pub(super) fn check(place: &Place<'_>, path: &str, existing: Existing) -> Result<(), ToolError> {
    if existing == Existing::Refuse && place.kind != Kind::Absent {
        return Err(ToolError::AlreadyExists { path: path.to_owned() });
    }
    if place.blocked {
        let source = rustix::io::Errno::NOTDIR.into();
        return Err(ToolError::WriteFailed { path: path.to_owned(), source });
    }
    if existing == Existing::Replace && place.parent == Kind::Absent {
        return Err(ToolError::FolderMissing { path: path.to_owned() });
    }
    Ok(())
}

/// What the write of `contents` does to the file at this canonical path.
pub(super) fn effect(
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

/// Does it.
pub(super) fn invoke(
    roots: &Roots,
    path: &str,
    contents: &str,
    existing: Existing,
    context: &Context<'_>,
) -> Invocation {
    match write(roots, path, contents, existing, context) {
        Ok(written) => written.into_invocation(contents, existing),
        Err(error) => Invocation { error: Some(error), ..Invocation::default() },
    }
}

/// Replaces a file that is there by this text, as `file_write` does. What comes back is why the content,
/// which is in place, may not survive a power cut, and what belonged to the file and could not be kept.
///
/// # Errors
/// As for `file_write`.
pub(super) fn replace(
    roots: &Roots,
    path: &str,
    contents: &str,
    context: &Context<'_>,
) -> Result<(Option<ToolError>, Vec<String>), ToolError> {
    let written = write(roots, path, contents, Existing::Replace, context)?;
    Ok((written.not_flushed, written.lost))
}

struct Written {
    effect: FileEffect,
    created_folders: Vec<String>,
    /// The content is in place and may not survive a power cut.
    not_flushed: Option<ToolError>,
    /// What belonged to the file and could not be kept.
    lost: Vec<String>,
}

impl Written {
    fn into_invocation(self, contents: &str, existing: Existing) -> Invocation {
        let hash = |state: &FileState| match state {
            FileState::Absent => None,
            FileState::Content(digest) => Some(digest.to_string()),
        };
        let mut result = json!({
            "changed_files": [{
                "path": self.effect.path,
                "before": hash(&self.effect.before),
                "after": hash(&self.effect.after),
            }],
            "bytes": contents.len(),
        });
        if existing == Existing::Refuse
            && let Some(fields) = result.as_object_mut()
        {
            fields.insert("created_folders".to_owned(), json!(self.created_folders));
        }
        if !self.lost.is_empty()
            && let Some(fields) = result.as_object_mut()
        {
            fields.insert("warnings".to_owned(), json!(self.lost));
        }
        let edge = |edge_type| Edge {
            edge_type,
            target_kind: TargetKind::File,
            target: self.effect.path.clone(),
        };
        Invocation {
            result,
            edges: vec![edge(EdgeType::ExecutedOn), edge(EdgeType::Affected)],
            files: vec![self.effect],
            error: self.not_flushed,
            ..Invocation::default()
        }
    }
}

fn write(
    roots: &Roots,
    path: &str,
    contents: &str,
    existing: Existing,
    context: &Context<'_>,
) -> Result<Written, ToolError> {
    let place = target(roots, path, existing)?;
    let approved = context.expected.get(&place.key).copied();
    let now = place.open(path, Access::Write)?;
    compare(path, approved, file::state(now.map(|(file, _)| file), path)?)?;
    check(&place, path, existing)?;
    stopped(context)?;
    let failed = |source| ToolError::WriteFailed { path: path.to_owned(), source };
    let (Some(parent), Some(name)) = (place.relative.parent(), place.relative.file_name()) else {
        return Err(failed(rustix::io::Errno::ISDIR.into()));
    };
    let mut folders = Folders { root: place.root, created: Vec::new(), keep: false };
    let folder = folders.enter(parent, existing).map_err(failed)?;
    let target = Target { disk: Disk::REAL, folder, name: Path::new(name), path, existing };
    let Published { before, modes, not_flushed, lost } =
        target.publish(contents, approved, context)?;
    folders.keep = true;
    Ok(Written {
        created_folders: folders.created.iter().map(|it| place.root.key(&it.relative)).collect(),
        effect: effect(place.key, before.map(Arc::from), contents, modes),
        not_flushed,
        lost,
    })
}

/// Refuses a file that is not what was approved.
pub(super) fn compare(
    path: &str,
    approved: Option<FileState>,
    now: FileState,
) -> Result<(), ToolError> {
    if approved == Some(now) {
        return Ok(());
    }
    Err(ToolError::Stale { path: path.to_owned(), approved, now })
}

fn stopped(context: &Context<'_>) -> Result<(), ToolError> {
    if context.stop.is_set() { Err(ToolError::Cancelled) } else { Ok(()) }
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
pub(super) fn temporary_name(execution_id: Uuid) -> String {
    format!(".countersign-{execution_id}")
}

/// Makes names in a folder durable. The handle itself may be one that cannot be flushed, so the
/// folder is opened once more through it.
fn flush_folder(folder: &Dir) -> io::Result<()> {
    folder.open(".")?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use cap_std::ambient_authority;

    use super::*;
    use crate::tools::{NoCapture, StopSignal};

    fn names(folder: &tempfile::TempDir) -> Vec<String> {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Publishes `f` although something is there that the first look did not see.
    fn publish_over(existing: Existing, approved: FileState) -> (ToolError, Vec<String>, Vec<u8>) {
        let temporary = tempfile::tempdir().unwrap();
        std::fs::write(temporary.path().join("f"), "theirs").unwrap();
        let folder = Dir::open_ambient_dir(temporary.path(), ambient_authority()).unwrap();
        let target = Target { disk: Disk::REAL, folder, name: Path::new("f"), path: "f", existing };
        let context = Context {
            expected: &BTreeMap::new(),
            stop: &StopSignal::default(),
            capture: &NoCapture,
            walls: crate::authorization::StepWalls::NONE,
            execution_id: Uuid::new_v4(),
            output: &|_, _| {},
        };
        let error = target.publish("ours", Some(approved), &context).err().unwrap();
        (error, names(&temporary), std::fs::read(temporary.path().join("f")).unwrap())
    }

    #[test]
    fn the_last_look_is_after_the_content_is_on_disk() {
        for existing in [Existing::Replace, Existing::Refuse] {
            let (error, names, content) = publish_over(existing, FileState::Absent);
            assert!(matches!(error, ToolError::Stale { .. }), "{error}");
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
