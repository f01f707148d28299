//! Copies the workspace: the files that git does not ignore, and those that the simulation names.
//!
//! All files are opened through the handle of the workspace folder, as in every tool. A link is copied as a link,
//! and only if it leads inside the workspace. Its target is rewritten where needed, so that no link on the copy
//! leads back to the workspace. Contents are shared with the workspace if the file system supports it (`FICLONE`:
//! Btrfs, XFS and others), and copied otherwise.

use std::collections::BTreeMap;
use std::fs::{File, FileTimes};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use cap_std::fs::{
    Dir, MetadataExt as _, OpenOptions, OpenOptionsExt as _, Permissions, PermissionsExt as _,
};

use super::settings::Limits;
use super::stamp::Stamp;
use super::{SimulationError, links};
use crate::run::{StopSignal, text};
use crate::tools::ToolError;
use crate::workspace::{
    Access, FileSelection, Kind, Last, SearchBudget, WalkEntry, Workspace, check_cancelled,
    walk_for,
};

/// Number of bytes that are copied between two checks for a stop.
const CHUNK_BYTES: u64 = 64 << 20;
/// Maximum number of omitted names that are listed.
const MAX_LISTED: usize = 100;

/// A copied file or link: the stamps of the original and of the copy when it was copied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) source: Stamp,
    pub(super) copy: Stamp,
    pub(super) is_link: bool,
}

/// The outcome of copying.
#[derive(Debug, Default)]
pub(super) struct Copied {
    /// The copied files and links, by path below the workspace.
    pub(super) entries: BTreeMap<PathBuf, Entry>,
    pub(super) folders: u64,
    pub(super) bytes: u64,
    /// Whether at least one file shares its content with the workspace.
    pub(super) is_shared: bool,
    /// Names that were not copied although they were chosen, with the reason; at most [`MAX_LISTED`].
    pub(super) left_out: Vec<String>,
    /// The number of further omitted names.
    pub(super) left_out_more: usize,
}

/// Copies the workspace into the empty folder `to`, including the files `named`, whether git ignores them
/// or not.
///
/// # Errors
/// A limit that is exceeded, a file that cannot be read or written, a stop.
pub(super) fn copy(
    workspace: &Workspace,
    to: &Dir,
    named: &[String],
    limits: Limits,
    stop: &StopSignal,
) -> Result<Copied, ToolError> {
    let copier = Copier::new(workspace, to, limits, stop);
    let top = workspace.resolve(".", Last::Follow)?;
    walk_for(
        FileSelection::Git,
        &top,
        SearchBudget::unlimited(stop),
        || (),
        |(), step| copier.copy_entry(step),
    )?;
    if let Some(error) = copier.progress().error.take() {
        return Err(error);
    }
    // The walk returns no error after a stop.
    copier.check_continue()?;
    for path in named {
        copier.copy_named(path)?;
    }
    copier.finish()
}

/// A copy in progress, shared by all threads.
struct Copier<'a> {
    workspace: &'a Workspace,
    to: &'a Dir,
    limits: Limits,
    deadline: Option<Instant>,
    stop: &'a StopSignal,
    /// The number of names so far.
    names: AtomicU64,
    /// The size of the contents so far.
    bytes: AtomicU64,
    /// False once the file system has refused to share a content.
    can_share: AtomicBool,
    has_shared: AtomicBool,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    copied: Copied,
    /// The modes of the folders, set after their contents are copied.
    modes: Vec<(PathBuf, Permissions)>,
    error: Option<ToolError>,
}

impl<'a> Copier<'a> {
    fn new(workspace: &'a Workspace, to: &'a Dir, limits: Limits, stop: &'a StopSignal) -> Self {
        Self {
            workspace,
            to,
            limits,
            deadline: Instant::now().checked_add(limits.time),
            stop,
            names: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            can_share: AtomicBool::new(true),
            has_shared: AtomicBool::new(false),
            progress: Mutex::default(),
        }
    }

    fn progress(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies one entry of the walk.
    fn copy_entry(&self, step: WalkEntry<'_>) -> ControlFlow<()> {
        let copied = match step {
            WalkEntry::Folder(path) => self.copy_folder(path),
            WalkEntry::File(path) => self.copy_file(path),
            WalkEntry::Link(path) => self.copy_link(path),
            WalkEntry::Other(path) => {
                self.omit(path, "it is a device, pipe or socket");
                Ok(())
            }
            WalkEntry::Problem(text) => {
                self.list_omission(text);
                Ok(())
            }
        };
        match copied {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                // The first error is the cause; later ones may be consequences.
                self.progress().error.get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Lists a name as omitted, with the reason.
    fn omit(&self, path: &Path, why: &str) {
        self.list_omission(format!("{}: {why}", self.workspace.root.key(path)));
    }

    fn list_omission(&self, text: String) {
        let copied = &mut self.progress().copied;
        if copied.left_out.len() < MAX_LISTED {
            copied.left_out.push(text);
        } else {
            copied.left_out_more += 1;
        }
    }

    /// The result for a name; `None` if the name is gone or, listed as omitted, cannot be read.
    fn existing<T>(&self, path: &Path, result: io::Result<T>) -> Option<T> {
        match result {
            Ok(found) => Some(found),
            // It was removed after its folder was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                self.omit(path, &format!("it cannot be read: {error}"));
                None
            }
        }
    }

    /// Fails after a stop, and when copying takes too long.
    fn check_continue(&self) -> Result<(), ToolError> {
        check_cancelled(self.stop)?;
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            let after = text::duration(self.limits.time);
            return Err(SimulationError::TooSlow { after }.into());
        }
        Ok(())
    }

    /// Counts one more name, whose content has this many bytes.
    ///
    /// # Errors
    /// A limit is exceeded, or a stop.
    fn count(&self, bytes: u64) -> Result<(), ToolError> {
        let limit = self.limits.names;
        self.check_continue()?;
        if self.names.fetch_add(1, Ordering::Relaxed) >= limit {
            return Err(SimulationError::TooMany { limit }.into());
        }
        self.count_bytes(bytes)
    }

    fn count_bytes(&self, bytes: u64) -> Result<(), ToolError> {
        let limit = self.limits.bytes;
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        match before.checked_add(bytes).is_some_and(|total| total <= limit) {
            true => Ok(()),
            false => Err(SimulationError::TooLarge { limit }.into()),
        }
    }

    fn failed(&self, path: &Path) -> impl Fn(io::Error) -> ToolError {
        let path = self.workspace.root.key(path);
        move |source| SimulationError::Copy { path: path.clone(), source }.into()
    }

    fn copy_folder(&self, path: &Path) -> Result<(), ToolError> {
        if path.as_os_str().is_empty() {
            return Ok(());
        }
        let data = self.workspace.root.dir.symlink_metadata(path);
        let Some(data) = self.existing(path, data) else { return Ok(()) };
        self.count(0)?;
        self.to.create_dir(path).map_err(self.failed(path))?;
        let mut progress = self.progress();
        progress.copied.folders += 1;
        progress.modes.push((path.to_owned(), Permissions::from_mode(data.mode() & 0o777)));
        Ok(())
    }

    fn copy_file(&self, path: &Path) -> Result<(), ToolError> {
        let key = self.workspace.root.key(path);
        let (source, data) = match self.workspace.root.open_file(path, &key, Access::Read) {
            Ok(Some(opened)) => opened,
            // The file was removed after its folder was read.
            Ok(None) => return Ok(()),
            // The file is listed as omitted, because a tool would fail on it in the workspace too.
            Err(error) => {
                self.list_omission(error.to_string());
                return Ok(());
            }
        };
        self.count(data.len())?;
        let mode = data.mode() & 0o777;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode);
        let failed = self.failed(path);
        let target = self.to.open_with(path, &options).map_err(&failed)?.into_std();
        self.copy_content(&source, &target, data.len(), path)?;
        if let Ok(modified) = data.modified() {
            // Build tools compare modification times.
            let times = FileTimes::new().set_modified(modified.into_std());
            target.set_times(times).map_err(&failed)?;
        }
        let target = cap_std::fs::File::from_std(target);
        let mut copy = target.metadata().map_err(&failed)?;
        if copy.mode() & 0o777 != mode {
            target.set_permissions(Permissions::from_mode(mode)).map_err(&failed)?;
            copy = target.metadata().map_err(&failed)?;
        }
        let entry = Entry { source: Stamp::of(&data), copy: Stamp::of(&copy), is_link: false };
        self.progress().copied.entries.insert(path.to_owned(), entry);
        Ok(())
    }

    /// Shares the content, or copies it if the file system cannot share. `size` is the size that was counted.
    fn copy_content(
        &self,
        source: &File,
        target: &File,
        size: u64,
        path: &Path,
    ) -> Result<(), ToolError> {
        if size > 0 && self.can_share.load(Ordering::Relaxed) {
            if share(source, target).is_ok() {
                self.has_shared.store(true, Ordering::Relaxed);
                return Ok(());
            }
            // Sharing will fail for the other files too, and trying takes longer than copying.
            self.can_share.store(false, Ordering::Relaxed);
        }
        let mut counted = size;
        let mut copied = 0;
        loop {
            let chunk = io::copy(&mut io::Read::take(source, CHUNK_BYTES), &mut { target });
            let chunk = chunk.map_err(self.failed(path))?;
            copied += chunk;
            if copied > counted {
                // The file has grown, or its reported size was wrong.
                self.count_bytes(copied - counted)?;
                counted = copied;
            }
            if chunk < CHUNK_BYTES {
                return Ok(());
            }
            self.check_continue()?;
        }
    }

    fn copy_link(&self, path: &Path) -> Result<(), ToolError> {
        let dir = &self.workspace.root.dir;
        let read = dir.read_link_contents(path);
        let read = read.and_then(|target| Ok((target, dir.symlink_metadata(path)?)));
        let Some((target, data)) = self.existing(path, read) else { return Ok(()) };
        let target = match links::target_on_copy(self.workspace, path, &target) {
            Ok(target) => target,
            Err(why) => {
                self.omit(path, why);
                return Ok(());
            }
        };
        self.count(0)?;
        self.to.symlink_contents(&target, path).map_err(self.failed(path))?;
        let copy = self.to.symlink_metadata(path).map_err(self.failed(path))?;
        let entry = Entry { source: Stamp::of(&data), copy: Stamp::of(&copy), is_link: true };
        self.progress().copied.entries.insert(path.to_owned(), entry);
        Ok(())
    }

    /// Copies the file at a path that the simulation names, and the links that lead to it, whether git ignores
    /// them or not. If the file does not exist, only its existing parent folders are created.
    fn copy_named(&self, path: &str) -> Result<(), ToolError> {
        for last in [Last::Keep, Last::Follow] {
            // The tool that uses the path reports the error.
            let Ok(place) = self.workspace.resolve(path, last) else { return Ok(()) };
            if !std::ptr::eq(place.root, &self.workspace.root) {
                continue;
            }
            for link in place.links.iter().filter(|link| !self.is_copied(link)) {
                self.create_parents(link)?;
                self.copy_link(link)?;
            }
            if self.is_copied(&place.relative) {
                continue;
            }
            if place.parent == Kind::Folder {
                self.create_parents(&place.relative)?;
            }
            let data = self.workspace.root.dir.symlink_metadata(&place.relative);
            match place.kind {
                _ if data.is_ok_and(|data| data.is_symlink()) => self.copy_link(&place.relative)?,
                Kind::File => self.copy_file(&place.relative)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn is_copied(&self, path: &Path) -> bool {
        self.to.symlink_metadata(path).is_ok()
    }

    fn create_parents(&self, path: &Path) -> Result<(), ToolError> {
        let Some(parent) = path.parent() else { return Ok(()) };
        self.to.create_dir_all(parent).map_err(self.failed(parent))
    }

    fn finish(&self) -> Result<Copied, ToolError> {
        let is_shared = self.has_shared.load(Ordering::Relaxed);
        let bytes = self.bytes.load(Ordering::Relaxed);
        let mut progress = std::mem::take(&mut *self.progress());
        // Folders get their modes before their parents, because a folder without search permission blocks access
        // to the folders in it.
        progress.modes.sort_by(|(one, _), (other, _)| other.cmp(one));
        for (path, mode) in progress.modes {
            self.to.set_permissions(&path, mode).map_err(self.failed(&path))?;
        }
        progress.copied.left_out.sort();
        Ok(Copied { bytes, is_shared, ..progress.copied })
    }
}

/// Makes `target` share the content of `source`.
#[cfg(target_os = "linux")]
fn share(source: &File, target: &File) -> io::Result<()> {
    rustix::fs::ioctl_ficlone(target, source).map_err(io::Error::from)
}

#[cfg(not(target_os = "linux"))]
fn share(_: &File, _: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests;
