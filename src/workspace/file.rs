//! Opens and reads one file through a folder handle, without following links and without waiting for a pipe.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use cap_std::fs::{Dir, Metadata, Permissions, PermissionsExt as _};
use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use crate::authorization::FileState;
use crate::plan::Digest;
use crate::run::FileMode;

use super::{Access, Kind, WorkspaceError, open_beneath};

/// Maximum size of a file that a tool reads completely: 256 MiB. A review already holds
/// the old content, the new content and their diff in memory.
pub(crate) const FILE_BYTES: u64 = 256 << 20;
/// The number of bytes of a file that are hashed at once.
const CHUNK_BYTES: u64 = 64 << 10;

/// Opens the regular file at `path` below `dir`; `None` if it does not exist. An error contains the path
/// as `text`, and `access` selects its kind.
pub(crate) fn open(
    dir: &Dir,
    path: &Path,
    text: &str,
    access: Access,
) -> Result<Option<(File, Metadata)>, WorkspaceError> {
    let failed = |source| match access {
        Access::Read => WorkspaceError::ReadFailed { path: text.to_owned(), source },
        Access::Write => WorkspaceError::WriteFailed { path: text.to_owned(), source },
    };
    // Without `NONBLOCK`, opening a pipe would wait for its other end.
    let file = match open_beneath::open(dir, path, OFlags::RDONLY | OFlags::NONBLOCK) {
        Ok(file) => cap_std::fs::File::from_std(file.into()),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    match Kind::of(&metadata) {
        Kind::File => Ok(Some((file.into_std(), metadata))),
        kind => Err(WorkspaceError::NotAFile { path: text.to_owned(), kind, access }),
    }
}

/// Opens the folder at `name` below `dir`; a link is an error.
pub(crate) fn open_folder(dir: &Dir, name: &Path) -> io::Result<Dir> {
    let folder = open_beneath::open(dir, name, OFlags::RDONLY | OFlags::DIRECTORY)?;
    Ok(Dir::from_std_file(folder.into()))
}

/// Reads a file of at most [`FILE_BYTES`].
pub(crate) fn read(file: File, text: &str, access: Access) -> Result<Vec<u8>, WorkspaceError> {
    read_up_to(file, text, access, FILE_BYTES)
}

/// Reads a file; fails if it has more than `limit` bytes, and reads at most one byte more than that.
pub(crate) fn read_up_to(
    file: File,
    text: &str,
    access: Access,
    limit: u64,
) -> Result<Vec<u8>, WorkspaceError> {
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let too_large = || WorkspaceError::TooLarge { path: text.to_owned(), limit, access };
    if size > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // The reported size can be wrong (the file grows, or is in /proc), so the limit also applies to the bytes
    // that are read.
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| WorkspaceError::ReadFailed { path: text.to_owned(), source })?;
    if bytes.len() as u64 > limit {
        return Err(too_large());
    }
    Ok(bytes)
}

/// The state of a file of at most [`FILE_BYTES`]; `None` is an absent file. A larger file is refused by its
/// reported size before it is read: no tool could use it, and a sparse file can be too large to read.
pub(crate) fn state(file: Option<File>, text: &str) -> Result<FileState, WorkspaceError> {
    state_within(file, text, FILE_BYTES)
}

/// As [`state`], for a file of at most `limit` bytes.
pub(crate) fn state_within(
    file: Option<File>,
    text: &str,
    limit: u64,
) -> Result<FileState, WorkspaceError> {
    let Some(file) = file else { return Ok(FileState::Absent) };
    let too_large =
        || WorkspaceError::TooLarge { path: text.to_owned(), limit, access: Access::Read };
    if file.metadata().is_ok_and(|data| data.len() > limit) {
        return Err(too_large());
    }
    let mut file = file.take(limit.saturating_add(1));
    let mut hasher = Sha256::new();
    let mut buffer = Vec::with_capacity(CHUNK_BYTES as usize);
    let mut bytes = 0;
    let failed = |source| WorkspaceError::ReadFailed { path: text.to_owned(), source };
    while file.by_ref().take(CHUNK_BYTES).read_to_end(&mut buffer).map_err(failed)? > 0 {
        bytes += buffer.len() as u64;
        hasher.update(&buffer);
        buffer.clear();
    }
    if bytes > limit {
        return Err(too_large());
    }
    Ok(FileState::Content(Digest::from_bytes(hasher.finalize().into())))
}

/// The state of a file with this content; `None` is an absent file.
pub(crate) fn state_of_bytes(bytes: Option<&[u8]>) -> FileState {
    bytes.map_or(FileState::Absent, |bytes| FileState::Content(Digest::of(bytes)))
}

/// The digest as results spell it; `None` if the file is absent.
pub(crate) fn hash(state: FileState) -> Option<String> {
    match state {
        FileState::Absent => None,
        FileState::Content(digest) => Some(digest.to_string()),
    }
}

/// The mode of a file.
pub(crate) fn mode(metadata: &Metadata) -> FileMode {
    FileMode::new(metadata.permissions().mode())
}

/// The permissions for this mode.
pub(crate) fn permissions(mode: FileMode) -> Permissions {
    Permissions::from_mode(mode.bits())
}

/// Whether the file has any execute bit.
pub(crate) fn is_executable(metadata: &Metadata) -> bool {
    mode(metadata).is_executable()
}
