//! What a path is.

use std::fmt;

use cap_std::fs::Metadata;

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

impl Kind {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        match metadata {
            metadata if metadata.is_file() => Self::File,
            metadata if metadata.is_dir() => Self::Folder,
            _ => Self::Other,
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
