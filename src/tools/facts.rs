//! What preconditions and approvals look at (SPEC §2, §5). Nothing here is executed or changed.

use std::fmt;
use std::path::PathBuf;

use crate::authorization::FileState;

use super::{ToolError, Toolbox};

/// What a path is, links followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// There is nothing, or a link to nothing.
    Absent,
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A device, pipe or socket.
    Other,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Absent => "absent",
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Other => "a device, pipe or socket",
        })
    }
}

impl Toolbox {
    /// What `path` is.
    ///
    /// # Errors
    /// A path that cannot be used, leads outside, or cannot be looked at.
    pub fn kind_of(&self, _path: &str) -> Result<Kind, ToolError> {
        Ok(Kind::Absent)
    }

    /// What the folder that `path` stands in is.
    ///
    /// # Errors
    /// As [`Self::kind_of`].
    pub fn parent_kind(&self, _path: &str) -> Result<Kind, ToolError> {
        Ok(Kind::Absent)
    }

    /// The state of the file at `path`.
    ///
    /// # Errors
    /// As [`Self::kind_of`]; and when it is no file or cannot be read.
    pub fn digest_of(&self, _path: &str) -> Result<FileState, ToolError> {
        Ok(FileState::Absent)
    }

    /// The `Cargo.toml` in `path`, in the folder of the file `path`, or in the nearest parent inside
    /// the workspace; by its canonical path.
    ///
    /// # Errors
    /// As [`Self::kind_of`].
    pub fn cargo_manifest_for(&self, _path: &str) -> Result<Option<String>, ToolError> {
        Ok(None)
    }

    /// The `codegraph.db` in the workspace or the nearest folder above it.
    pub fn codegraph(&self) -> Option<PathBuf> {
        None
    }

    /// The folder, the workspace or the nearest above it, that has a `.git`.
    pub fn git_repository(&self) -> Option<PathBuf> {
        None
    }

    /// Where the command `name` would be found through `PATH`. A name with a slash is never found.
    pub fn command_available(&self, _name: &str) -> Option<PathBuf> {
        None
    }
}
