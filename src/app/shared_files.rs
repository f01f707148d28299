//! Notices changes of files that other windows and commands also write: the evidence, so that the lists of runs and loops
//! are true within about a second, and the settings, so that a rule counts in every window.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::watch::Watch;
use crate::worker::Wake;

/// The time between two readings, in milliseconds. A run that ends by a crash changes no file, so the lists of runs are
/// read this often while another program's run is under way.
const EVERY_MS: i64 = 1_000;

pub(super) struct SharedFiles {
    folder: PathBuf,
    files: BTreeSet<PathBuf>,
    watch: Watch,
    is_watching: bool,
    read_at_ms: i64,
}

impl SharedFiles {
    /// Watches these files in the folder, once the folder exists.
    pub(super) fn new(folder: PathBuf, files: BTreeSet<PathBuf>, wake: Wake) -> Self {
        Self { folder, files, watch: Watch::new(wake), is_watching: false, read_at_ms: 0 }
    }

    /// Milliseconds until the files are to be read again; `None` if nothing has changed. With `always`, they are read again
    /// even if nothing has.
    pub(super) fn due_in(&mut self, now_ms: i64, always: bool) -> Option<i64> {
        if !self.is_watching && self.folder.is_dir() {
            // Without notifications of changes, the files are read when the window gets the focus or a run ends.
            self.is_watching = true;
            let _ = self.watch.watch_files(self.files.clone());
            // For what changed before.
            return Some(0);
        }
        let since_read = (self.read_at_ms + EVERY_MS - now_ms).max(0);
        // Some programs empty a file before they write it.
        let after_change = self.watch.due_in(now_ms).map(|left_ms| left_ms.max(since_read));
        after_change.or(always.then_some(since_read))
    }

    /// Notes that the files are being read.
    pub(super) fn clear(&mut self, now_ms: i64) {
        self.watch.clear();
        self.read_at_ms = now_ms;
    }
}
