//! Private folders, each used by one process and removed after it: of a simulation, or of the walls of a run.
//!
//! The folder of a simulation is in the user's cache folder. This has room, is not cleared by a reboot, and
//! is probably on the file system of the workspace, so that copies can share their data. The process that
//! uses a folder holds a lock on a file in it. The kernel releases the lock however that process ends. A
//! folder whose lock is free is therefore abandoned, and the next call of [`Scratch::create`] with the same
//! parent removes it.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// Lock file of the parent folder, held while a folder is created or removed, so that no other process takes
/// an incomplete folder for an abandoned one.
const DOOR: &str = "door";
/// Lock file in each folder, held by the process that works there.
const LOCK: &str = "lock";
/// Folder of the copy of the workspace; [`TARGET`] is that of its build output.
const COPY: &str = "copy";
const TARGET: &str = "target";

/// The folder in which this user's simulations are created: in the cache, or in the temporary folder when the
/// cache is in the workspace (which may be the home folder).
pub(crate) fn usual_parent(workspace: &Path) -> PathBuf {
    in_cache().filter(|cache| !cache.starts_with(workspace)).unwrap_or_else(in_temporary)
}

/// Every folder in which simulations of this user may have been created.
pub(crate) fn parents() -> impl Iterator<Item = PathBuf> {
    in_cache().into_iter().chain([in_temporary()])
}

fn in_cache() -> Option<PathBuf> {
    let dirs = directories::ProjectDirs::from("", "", "countersign")?;
    Some(dirs.cache_dir().join("simulations"))
}

fn in_temporary() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    std::env::temp_dir().join(format!("countersign-simulations-{user}"))
}

/// A private folder. Dropping it removes the folder.
#[derive(Debug)]
pub(crate) struct Scratch {
    parent: PathBuf,
    top: PathBuf,
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
        let door = Door::open(parent)?;
        let abandoned = door.abandoned();
        let name = format!("{}-{}", std::process::id(), Uuid::new_v4().simple());
        let top = parent.join(name);
        private_folder(&top)?;
        let lock = lock_file(&top)?;
        lock.lock()?;
        drop(door);
        let scratch = Self { parent: parent.to_owned(), top, _lock: lock, is_removed: false };
        private_folder(&scratch.top.join(COPY))?;
        private_folder(&scratch.target())?;
        // If a folder cannot be removed now, the next call tries again.
        abandoned.into_iter().for_each(drop);
        Ok(scratch)
    }

    /// Path of the copy of the workspace. It has the same folder name.
    pub(crate) fn copy_of(&self, workspace: &Path) -> PathBuf {
        self.top.join(COPY).join(workspace.file_name().unwrap_or(COPY.as_ref()))
    }

    /// The folder for all build output.
    pub(crate) fn target(&self) -> PathBuf {
        self.top.join(TARGET)
    }

    /// Creates a file whose timestamp marks the end of copying: a file on the copy with a later timestamp has
    /// changed.
    ///
    /// # Errors
    /// The error of the operating system.
    pub(crate) fn mark(&self) -> io::Result<File> {
        File::create(self.top.join("copied"))
    }

    /// Removes the folder.
    ///
    /// # Errors
    /// The error of the operating system. The next [`Self::create`] with the same parent tries again.
    pub(crate) fn remove(mut self) -> io::Result<()> {
        self.is_removed = true;
        self.take_down()
    }

    fn take_down(&self) -> io::Result<()> {
        // The lock file is removed last, with its folder. Until then no other process takes the folder for an
        // abandoned one.
        for name in [COPY, TARGET] {
            remove_tree(&self.top.join(name))?;
        }
        let _door = Door::open(&self.parent)?;
        remove_tree(&self.top)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.is_removed {
            // After an error or a panic there is no caller to report to; the next `create` tries again.
            let _ = self.take_down();
        }
    }
}

/// Removes the abandoned folders in `parent`, whose processes were killed.
///
/// # Errors
/// The error of the operating system.
pub(crate) fn tidy(parent: &Path) -> io::Result<()> {
    if !parent.exists() {
        return Ok(());
    }
    let abandoned = Door::open(parent)?.abandoned();
    abandoned.into_iter().try_for_each(Scratch::remove)
}

/// The lock on the folder that contains the private folders of a user.
struct Door<'a> {
    parent: &'a Path,
    _lock: File,
}

impl<'a> Door<'a> {
    fn open(parent: &'a Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        let data = std::fs::symlink_metadata(parent)?;
        let is_ours = data.is_dir() && data.uid() == rustix::process::geteuid().as_raw();
        if !is_ours || data.mode() & 0o022 != 0 {
            let why = "it is not a folder in which only this user may write";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        let lock = open_lock(&parent.join(DOOR))?;
        lock.lock()?;
        Ok(Self { parent, _lock: lock })
    }

    /// The abandoned folders, locked by this process until they are dropped.
    fn abandoned(&self) -> Vec<Scratch> {
        let entries = std::fs::read_dir(self.parent).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
        let free = folders.filter_map(|entry| {
            let top = entry.path();
            let lock = lock_file(&top).ok()?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return None,
            }
            let parent = self.parent.to_owned();
            Some(Scratch { parent, top, _lock: lock, is_removed: false })
        });
        free.collect()
    }
}

fn lock_file(top: &Path) -> io::Result<File> {
    open_lock(&top.join(LOCK))
}

fn open_lock(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)
}

/// Creates a folder that only this user can enter.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Removes a folder with its contents, including folders without write permission.
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

/// Makes every folder below `path` writable for this user, as far as the user owns it.
fn make_writable(path: &Path) {
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        // When this fails, the removal that follows reports it.
        let _ = std::fs::set_permissions(&folder, Permissions::from_mode(0o700));
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let below = entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
        folders.extend(below.map(|entry| entry.path()));
    }
}
