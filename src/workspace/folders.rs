//! The folders that a write or a batch works in. Each is opened once and kept open, missing ones are created,
//! and all are flushed once at the end.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use rustix::fs::OFlags;

use super::{Disk, Root, file, open_beneath};

/// Index of an open folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FolderId(usize);

struct Folder {
    dir: Dir,
    key: String,
}

/// A created folder and its parent.
struct CreatedFolder {
    parent: FolderId,
    name: PathBuf,
    key: String,
}

/// The open folders. Folders that were created are removed on drop, unless [`Self::keep`] was called.
pub(crate) struct Folders<'a> {
    disk: Disk<'a>,
    open: Vec<Folder>,
    by_key: BTreeMap<String, FolderId>,
    created: Vec<CreatedFolder>,
}

impl<'a> Folders<'a> {
    pub(crate) fn new(disk: Disk<'a>) -> Self {
        Self { disk, open: Vec::new(), by_key: BTreeMap::new(), created: Vec::new() }
    }

    /// The handle of a folder.
    pub(crate) fn dir(&self, id: FolderId) -> io::Result<&Dir> {
        Ok(&self.open.get(id.0).ok_or(io::ErrorKind::NotFound)?.dir)
    }

    /// Keeps the created folders; returns their canonical paths, parents first.
    pub(crate) fn keep(&mut self) -> Vec<String> {
        std::mem::take(&mut self.created).into_iter().map(|created| created.key).collect()
    }

    /// Opens the folder at `relative` without following links, once for all calls. If it is missing and `create`
    /// is set, creates it and its missing parents.
    pub(crate) fn enter(
        &mut self,
        root: &Root,
        relative: &Path,
        create: bool,
    ) -> io::Result<FolderId> {
        let key = root.key(relative);
        if let Some(id) = self.by_key.get(&key) {
            return Ok(*id);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let opened = if relative.as_os_str().is_empty() {
            // The root's own handle is used, because files can be written in a folder without permission to
            // list it.
            root.dir.try_clone()
        } else {
            let folder = open_beneath::open(&root.dir, relative, flags);
            folder.map(|folder| Dir::from_std_file(folder.into()))
        };
        let dir = match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound && create => {
                self.create(root, relative)?
            }
            opened => opened?,
        };
        let id = FolderId(self.open.len());
        self.open.push(Folder { dir, key: key.clone() });
        self.by_key.insert(key, id);
        Ok(id)
    }

    /// Creates the folder and its missing parents.
    fn create(&mut self, root: &Root, relative: &Path) -> io::Result<Dir> {
        let (Some(above), Some(name)) = (relative.parent(), relative.file_name()) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let parent = self.enter(root, above, true)?;
        let name = PathBuf::from(name);
        match self.disk.create_folder(self.dir(parent)?, &name) {
            Ok(()) => {
                let key = root.key(relative);
                self.created.push(CreatedFolder { parent, name: name.clone(), key });
            }
            // Another process created the folder meanwhile, so `remove_created` must not remove it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        file::open_folder(self.dir(parent)?, &name)
    }

    /// Flushes the folders, but not `except`, one after the other as the iterator advances; yields those that
    /// fail.
    pub(crate) fn flush(
        &self,
        except: Option<FolderId>,
    ) -> impl Iterator<Item = (&str, io::Error)> {
        let flushed = self.open.iter().enumerate();
        let flushed = flushed.filter(move |(index, _)| Some(FolderId(*index)) != except);
        flushed.filter_map(|(_, folder)| {
            let error = self.disk.flush_folder(&folder.dir).err()?;
            Some((folder.key.as_str(), error))
        })
    }

    /// Removes the created folders; returns those that could not be removed, with the error.
    pub(crate) fn remove_created(&mut self) -> Vec<(String, io::Error)> {
        let mut failed = Vec::new();
        for CreatedFolder { parent, name, key } in
            std::mem::take(&mut self.created).into_iter().rev()
        {
            let removed = self.dir(parent).and_then(|dir| self.disk.remove_folder(dir, &name));
            match removed {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => failed.push((key, error)),
            }
        }
        failed
    }
}

impl Drop for Folders<'_> {
    fn drop(&mut self) {
        // A created folder in which another process has created an entry is not empty and stays.
        self.remove_created();
    }
}
/// What tells the folder at this path from another one that takes its place: its device and inode. `None` if it is no
/// folder, or the system has no such numbers.
#[cfg(unix)]
pub fn folder_id(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_dir)?;
    Some(format!("{}:{}", found.dev(), found.ino()))
}

/// Not known on this system.
#[cfg(not(unix))]
pub fn folder_id(_: &Path) -> Option<String> {
    None
}
