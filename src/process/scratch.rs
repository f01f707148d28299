//! Private temporary folders of simulations and of the walls of a run. Each is used by one process, and removed
//! afterwards.
//!
//! The folder of a simulation is in the user's cache folder, which usually has enough space, is not cleared by a
//! reboot, and is probably on the file system of the workspace, so that copies can share their data. The process
//! that uses a folder holds a lock on a file in it, which the kernel releases however that process ends. So a
//! folder whose lock is free is abandoned: the next call of [`Scratch::create`] with the same parent removes it.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// Lock file of the parent folder, held while a folder is created or removed, so that no other process takes
/// an incomplete folder for an abandoned one.
const PARENT_LOCK: &str = "door";
/// Lock file in each folder, held by the process that works there.
const LOCK: &str = "lock";
/// Folder of the copy of the workspace.
const COPY: &str = "copy";
/// Folder of the build output.
const TARGET: &str = "target";

/// The folder in which this user's simulations are created: in the cache, or in the temporary folder when the
/// cache is in the workspace (which may be the home folder).
pub(crate) fn default_parent(workspace: &Path) -> PathBuf {
    cache_parent().filter(|cache| !cache.starts_with(workspace)).unwrap_or_else(temporary_parent)
}

/// Every folder in which simulations of this user may have been created.
pub(crate) fn parents() -> impl Iterator<Item = PathBuf> {
    cache_parent().into_iter().chain([temporary_parent()])
}

fn cache_parent() -> Option<PathBuf> {
    let dirs = directories::ProjectDirs::from("", "", "countersign")?;
    Some(dirs.cache_dir().join("simulations"))
}

fn temporary_parent() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    std::env::temp_dir().join(format!("countersign-simulations-{user}"))
}

/// A private folder. Dropping it removes the folder.
#[derive(Debug)]
pub(crate) struct Scratch {
    parent: PathBuf,
    folder: PathBuf,
    /// The kernel releases this lock when the process ends, even when it is killed.
    _lock: File,
    is_removed: bool,
}

impl Scratch {
    /// Creates a folder, and removes the abandoned ones.
    ///
    /// # Errors
    /// The error of the operating system.
    pub(crate) fn create(parent: &Path) -> io::Result<Self> {
        let parent_lock = ParentLock::acquire(parent)?;
        let abandoned = parent_lock.abandoned();
        let name = format!("{}-{}", std::process::id(), Uuid::new_v4().simple());
        let folder = parent.join(name);
        private_folder(&folder)?;
        let lock = lock_file(&folder)?;
        lock.lock()?;
        drop(parent_lock);
        let scratch = Self { parent: parent.to_owned(), folder, _lock: lock, is_removed: false };
        private_folder(&scratch.folder.join(COPY))?;
        private_folder(&scratch.target())?;
        // Dropping them removes the folders. If one cannot be removed now, the next call tries again.
        abandoned.into_iter().for_each(drop);
        Ok(scratch)
    }

    /// The path for the copy of the workspace, which gets the same folder name.
    pub(crate) fn copy_of(&self, workspace: &Path) -> PathBuf {
        self.folder.join(COPY).join(workspace.file_name().unwrap_or(COPY.as_ref()))
    }

    /// The folder for all build output.
    pub(crate) fn target(&self) -> PathBuf {
        self.folder.join(TARGET)
    }

    /// Creates a file whose timestamp marks the end of copying: a file of the copy with a later timestamp has
    /// changed.
    ///
    /// # Errors
    /// The error of the operating system.
    pub(crate) fn mark(&self) -> io::Result<File> {
        File::create(self.folder.join("copied"))
    }

    /// Removes the folder.
    ///
    /// # Errors
    /// The error of the operating system. The next [`Self::create`] with the same parent tries again.
    pub(crate) fn remove(mut self) -> io::Result<()> {
        self.is_removed = true;
        self.remove_files()
    }

    fn remove_files(&self) -> io::Result<()> {
        // The lock file is removed last, with its folder. Until then no other process takes the folder for an
        // abandoned one.
        for name in [COPY, TARGET] {
            remove_tree(&self.folder.join(name))?;
        }
        let _parent_lock = ParentLock::acquire(&self.parent)?;
        remove_tree(&self.folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.is_removed {
            // After an error or a panic there is no caller to report to; the next `create` tries again.
            let _ = self.remove_files();
        }
    }
}

/// Removes the abandoned folders in `parent`: those whose process was killed.
///
/// # Errors
/// The error of the operating system.
pub(crate) fn remove_abandoned(parent: &Path) -> io::Result<()> {
    if !parent.exists() {
        return Ok(());
    }
    let abandoned = ParentLock::acquire(parent)?.abandoned();
    abandoned.into_iter().try_for_each(Scratch::remove)
}

/// The lock on the folder that contains the private folders of a user.
struct ParentLock<'a> {
    parent: &'a Path,
    _lock: File,
}

impl<'a> ParentLock<'a> {
    /// Creates the folder if it is missing, checks that only this user can write to it, and waits for the lock.
    fn acquire(parent: &'a Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        let data = std::fs::symlink_metadata(parent)?;
        let is_ours = data.is_dir() && data.uid() == rustix::process::geteuid().as_raw();
        if !is_ours || data.mode() & 0o022 != 0 {
            let why = "it is not a folder in which only this user may write";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        let lock = open_lock(&parent.join(PARENT_LOCK))?;
        lock.lock()?;
        Ok(Self { parent, _lock: lock })
    }

    /// The abandoned folders, locked by this process until they are dropped.
    fn abandoned(&self) -> Vec<Scratch> {
        let entries = std::fs::read_dir(self.parent).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
        let free = folders.filter_map(|entry| {
            let folder = entry.path();
            let lock = lock_file(&folder).ok()?;
            lock.try_lock().ok()?;
            let parent = self.parent.to_owned();
            Some(Scratch { parent, folder, _lock: lock, is_removed: false })
        });
        free.collect()
    }
}

fn lock_file(folder: &Path) -> io::Result<File> {
    open_lock(&folder.join(LOCK))
}

fn open_lock(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)
}

/// Creates a folder that only this user can enter.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Removes a folder with its contents, including folders without write permission. A missing folder is no error.
fn remove_tree(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(path);
            std::fs::remove_dir_all(path)
        }
        removed => removed,
    }
}

/// Makes `path` and every folder below it writable for this user, as far as the user owns them.
fn make_writable(path: &Path) {
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        // If this fails, the removal that follows reports an error.
        let _ = std::fs::set_permissions(&folder, Permissions::from_mode(0o700));
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let below = entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
        folders.extend(below.map(|entry| entry.path()));
    }
}
