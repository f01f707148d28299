//! The private folder in which one simulation works, and its end.
//!
//! It stands in the user's cache folder: there is room for it, a reboot in between takes nothing away, and
//! it is most likely on the file system of the workspace, which may then share the contents. Whoever works
//! in one holds a lock on a file in it, which the system lets go of however a process ends. So a folder
//! whose lock is free belongs to nobody, and the next one who comes removes it.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// Held while a folder is made or taken down, so that none is ever seen half made.
const DOOR: &str = "door";
/// In each folder; held by whoever works there.
const LOCK: &str = "lock";
/// The folder of the copy, and that of what is built from it.
const COPY: &str = "copy";
const TARGET: &str = "target";

/// Where the simulations of this user are made: in the cache, or where all temporary files are when the
/// cache is in the workspace itself, which may be the home folder.
pub(crate) fn usual_parent(workspace: &Path) -> PathBuf {
    in_cache().filter(|cache| !cache.starts_with(workspace)).unwrap_or_else(in_temporary)
}

/// Every place where simulations of this user may be made.
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

/// The folder of one simulation, which is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    parent: PathBuf,
    top: PathBuf,
    /// Released when this process ends, in whatever way.
    _lock: File,
    is_removed: bool,
}

impl Scratch {
    /// Makes one, and removes those that nobody works in any more.
    ///
    /// # Errors
    /// The system's own words.
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
        // What cannot be removed now is tried again by the next one.
        abandoned.into_iter().for_each(drop);
        Ok(scratch)
    }

    /// Where the copy of the workspace goes; it is called as that is.
    pub(crate) fn copy_of(&self, workspace: &Path) -> PathBuf {
        self.top.join(COPY).join(workspace.file_name().unwrap_or(COPY.as_ref()))
    }

    /// Where everything goes that is built.
    pub(crate) fn target(&self) -> PathBuf {
        self.top.join(TARGET)
    }

    /// A file that is made now, whose times tell what changes from now on.
    ///
    /// # Errors
    /// The system's own words.
    pub(crate) fn mark(&self) -> io::Result<File> {
        File::create(self.top.join("copied"))
    }

    /// Removes it.
    ///
    /// # Errors
    /// The system's own words; the next simulation tries again.
    pub(crate) fn remove(mut self) -> io::Result<()> {
        self.is_removed = true;
        self.take_down()
    }

    fn take_down(&self) -> io::Result<()> {
        // The lock goes last, and with the folder: until then nobody else takes it for abandoned.
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
            // On the way out of an error or a panic nobody is left to tell; the next one tries again.
            let _ = self.take_down();
        }
    }
}

/// Removes what simulations left whose process was killed.
///
/// # Errors
/// The system's own words.
pub(crate) fn tidy(parent: &Path) -> io::Result<()> {
    if !parent.exists() {
        return Ok(());
    }
    let abandoned = Door::open(parent)?.abandoned();
    abandoned.into_iter().try_for_each(Scratch::remove)
}

/// The lock on the folder in which all simulations of a user are.
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

    /// The folders that nobody works in. From now on this does, until they are dropped.
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

fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Removes a folder with all that is in it, also where something in it may not be written to.
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

/// Gives this user every folder below `path` to write in, as far as it is theirs.
fn make_writable(path: &Path) {
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        // What cannot be changed is told by the removal that follows.
        let _ = std::fs::set_permissions(&folder, Permissions::from_mode(0o700));
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let below = entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
        folders.extend(below.map(|entry| entry.path()));
    }
}
