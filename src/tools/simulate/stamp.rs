//! Detects changes of files on the copy and in the workspace.

use cap_std::fs::{Metadata, MetadataExt as _};

/// Detects a change of a file. The kernel updates the change time (ctime) at every change of content, mode or
/// name, and no program can set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    size: u64,
    pub(super) changed: (i64, i64),
    pub(super) mode: u32,
}

impl Stamp {
    pub(super) fn of(data: &Metadata) -> Self {
        let (inode, size) = (data.ino(), data.size());
        Self { inode, size, changed: (data.ctime(), data.ctime_nsec()), mode: data.mode() }
    }
}
