//! Notices what other windows and commands do with the same evidence, so that the lists of runs and loops are true
//! within about a second.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::watch::Watch;
use crate::worker::Wake;

/// The time between two readings of the lists, in milliseconds. A run that ends by a crash changes no file, so the lists
/// are read this often while another program's run is under way.
const EVERY_MS: i64 = 1_000;

pub(super) struct EvidenceWatch {
    folder: PathBuf,
    files: BTreeSet<PathBuf>,
    watch: Watch,
    is_watching: bool,
    read_at_ms: i64,
}

impl EvidenceWatch {
    /// Watches the database files in the evidence folder, once the folder exists.
    pub(super) fn new(folder: PathBuf, files: BTreeSet<PathBuf>, wake: Wake) -> Self {
        Self { folder, files, watch: Watch::new(wake), is_watching: false, read_at_ms: 0 }
    }

    /// Milliseconds until the lists are to be read again; `None` if nothing has changed. `others_run` says whether a run
    /// of another program is listed as under way.
    pub(super) fn due_in(&mut self, now_ms: i64, others_run: bool) -> Option<i64> {
        if !self.is_watching && self.folder.is_dir() {
            // Without notifications of changes, the lists are read when a run of this window ends.
            self.is_watching = true;
            let _ = self.watch.watch_files(self.files.clone());
            // For what changed before.
            return Some(0);
        }
        let has_changed = self.watch.due_in(now_ms).is_some();
        (has_changed || others_run).then(|| (self.read_at_ms + EVERY_MS - now_ms).max(0))
    }

    /// Notes that the lists are being read.
    pub(super) fn clear(&mut self, now_ms: i64) {
        self.watch.clear();
        self.read_at_ms = now_ms;
    }
}
