//! The location of a user's evidence, with the folders of its key and state.

use std::path::{Path, PathBuf};

use super::error::Result;
use super::{EvidenceReader, EvidenceStore, UserFolders};

/// The evidence folder and the user's folders outside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceLocation {
    /// The evidence folder.
    pub evidence: PathBuf,
    /// The user's folders outside the evidence folder: for the key and for the kept heads.
    pub user_folders: UserFolders,
}

impl EvidenceLocation {
    /// The location with these folders.
    pub fn new(evidence: impl Into<PathBuf>, user_folders: impl Into<UserFolders>) -> Self {
        Self { evidence: evidence.into(), user_folders: user_folders.into() }
    }

    /// All folders of the location. Tools may not use them.
    pub fn folders(&self) -> [&Path; 3] {
        [&self.evidence, &self.user_folders.key, &self.user_folders.state]
    }

    /// A reader that opens the evidence with its first query.
    pub fn reader(&self) -> EvidenceReader {
        EvidenceReader::at(&self.evidence, &self.user_folders)
    }

    /// Opens the evidence for reading.
    ///
    /// # Errors
    /// As for [`EvidenceReader::open`].
    pub fn open(&self) -> Result<EvidenceReader> {
        EvidenceReader::open(&self.evidence, &self.user_folders)
    }

    /// Opens the evidence for writing.
    ///
    /// # Errors
    /// As for [`EvidenceStore::open`].
    pub fn store(&self) -> Result<EvidenceStore> {
        EvidenceStore::open(&self.evidence, &self.user_folders)
    }
}
