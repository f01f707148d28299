//! Checks that the search index was written by this user's program (SPEC §8). Otherwise another program could add or
//! remove hits without changing a row.

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

    /// Keeps other processes from writing the index until the lock is dropped.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(super) fn lock(&self) -> Result<Lock> {
        Lock::index(&self.dir)
    }

    /// Whether the file exists and is the one that was sealed.
    pub(super) fn holds(&self, index: &Path) -> bool {
        let sealed = fs::read_to_string(self.dir.join(FILE_NAME)).unwrap_or_default();
        self.of(index).is_ok_and(|seal| seal == sealed)
    }

    /// Seals the present file.
    ///
    /// # Errors
    /// When the file cannot be read or the seal cannot be written.
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

    /// Removes the seal.
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
