//! The location of a user's evidence, with the folders of its key and state.

use std::path::{Path, PathBuf};

/// The evidence folder and the user's folders outside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceLocation {
    /// The evidence folder.
    pub evidence: PathBuf,
    /// The user's folders outside the evidence folder: for the key and for the kept heads.
    pub user_folders: UserFolders,
}

impl EvidenceLocation {
    /// The files that change whenever something is recorded: the database and its write-ahead log.
    pub fn database_files(&self) -> [PathBuf; 2] {
        let name = super::schema::FILE_NAME;
        [name.to_owned(), format!("{name}-wal")].map(|name| self.evidence.join(name))
    }

    /// The location with these folders.
    pub fn new(evidence: impl Into<PathBuf>, user_folders: impl Into<UserFolders>) -> Self {
        Self { evidence: evidence.into(), user_folders: user_folders.into() }
    }

    /// All folders of the location. Tools may not use them.
    pub fn folders(&self) -> [&Path; 3] {
        [&self.evidence, &self.user_folders.key, &self.user_folders.state]
    }
}

/// The folders of the key and of the kept heads (SPEC §8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFolders {
    /// The folder of the key that protects secrets and proves grants. It also has a copy of the kept heads.
    pub key: PathBuf,
    /// The folder of the program's state, with the last head of each evidence database.
    pub state: PathBuf,
}

/// If only the folder of the key is given, its subfolder `state` contains the state.
impl<P: AsRef<Path>> From<P> for UserFolders {
    fn from(key: P) -> Self {
        let key = key.as_ref().to_owned();
        Self { state: key.join("state"), key }
    }
}

impl From<&Self> for UserFolders {
    fn from(folders: &Self) -> Self {
        folders.clone()
    }
}
