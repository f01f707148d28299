//! The location of a user's evidence, with the folders of its key and state.

use std::path::{Path, PathBuf};

use super::error::Result;
use super::folders::UserFolders;
use super::reader::EvidenceReader;
use super::store::EvidenceStore;

/// The evidence folder and the user's own folders outside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceLocation {
    /// The evidence folder.
    pub evidence: PathBuf,
    /// The user's own folders outside the evidence folder: of the key, and of the kept heads.
    pub secrets: UserFolders,
}

impl EvidenceLocation {
    /// The location with this evidence folder.
    pub fn new(evidence: impl Into<PathBuf>, secrets: impl Into<UserFolders>) -> Self {
        Self { evidence: evidence.into(), secrets: secrets.into() }
    }

    /// All folders of the location. Tools may not use them.
    pub fn folders(&self) -> [&Path; 3] {
        [&self.evidence, &self.secrets.key, &self.secrets.state]
    }

    /// A reader that opens the evidence with its first query.
    pub fn reader(&self) -> EvidenceReader {
        EvidenceReader::at(&self.evidence, &self.secrets)
    }

    /// Opens the evidence for reading.
    ///
    /// # Errors
    /// As for [`EvidenceReader::open`].
    pub fn open(&self) -> Result<EvidenceReader> {
        EvidenceReader::open(&self.evidence, &self.secrets)
    }

    /// Opens the evidence for writing.
    ///
    /// # Errors
    /// As for [`EvidenceStore::open`].
    pub fn store(&self) -> Result<EvidenceStore> {
        EvidenceStore::open(&self.evidence, &self.secrets)
    }
}
