//! Whether the search index is what this user's program wrote (SPEC §8): somebody could put hits into it, or take
//! hits out of it, and no row would tell.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::error::{EvidenceError, Result};
use super::lock::Lock;
use super::permissions;
use super::vault::Vault;
use crate::plan::Digest;

const FILE_NAME: &str = "search_index.seal";

/// The keyed digest of the index file of an evidence folder.
#[derive(Debug, Clone)]
pub(super) struct Seal {
    dir: PathBuf,
    vault: Arc<Vault>,
}

impl Seal {
    pub(super) fn new(dir: &Path, vault: &Arc<Vault>) -> Self {
        Self { dir: dir.to_owned(), vault: Arc::clone(vault) }
    }

    /// Keeps other processes from writing the index until it is dropped.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub(super) fn lock(&self) -> Result<Lock> {
        Lock::index(&self.dir)
    }

    /// Whether the file is the one that was sealed; a file that is missing is not.
    pub(super) fn holds(&self, index: &Path) -> bool {
        let sealed = fs::read_to_string(self.dir.join(FILE_NAME)).unwrap_or_default();
        self.of(index).is_ok_and(|seal| seal == sealed)
    }

    /// Seals the file as it is now.
    ///
    /// # Errors
    /// A file or folder that cannot be read or written.
    pub(super) fn set(&self, index: &Path) -> Result<()> {
        let path = self.dir.join(FILE_NAME);
        let draft = path.with_extension("seal.tmp");
        let written = self.of(index).and_then(|seal| {
            let _ = fs::remove_file(&draft);
            permissions::create_new(&draft)?.write_all(seal.as_bytes())?;
            fs::rename(&draft, &path)
        });
        written.map_err(|source| EvidenceError::Folder { source, path })
    }

    /// Removes the seal with its index.
    pub(super) fn discard(dir: &Path) {
        let _ = fs::remove_file(dir.join(FILE_NAME));
    }

    fn of(&self, index: &Path) -> io::Result<String> {
        let mut file = File::open(index)?;
        let mut hash = Sha256::new();
        let mut part = vec![0; 1 << 18];
        loop {
            let read = file.read(&mut part)?;
            if read == 0 {
                break;
            }
            hash.update(part.get(..read).unwrap_or_default());
        }
        let digest = Digest::from_bytes(hash.finalize().into());
        Ok(self.vault.seal_index(&digest.hex()))
    }
}
