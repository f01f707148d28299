//! The folder of the inbox: private, and read through one handle without following links.

use std::ffi::{CString, OsStr};
use std::fs::{DirBuilder, DirEntry, File, Metadata};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

use super::{InboxError, MAX_NAMES};
use crate::worker::default_folders;

/// The opened folder of the inbox.
#[derive(Debug)]
pub struct InboxFolder {
    path: PathBuf,
    dir: OwnedFd,
}

impl InboxFolder {
    /// Opens the folder of the inbox. A missing one is created with mode 0700.
    ///
    /// # Errors
    /// As [`Self::private`], and when the program has files of its own there.
    pub fn open(path: &Path) -> Result<Self, InboxError> {
        let folder = Self::private(path)?;
        if is_own(&folder.path) {
            return Err(InboxError::Own { path: folder.path });
        }
        Ok(folder)
    }

    /// Opens a folder into which only this user may write. A missing one is created with mode 0700.
    ///
    /// # Errors
    /// The folder cannot be created or opened, belongs to another user, or others may write into it.
    pub fn private(path: &Path) -> Result<Self, InboxError> {
        let failed = |source: io::Error| InboxError::folder(path, source);
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        let real = std::fs::canonicalize(path).map_err(failed)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::open(&real, flags, Mode::empty())
            .map_err(|error| InboxError::folder(path, error))?;
        let dir = File::from(dir);
        check_private(&real, &dir.metadata().map_err(failed)?)?;
        Ok(Self { path: real, dir: dir.into() })
    }

    /// The path, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Device and inode, which change if another folder takes the place of this one.
    pub(super) fn identity(&self) -> io::Result<(u64, u64)> {
        let stat = rustix::fs::fstat(&self.dir)?;
        Ok((stat.st_dev, stat.st_ino))
    }

    pub(super) fn handle(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }

    /// The names in the folder, and the number of those that were not read because of the limit.
    pub(super) fn names(&self) -> io::Result<(Vec<CString>, usize)> {
        names_in(self.handle())
    }

    /// Forces the names in the folder to the disk.
    pub(super) fn flush(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.dir)?)
    }
}

/// Whether a folder, a path without links, has files in it that the program keeps for itself, which are no plans to be moved,
/// or is in a folder of such files.
fn is_own(folder: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let known = default_folders();
    let is_default = known.as_ref().and_then(|it| real(&it.inbox)).as_deref() == Some(folder);
    let is_known = !is_default
        && known.is_some_and(|it| {
            let own = [&it.evidence, &it.secrets, &it.state, &it.settings, &it.window];
            // A file may be a link into a folder that has others, too.
            let files = own.into_iter().filter_map(|own| own.read_dir().ok()).flatten().flatten();
            let mut files = files.filter_map(|file| real(&file.path()));
            let mut own = own.into_iter().filter_map(|own| real(own));
            own.any(|own| folder.starts_with(&own) || own.starts_with(folder))
                || files.any(|file| file.starts_with(folder))
        });
    // The evidence may be in any folder.
    let has_evidence = |folder: &Path| folder.join("execution_log.db").exists();
    let holds_evidence = || {
        let inside = folder.read_dir().ok().into_iter().flatten().flatten();
        let is_folder = |it: &DirEntry| it.file_type().is_ok_and(|kind| kind.is_dir());
        inside.filter(is_folder).any(|it| has_evidence(&it.path()))
    };
    is_known || folder.ancestors().any(has_evidence) || holds_evidence()
}

/// The names in a folder except `.` and `..`, sorted, and the number of those beyond the limit.
pub(super) fn names_in(folder: BorrowedFd<'_>) -> io::Result<(Vec<CString>, usize)> {
    let (mut names, mut more) = (Vec::new(), 0);
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
        } else if names.len() < MAX_NAMES {
            names.push(name.to_owned());
        } else {
            more += 1;
        }
    }
    names.sort_unstable();
    Ok((names, more))
}

/// The metadata of a name in a folder; of a link, those of the link.
pub(super) fn stat_in(folder: BorrowedFd<'_>, name: &CString) -> io::Result<Stat> {
    Ok(rustix::fs::statat(folder, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Opens a folder in a folder, and not one behind a link.
pub(super) fn folder_in(
    folder: BorrowedFd<'_>,
    name: impl rustix::path::Arg,
) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, name, flags, Mode::empty())?)
}

/// Reads a regular file in a folder, at most one byte more than `limit`. A link is not followed, and a pipe is not waited
/// for.
pub(super) fn read_in(
    folder: BorrowedFd<'_>,
    name: impl rustix::path::Arg,
    limit: u64,
) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What a thing in the folder is, with its article.
pub(super) fn kind_name(stat: &Stat) -> &'static str {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => "a file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "something unknown",
    }
}

/// The name as text for people; what is not UTF-8 is replaced.
pub(super) fn text_of(name: &CString) -> String {
    OsStr::from_bytes(name.to_bytes()).to_string_lossy().into_owned()
}

/// Only the person may put plans into the folder: whoever else could, could also change one between two looks at it.
fn check_private(path: &Path, metadata: &Metadata) -> Result<(), InboxError> {
    let quoted = path.display().to_string().replace('\'', r"'\''");
    let not_private = |what: String, command: &str| {
        let command = format!("{command} '{quoted}'");
        Err(InboxError::NotPrivate { path: path.to_owned(), what, command })
    };
    let own = rustix::process::geteuid().as_raw();
    if metadata.uid() != own {
        let what = format!("it belongs to user {}, and this program runs as {own}", metadata.uid());
        return not_private(what, &format!("chown {own}"));
    }
    let mode = metadata.mode() & 0o7777;
    if mode & 0o022 != 0 {
        return not_private(format!("others may write into it ({mode:04o})"), "chmod go-w");
    }
    Ok(())
}
