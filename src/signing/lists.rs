//! Reads lists of keys. `ssh-keygen` would wait for a pipe for ever, and takes a list that it cannot read for one without the
//! key, or with it.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use super::SigningError;

/// The maximum size of a list, in bytes.
const LIST_BYTES: u64 = 16 << 20;
/// How a list of revoked keys of `ssh-keygen -k` begins.
const REVOKED: &[u8] = b"SSHKRL\n\0";

/// The text of a list of allowed signers.
///
/// # Errors
/// It is no regular file, too large or no UTF-8, or cannot be read.
pub fn read_allowed_signers(path: &Path) -> Result<String, SigningError> {
    let text = read(path).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
    text.map_err(|source| SigningError::File { source, path: path.to_owned() })
}

/// Whether a file can be a list of revoked keys.
///
/// # Errors
/// It cannot.
pub(super) fn check_revoked(path: &Path) -> Result<(), SigningError> {
    let read = read(path).and_then(|bytes| {
        let is_list = bytes.starts_with(REVOKED) || std::str::from_utf8(&bytes).is_ok();
        is_list.then_some(()).ok_or_else(|| io::Error::other("it is no list of revoked keys"))
    });
    read.map_err(|source| SigningError::File { source, path: path.to_owned() })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    if metadata.len() > LIST_BYTES {
        return Err(io::Error::other(format!("it has more than {LIST_BYTES} bytes")));
    }
    let mut bytes = Vec::new();
    file.take(LIST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
