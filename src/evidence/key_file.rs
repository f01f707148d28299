//! Files with a random key, outside the evidence folder. Only this user can read them.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::error::Result;
use super::{EvidenceError, permissions};

/// The length of a key.
pub(super) const KEY_BYTES: usize = 32;

/// A file with a key.
pub(super) struct KeyFile<'p> {
    pub(super) folder: &'p Path,
    pub(super) name: &'static str,
    /// The error for a file that cannot be used.
    pub(super) error: fn(io::Error, PathBuf) -> EvidenceError,
}

impl KeyFile<'_> {
    /// The key. A missing file is created.
    ///
    /// # Errors
    /// When the file cannot be used or created.
    pub(super) fn read_or_create(&self) -> Result<[u8; KEY_BYTES]> {
        permissions::create_private_folder(self.folder)?;
        if let Some(key) = self.read()? {
            return Ok(key);
        }
        self.create().map_err(|source| self.error(source))?;
        // Read again, because another process may have created the key first.
        self.read()?.ok_or_else(|| self.error(io::ErrorKind::NotFound.into()))
    }

    /// The key; `None` if there is no file.
    ///
    /// # Errors
    /// When the file cannot be read, has no key, or can be used by others.
    pub(super) fn read(&self) -> Result<Option<[u8; KEY_BYTES]>> {
        let path = self.folder.join(self.name);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(self.error(source)),
        };
        // The open file is checked, because the path may name another file at any time.
        permissions::check_key_permissions(&path, &file)?;
        let mut key = Vec::new();
        file.take(KEY_BYTES as u64 + 1).read_to_end(&mut key).map_err(|error| self.error(error))?;
        let no_key = |_| self.error(io::Error::new(io::ErrorKind::InvalidData, "it is no key"));
        key.try_into().map(Some).map_err(no_key)
    }

    /// Creates the file, unless another process has created it first.
    fn create(&self) -> io::Result<()> {
        let mut key = [0; KEY_BYTES];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        let temporary = self.folder.join(format!("{}.{}", self.name, Uuid::new_v4()));
        let written = permissions::create_new(&temporary).and_then(|mut file| {
            file.write_all(&key)?;
            file.sync_all()?;
            // A hard link never replaces a file, and the key is complete before the link exists.
            match fs::hard_link(&temporary, self.folder.join(self.name)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                other => other,
            }
        });
        let _ = fs::remove_file(&temporary);
        written
    }

    fn error(&self, source: io::Error) -> EvidenceError {
        (self.error)(source, self.folder.join(self.name))
    }
}
