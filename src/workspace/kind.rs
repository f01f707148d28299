//! The kind of the file at a path.

use std::fmt;

use cap_std::fs::Metadata;

use super::{Access, WorkspaceError};

/// The kind of the file at a path, with links followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// There is no file, or only a link that leads nowhere.
    Absent,
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A device, pipe or socket.
    Other,
}

impl Kind {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        match metadata {
            metadata if metadata.is_file() => Self::File,
            metadata if metadata.is_dir() => Self::Folder,
            _ => Self::Other,
        }
    }

    /// Fails unless this is a file or a folder; `path` is for the error.
    pub(crate) fn check_exists(self, path: &str) -> Result<(), WorkspaceError> {
        let path = path.to_owned();
        match self {
            Self::File | Self::Folder => Ok(()),
            Self::Absent => Err(WorkspaceError::NotFound { path }),
            kind @ Self::Other => {
                Err(WorkspaceError::NotAFile { path, kind, access: Access::Read })
            }
        }
    }
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
