//! The disk operations of batches and file writes. Each calls a gate first, so that a test can make any of them
//! fail and check the files afterwards.

use std::io::{self, Write as _};
use std::path::Path;

use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt, Permissions};
use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;

use super::attributes;

/// One disk operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiskOp {
    CreateFolder,
    RemoveFolder,
    FlushFolder,
    CreateFile,
    Write,
    SetMode,
    FlushFile,
    /// Many files at once.
    FlushTogether,
    RemoveFile,
    Link,
    Rename,
    /// A rename that fails if the new name exists.
    Move,
    /// An atomic exchange of two names.
    Exchange,
}

/// The disk operations, with a gate before each.
#[derive(Clone, Copy)]
pub(crate) struct Disk<'a> {
    /// Called before each operation. If it fails, the operation is not executed and fails with the same error.
    pub(crate) gate: &'a dyn Fn(DiskOp) -> io::Result<()>,
}

impl Disk<'static> {
    /// The operations of the real disk, with a gate that never fails.
    pub(crate) const REAL: Self = Self { gate: &|_| Ok(()) };
}

impl Disk<'_> {
    pub(crate) fn create_folder(self, parent: &Dir, name: &Path) -> io::Result<()> {
        (self.gate)(DiskOp::CreateFolder)?;
        parent.create_dir(name)
    }

    pub(crate) fn remove_folder(self, parent: &Dir, name: &Path) -> io::Result<()> {
        (self.gate)(DiskOp::RemoveFolder)?;
        parent.remove_dir(name)
    }

    /// Makes the names in a folder durable. A handle opened with `O_PATH` cannot be flushed, so the folder is
    /// opened again through it.
    pub(crate) fn flush_folder(self, folder: &Dir) -> io::Result<()> {
        (self.gate)(DiskOp::FlushFolder)?;
        folder.open(".")?.sync_all()
    }

    /// Creates a file. If it is `private`, only its owner may read it until its mode is set.
    pub(crate) fn create_file(self, folder: &Dir, name: &Path, private: bool) -> io::Result<File> {
        (self.gate)(DiskOp::CreateFile)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(if private { 0o600 } else { 0o666 });
        folder.open_with(name, &options)
    }

    pub(crate) fn write(self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        (self.gate)(DiskOp::Write)?;
        file.write_all(bytes)
    }

    pub(crate) fn set_mode(self, file: &File, mode: &Permissions) -> io::Result<()> {
        (self.gate)(DiskOp::SetMode)?;
        file.set_permissions(mode.clone())
    }

    /// Copies the metadata of the replaced file to the new one; see [`attributes::copy`].
    pub(crate) fn set_attributes(self, old: &std::fs::File, new: &File) -> io::Result<Vec<String>> {
        (self.gate)(DiskOp::SetMode)?;
        attributes::copy(old, new)
    }

    pub(crate) fn flush_file(self, file: &File) -> io::Result<()> {
        (self.gate)(DiskOp::FlushFile)?;
        file.sync_all()
    }

    /// Flushes these files with one wait for the disk, if the system can. Returns whether it did; see
    /// [`flush_together`](super::flush_together).
    pub(crate) fn flush_together(self, files: &[&File]) -> io::Result<bool> {
        (self.gate)(DiskOp::FlushTogether)?;
        super::flush_together::flush_together(files)
    }

    pub(crate) fn remove_file(self, folder: &Dir, name: &Path) -> io::Result<()> {
        (self.gate)(DiskOp::RemoveFile)?;
        folder.remove_file(name)
    }

    fn link(self, folder: &Dir, from: &Path, to: &Path) -> io::Result<()> {
        (self.gate)(DiskOp::Link)?;
        folder.hard_link(from, folder, to)
    }

    fn rename(self, folder: &Dir, from: &Path, to: &Path) -> io::Result<()> {
        (self.gate)(DiskOp::Rename)?;
        folder.rename(from, folder, to)
    }

    /// Renames a file; fails if the new name exists, even as a dangling link.
    pub(crate) fn move_to_new(self, folder: &Dir, from: &Path, to: &Path) -> io::Result<()> {
        let moved = (self.gate)(DiskOp::Move)
            .and_then(|()| Ok(renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE)?));
        match moved {
            Err(error) if is_unsupported(&error) => {
                self.link(folder, from, to)?;
                self.remove_file(folder, from).inspect_err(|_| {
                    let _ = self.remove_file(folder, to);
                })
            }
            moved => moved,
        }
    }

    /// Exchanges the names of two files. If the file system has no atomic exchange, the third name `spare` is
    /// used. If it has no hard links either, the name `second` does not exist for a moment.
    pub(crate) fn exchange(
        self,
        folder: &Dir,
        first: &Path,
        second: &Path,
        spare: &Path,
    ) -> io::Result<()> {
        let exchanged = (self.gate)(DiskOp::Exchange).and_then(|()| {
            Ok(renameat_with(folder, first, folder, second, RenameFlags::EXCHANGE)?)
        });
        match exchanged {
            Err(error) if is_unsupported(&error) => {}
            exchanged => return exchanged,
        }
        if self.link(folder, second, spare).is_err() {
            self.rename(folder, second, spare)?;
        }
        let moved = self.rename(folder, first, second);
        moved.and_then(|()| self.rename(folder, spare, first)).inspect_err(|_| {
            let _ = self.rename(folder, spare, second);
            // If both are names of one file, the rename did nothing and `spare` must be removed.
            let _ = self.remove_file(folder, spare);
        })
    }
}

/// Whether the file system does not support this kind of rename.
fn is_unsupported(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP))
}
