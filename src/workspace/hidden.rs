//! What a view of the workspace does not show, for a reader that must not see it (SPEC §10): some files, and some text in
//! the others.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use cap_std::fs::{Metadata, MetadataExt as _};

use super::{Workspace, WorkspaceError};

/// The maximum number of entries that are listed to find the other names of hidden files. In a larger workspace, no
/// file with several names is shown.
const MAX_ENTRIES: usize = 1_000_000;

/// Rewrites the text of a file for a view, and keeps its lines.
pub(crate) type Rewrite = dyn Fn(&str) -> String + Send + Sync;

/// The maximum size of a file that is rewritten, in bytes. A larger one is not shown.
pub(crate) const REWRITTEN_BYTES: u64 = 1 << 20;

/// Says which files of the workspace are hidden, and what of the others.
pub(crate) struct HiddenFiles {
    /// Whether the file with this path in the workspace is hidden.
    is_hidden: fn(&str) -> bool,
    /// Device and inode of the hidden files with several names; `None` if there are too many files. Listed when the
    /// first file with several names is opened.
    linked: OnceLock<Option<BTreeSet<(u64, u64)>>>,
    /// Rewrites every text that is read.
    pub(super) rewrite: Arc<Rewrite>,
}

impl HiddenFiles {
    /// Whether the file with this path in the workspace is hidden.
    pub(crate) fn contains(&self, key: &str) -> bool {
        (self.is_hidden)(key)
    }

    /// Whether an opened file of the workspace is hidden, by this name or, as a hard link, by another one.
    pub(super) fn contains_opened(&self, root: &Path, key: &str, data: &Metadata) -> bool {
        self.contains(key)
            || (data.nlink() > 1 && {
                let linked = self.linked.get_or_init(|| self.list_linked(root));
                linked.as_ref().is_none_or(|them| them.contains(&(data.dev(), data.ino())))
            })
    }

    fn list_linked(&self, root: &Path) -> Option<BTreeSet<(u64, u64)>> {
        let (mut found, mut entries) = (BTreeSet::new(), 0);
        let mut waiting = vec![root.to_owned()];
        while let Some(folder) = waiting.pop() {
            let Ok(listing) = std::fs::read_dir(&folder) else { continue };
            for entry in listing.flatten() {
                entries += 1;
                if entries > MAX_ENTRIES {
                    return None;
                }
                let Ok(kind) = entry.file_type() else { continue };
                let path = entry.path();
                if kind.is_dir() {
                    waiting.push(path);
                    continue;
                }
                let key = path.strip_prefix(root).unwrap_or(&path).to_string_lossy();
                if kind.is_file()
                    && self.contains(&key)
                    && let Ok(data) = entry.metadata()
                    && data.nlink() > 1
                {
                    found.insert((data.dev(), data.ino()));
                }
            }
        }
        Some(found)
    }
}

impl Workspace {
    /// Shows only the workspace itself, without these files, and the others with their texts rewritten. Only searches,
    /// looks of planners and the embedded code engine rewrite; a caller must use no other tools.
    pub(crate) fn hide(&mut self, is_hidden: fn(&str) -> bool, rewrite: Arc<Rewrite>) {
        self.extra.clear();
        self.root.hidden = Some(HiddenFiles { is_hidden, linked: OnceLock::new(), rewrite });
    }
}

/// The error for a hidden file.
pub(super) fn refused(path: &str) -> WorkspaceError {
    WorkspaceError::Hidden { path: path.to_owned() }
}
