//! Checks that the search index was written by Countersign with this user's key (SPEC §8). Otherwise another program
//! could add or remove hits without changing a row.
//!
//! The seal is a keyed digest of what the system knows about the file: its number, its size and when it was changed. A
//! digest of the content would take a second for each gigabyte, before every search. The time of the last change of a
//! file cannot be set by a program, so that whoever writes to the file breaks the seal. A copy breaks it, too, and is
//! built anew.

use std::fs::{self, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::evidence::error::Result;
use crate::evidence::lock::Lock;
use crate::evidence::vault::Vault;
use crate::evidence::{EvidenceError, permissions};

const FILE_NAME: &str = "search_index.seal";

/// Computes, stores and checks the seal of the search index of an evidence folder.
#[derive(Debug, Clone)]
pub(super) struct IndexSeal {
    dir: PathBuf,
    vault: Arc<Vault>,
}

impl IndexSeal {
    pub(super) fn new(dir: &Path, vault: &Arc<Vault>) -> Self {
        Self { dir: dir.to_owned(), vault: Arc::clone(vault) }
    }

    /// Prevents other processes from writing the index until the lock is dropped.
    ///
    /// # Errors
    /// [`EvidenceError::Locked`] if another process holds the lock for longer than `timeout`, and when the folder
    /// cannot be written.
    pub(super) fn lock(&self, timeout: Duration) -> Result<Lock> {
        Lock::index(&self.dir, timeout)
    }

    /// Whether the file exists and was last changed by the program that sealed it.
    pub(super) fn matches(&self, index: &Path) -> bool {
        let stored = fs::read_to_string(self.dir.join(FILE_NAME)).unwrap_or_default();
        // SQLite would apply such a file to the index when it is opened. Countersign never leaves one.
        let is_alone = ["-journal", "-wal"].iter().all(|suffix| !beside(index, suffix).exists());
        is_alone && self.digest_of(index).is_ok_and(|digest| digest == stored)
    }

    /// Stores the seal of the current file.
    ///
    /// # Errors
    /// When the file cannot be read or the seal cannot be written.
    pub(super) fn update(&self, index: &Path) -> Result<()> {
        let path = self.dir.join(FILE_NAME);
        let temporary = path.with_extension("seal.tmp");
        let written = self.digest_of(index).and_then(|digest| {
            let _ = fs::remove_file(&temporary);
            permissions::create_new(&temporary)?.write_all(digest.as_bytes())?;
            fs::rename(&temporary, &path)
        });
        written.map_err(|source| EvidenceError::Folder { source, path })
    }

    /// Deletes the stored seal.
    pub(super) fn discard(dir: &Path) {
        let _ = fs::remove_file(dir.join(FILE_NAME));
    }

    fn digest_of(&self, index: &Path) -> io::Result<String> {
        Ok(self.vault.index_digest(&identity(&fs::symlink_metadata(index)?)))
    }
}

/// The path of a file that SQLite keeps beside a database.
pub(super) fn beside(index: &Path, suffix: &str) -> PathBuf {
    let mut name = index.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// What identifies a file and its last change, as text. The number of the device is not in it, because it may be another
/// one after a restart.
#[cfg(unix)]
fn identity(file: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt as _;
    format!(
        "inode {} size {} modified {}.{} changed {}.{}",
        file.ino(),
        file.size(),
        file.mtime(),
        file.mtime_nsec(),
        file.ctime(),
        file.ctime_nsec()
    )
}

/// What identifies a file and its last change, as text.
#[cfg(not(unix))]
fn identity(file: &Metadata) -> String {
    format!("size {} modified {:?} created {:?}", file.len(), file.modified(), file.created())
}

/// The number of a file in its file system; 0 where files have none, and `None` if it does not exist.
#[cfg(unix)]
pub(super) fn number(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    Some(fs::symlink_metadata(path).ok()?.ino())
}

/// The number of a file in its file system; 0 where files have none, and `None` if it does not exist.
#[cfg(not(unix))]
pub(super) fn number(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().map(|_| 0)
}
