//! A folder that no tool may touch. The kernel reports every access.

use std::collections::BTreeMap;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use countersign::plan::Digest;
use rustix::fs::inotify;
use rustix::io::Errno;

/// This text is in every file and some names outside, and nowhere else.
pub const MARK: &str = "canary-mark";

/// A watched folder.
pub struct Outside {
    folder: PathBuf,
    before: BTreeMap<PathBuf, String>,
    watch: OwnedFd,
    watched: BTreeMap<i32, PathBuf>,
}

impl Outside {
    /// Begins to watch. From now on not even the test may open anything in this folder.
    pub fn watch(folder: PathBuf) -> Self {
        let before = listing(&folder);
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
        let mut watched = BTreeMap::new();
        for path in before.keys() {
            // Close events are not needed, because they follow an open. They may also come late for what
            // `listing` opened: a process being started by another test holds a copy until its exec.
            let flags = inotify::WatchFlags::ALL_EVENTS.difference(inotify::WatchFlags::CLOSE);
            watched.insert(inotify::add_watch(&watch, path, flags).unwrap(), path.clone());
        }
        Self { folder, before, watch, watched }
    }

    /// The events since the last call.
    pub fn events(&self) -> Vec<String> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&self.watch, &mut buffer);
        let mut events = Vec::new();
        loop {
            match reader.next() {
                Ok(event) => {
                    let path = self.watched.get(&event.wd());
                    events.push(format!("{:?} {path:?} {:?}", event.events(), event.file_name()));
                }
                Err(Errno::WOULDBLOCK) => return events,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Asserts that nothing in the folder was opened, created, removed or changed.
    pub fn assert_untouched(self) {
        assert_eq!(self.events(), Vec::<String>::new());
        drop(self.watch);
        assert_eq!(listing(&self.folder), self.before);
    }

    /// The digests of the files in the folder.
    pub fn digests(&self) -> impl Iterator<Item = &str> {
        self.before.values().filter_map(|state| state.split("sha256:").nth(1))
    }
}

/// Every path with its metadata, except for the access time, which the test itself changes.
fn listing(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(path) = pending.pop() {
        let data = path.symlink_metadata().unwrap();
        let mut state = format!(
            "inode {} links {} mode {:o} size {} changed {}.{} {}.{}",
            data.ino(),
            data.nlink(),
            data.mode(),
            data.size(),
            data.mtime(),
            data.mtime_nsec(),
            data.ctime(),
            data.ctime_nsec(),
        );
        if data.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            state = format!("{state} {}", Digest::of(&fs::read(&path).unwrap()));
        }
        found.insert(path, state);
    }
    found
}

#[test]
fn touching_outside_files_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, MARK).unwrap();
    let outside = Outside::watch(folder.path().to_owned());
    assert_eq!(outside.digests().count(), 1);
    file.symlink_metadata().unwrap();
    assert_eq!(outside.events(), Vec::<String>::new(), "to look at a name is no access");
    let ways: [&dyn Fn(); 6] = [
        &|| drop(fs::read(&file).unwrap()),
        &|| drop(fs::read_dir(folder.path()).unwrap()),
        &|| fs::write(&file, MARK).unwrap(),
        &|| fs::write(folder.path().join("new"), "").unwrap(),
        &|| fs::remove_file(folder.path().join("new")).unwrap(),
        &|| fs::rename(&file, folder.path().join("other")).unwrap(),
    ];
    for (index, touch) in ways.into_iter().enumerate() {
        touch();
        assert_ne!(outside.events(), Vec::<String>::new(), "way {index}");
    }
}
