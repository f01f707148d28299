//! Opens paths below an open folder, without following links (SPEC §4).
//!
//! A path that was checked may lead elsewhere a moment later, if another process replaces a name in it.
//! Checking and opening are therefore one operation: the system itself refuses every link in the path, so
//! that the opened file is below the folder.

use std::io;
use std::path::{Component, Path};

use cap_std::fs::Dir;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, openat};

/// Flags to open a folder only to look up names in it. On Linux this needs no read permission, which the
/// folders above a workspace may lack.
#[cfg(target_os = "linux")]
const PASSAGE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
#[cfg(not(target_os = "linux"))]
const PASSAGE: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Opens `path` below `folder`; an empty path is the folder itself. A link anywhere in the path, also as its
/// last name, is an error. If the path may be a pipe, pass `NONBLOCK`; otherwise opening waits for the other
/// end.
pub(crate) fn open(folder: impl AsFd, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = folder.as_fd();
    match at_once(folder, path, flags) {
        Some(opened) => opened,
        None => name_by_name(folder, path, flags),
    }
}

/// Opens the folder at a canonical path; fails if a name in it has become a link since.
pub(crate) fn open_root(path: &Path) -> io::Result<Dir> {
    let top = openat(CWD, "/", PASSAGE | OFlags::CLOEXEC, Mode::empty())?;
    let below = path.strip_prefix("/").map_err(io::Error::other)?;
    let folder = open(top, below, PASSAGE)?;
    Ok(Dir::from_std_file(folder.into()))
}

/// Opens the whole path in one system call; `None` where that call is not supported, is forbidden, or must be
/// repeated.
#[cfg(target_os = "linux")]
fn at_once(folder: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Option<io::Result<OwnedFd>> {
    use rustix::fs::ResolveFlags;
    use rustix::io::Errno;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(folder, path, flags, Mode::empty(), resolve) {
        // The errors of old kernels, of sandboxes that forbid unknown calls, and of a concurrent rename.
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => None,
        opened => Some(opened.map_err(io::Error::from)),
    }
}

#[cfg(not(target_os = "linux"))]
fn at_once(_: BorrowedFd<'_>, _: &Path, _: OFlags) -> Option<io::Result<OwnedFd>> {
    None
}

/// Opens the path name by name, each name in the folder that was opened before.
fn name_by_name(top: BorrowedFd<'_>, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let mut folder: Option<OwnedFd> = None;
    let mut names = path.components().peekable();
    while let Some(name) = names.next() {
        let name = match name {
            Component::Normal(name) => name,
            Component::CurDir => ".".as_ref(),
            _ => return Err(io::Error::from(io::ErrorKind::InvalidInput)),
        };
        let here = folder.as_ref().map_or(top, AsFd::as_fd);
        let last = names.peek().is_none();
        let flags = if last { flags } else { PASSAGE | OFlags::NOFOLLOW | OFlags::CLOEXEC };
        let opened = openat(here, name, flags, Mode::empty())?;
        if last {
            return Ok(opened);
        }
        folder = Some(opened);
    }
    Err(io::Error::from(io::ErrorKind::InvalidInput))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    type Way = fn(BorrowedFd<'_>, &Path) -> io::Result<OwnedFd>;
    const FLAGS: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

    #[test]
    fn both_ways_to_open_refuse_links_and_parents() {
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("in/deep")).unwrap();
        fs::write(top.join("in/deep/file"), "x").unwrap();
        fs::write(top.join("out"), "x").unwrap();
        symlink("deep", top.join("in/link")).unwrap();
        symlink("../out", top.join("in/away")).unwrap();
        let folder = open_root(&top.join("in")).unwrap();
        let ways: [Way; 2] = [
            |folder, path| at_once(folder, path, FLAGS).unwrap(),
            |folder, path| name_by_name(folder, path, FLAGS),
        ];
        for (index, way) in ways.into_iter().enumerate() {
            if index == 0 && cfg!(not(target_os = "linux")) {
                continue;
            }
            for path in [".", "deep", "deep/file"] {
                assert!(way(folder.as_fd(), Path::new(path)).is_ok(), "{path}");
            }
            for path in ["link", "link/file", "away", "../out", "deep/../../out", "/", "none"] {
                assert!(way(folder.as_fd(), Path::new(path)).is_err(), "{path}");
            }
        }
        assert!(open(&folder, Path::new(""), PASSAGE).is_ok());
        symlink(top.join("in"), top.join("root")).unwrap();
        assert!(open_root(&top.join("root")).is_err());
        assert!(open_root(&top.join("root/deep")).is_err());
    }
}
