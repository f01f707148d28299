//! Watches the open plan file and the files that its approval covers.
//!
//! The folders of the files are watched, because many editors replace a file instead of writing to it. Changes are
//! debounced.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::worker::Wake;

/// The time between the latest change and its handling, in milliseconds.
const DEBOUNCE_MS: i64 = 200;

/// The watched files, and the time of their latest change.
pub(super) struct Watch {
    wake: Wake,
    watcher: Option<RecommendedWatcher>,
    files: BTreeSet<PathBuf>,
    /// Set by the watcher's thread.
    changed: Arc<AtomicBool>,
    /// The time at which `due_in` found the latest change that is not handled yet.
    changed_at_ms: Option<i64>,
}

impl Watch {
    pub(super) fn new(wake: Wake) -> Self {
        Self {
            wake,
            watcher: None,
            files: BTreeSet::new(),
            changed: Arc::new(AtomicBool::new(false)),
            changed_at_ms: None,
        }
    }

    /// Watches these files instead of the previous ones. The name `*` is any file of its folder.
    ///
    /// # Errors
    /// The system cannot watch a folder. Then no file is watched.
    pub(super) fn watch_files(&mut self, files: BTreeSet<PathBuf>) -> notify::Result<()> {
        let (files, folders) = with_missing_folders(files);
        if files == self.files && self.watcher.is_some() {
            return Ok(());
        }
        self.watcher = None;
        let watched = Arc::new(Mutex::new(files.clone()));
        let changed = Arc::clone(&self.changed);
        let wake = self.wake.clone();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
            if event.is_ok_and(|event| affects_any(&event, &watched)) {
                changed.store(true, Ordering::Release);
                wake();
            }
        })?;
        for folder in folders {
            watcher.watch(&folder, RecursiveMode::NonRecursive)?;
        }
        self.watcher = Some(watcher);
        self.files = files;
        Ok(())
    }

    /// Milliseconds until a change is to be handled; `None` if nothing has changed.
    pub(super) fn due_in(&mut self, now_ms: i64) -> Option<i64> {
        if self.changed.swap(false, Ordering::AcqRel) {
            self.changed_at_ms = Some(now_ms);
        }
        self.changed_at_ms.map(|changed_at_ms| (changed_at_ms + DEBOUNCE_MS - now_ms).max(0))
    }

    /// The time at which the latest change that is not handled yet was found.
    pub(super) fn latest(&self) -> Option<i64> {
        self.changed_at_ms
    }

    /// Marks the change as handled.
    pub(super) fn clear(&mut self) {
        self.changed_at_ms = None;
    }
}

/// These files with the folders that do not exist yet and would lead to some of them, and the folders to watch: each
/// that exists and would have one of these. Once such a folder appears, the next call gives its contents.
fn with_missing_folders(mut files: BTreeSet<PathBuf>) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
    let mut folders = BTreeSet::new();
    let mut missing = BTreeSet::new();
    for file in &files {
        let mut path = file.as_path();
        while let Some(folder) = path.parent() {
            // Most files are in a folder that another one is in.
            if folders.contains(folder) || folder.is_dir() {
                folders.insert(folder.to_owned());
                break;
            }
            missing.insert(folder.to_owned());
            path = folder;
        }
    }
    files.extend(missing);
    (files, folders)
}

/// Whether an event reports a change of one of these files. Reads do not count, because the review reads the files.
fn affects_any(event: &Event, files: &BTreeSet<PathBuf>) -> bool {
    let changes = matches!(
        event.kind,
        EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) | EventKind::Any
    );
    let is_watched = |path: &PathBuf| {
        files.contains(path) || path.parent().is_some_and(|it| files.contains(&it.join("*")))
    };
    changes && event.paths.iter().any(is_watched)
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::event::{AccessKind, ModifyKind};

    #[test]
    fn only_changes_of_the_watched_files_count() {
        let files = BTreeSet::from([PathBuf::from("/w/plan.json")]);
        let event = |kind, path: &str| Event::new(kind).add_path(path.into());
        let modify = EventKind::Modify(ModifyKind::Any);
        assert!(affects_any(&event(modify, "/w/plan.json"), &files));
        assert!(!affects_any(&event(modify, "/w/other.json"), &files));
        let any = BTreeSet::from([PathBuf::from("/w/*")]);
        assert!(affects_any(&event(modify, "/w/other.json"), &any));
        assert!(!affects_any(&event(modify, "/w/below/other.json"), &any));
        assert!(!affects_any(&event(EventKind::Access(AccessKind::Any), "/w/plan.json"), &files));
    }

    #[test]
    fn a_folder_that_appears_is_watched() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let file = root.join("a/b/new.txt");
        let found = || with_missing_folders(BTreeSet::from([file.clone()]));
        let watched = [root.join("a"), root.join("a/b"), file.clone()];
        assert_eq!(found(), (watched.into(), [root.clone()].into()));
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        assert_eq!(found(), ([file.clone()].into(), [root.join("a/b")].into()));
    }

    #[test]
    fn a_change_on_disk_wakes_the_window() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().canonicalize().unwrap().join("plan.json");
        std::fs::write(&file, "{}").unwrap();
        let (sender, receiver) = std::sync::mpsc::sync_channel(64);
        let sender = Mutex::new(sender);
        let wake: Wake = Arc::new(move || {
            let _ = sender.lock().unwrap().try_send(());
        });
        let mut watch = Watch::new(wake);
        watch.watch_files(BTreeSet::from([file.clone()])).unwrap();
        assert_eq!(watch.due_in(0), None);
        std::fs::write(&file, "{ }").unwrap();
        receiver.recv_timeout(std::time::Duration::from_secs(20)).unwrap();
        assert_eq!(watch.due_in(1_000), Some(DEBOUNCE_MS));
        assert_eq!(watch.due_in(1_000 + DEBOUNCE_MS), Some(0));
    }
}
