//! The folders of a user outside every evidence folder.

use std::path::{Path, PathBuf};

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
