//! Checks that the search index was written by Countersign with this user's key (SPEC §8). Otherwise another program
//! could add or remove hits without changing a row.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::error::Result;
use super::lock::Lock;
use super::vault::Vault;
use super::{EvidenceError, permissions};
use crate::plan::Digest;

const FILE_NAME: &str = "search_index.seal";

/// Computes, stores and checks the keyed digest of the search index of an evidence folder.
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
    /// When the folder cannot be written, or another process holds the lock for longer than [`LOCK_TIMEOUT`].
    ///
    /// [`LOCK_TIMEOUT`]: super::error::LOCK_TIMEOUT
    pub(super) fn lock(&self) -> Result<Lock> {
        Lock::index(&self.dir)
    }

    /// Whether the file exists and has the content that was sealed.
    pub(super) fn matches(&self, index: &Path) -> bool {
        let stored = fs::read_to_string(self.dir.join(FILE_NAME)).unwrap_or_default();
        self.digest_of(index).is_ok_and(|digest| digest == stored)
    }

    /// Stores the keyed digest of the current file.
    ///
    /// # Errors
    /// When the file cannot be read or the digest cannot be written.
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

    /// Deletes the stored digest.
    pub(super) fn discard(dir: &Path) {
        let _ = fs::remove_file(dir.join(FILE_NAME));
    }

    fn digest_of(&self, index: &Path) -> io::Result<String> {
        let mut file = File::open(index)?;
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 1 << 18];
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            hash.update(buffer.get(..read).unwrap_or_default());
        }
        let digest = Digest::from_bytes(hash.finalize().into());
        Ok(self.vault.index_digest(&digest.hex()))
    }
}
