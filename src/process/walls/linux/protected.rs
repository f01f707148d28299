//! Detects changes of protected files that the walls cannot prevent, by comparing the files before and after.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::table;

/// Maximum number of files and folders that are compared below one protected path. If there are more when the program
/// starts, the report of the walls is marked as incomplete. The `objects` folder of a repository is skipped: the names
/// of its files are derived from their contents.
const MAX_ENTRIES: usize = 20_000;

/// Identifies a file or folder: device and inode number.
type Identity = (u64, u64);

/// The state of a file: device, inode number, size, and ctime, which programs cannot set.
type Stamp = (u64, u64, u64, i64, i64);

/// The state of protected paths before a program started.
#[derive(Debug, Default)]
pub(super) struct ProtectedFiles {
    paths: Vec<PathBuf>,
    before: BTreeMap<PathBuf, Stamp>,
    /// Paths protected by mounts, each with its identity. Such a mount disappears when a process outside replaces the
    /// file.
    mounted: Vec<(PathBuf, Option<Identity>)>,
    /// Whether a path has more than [`MAX_ENTRIES`].
    pub(super) is_incomplete: bool,
}

impl ProtectedFiles {
    /// Reads the state of `paths`, which are compared in full, and the identities of the `mounted` paths.
    pub(super) fn read(paths: Vec<PathBuf>, mounted: Vec<PathBuf>) -> Self {
        let (before, is_incomplete) = stamps(&paths);
        let mounted =
            mounted.into_iter().map(|path| (path.clone(), table::identity(&path))).collect();
        Self { paths, before, mounted, is_incomplete }
    }

    /// The paths that were created, removed or changed since, and mounted paths that were replaced, sorted.
    pub(super) fn changed(&self) -> Vec<PathBuf> {
        let (after, _) = stamps(&self.paths);
        let mut changed: Vec<PathBuf> = self
            .before
            .iter()
            .filter(|(path, stamp)| after.get(*path) != Some(stamp))
            .map(|(path, _)| path.clone())
            .collect();
        changed.extend(after.into_keys().filter(|path| !self.before.contains_key(path)));
        let replaced =
            self.mounted.iter().filter(|(path, identity)| table::identity(path) != *identity);
        changed.extend(replaced.map(|(path, _)| path.clone()));
        changed.sort();
        changed
    }

    /// Renames the files that were created, so that no program uses them. Mounts cannot protect paths that do not
    /// exist. Returns the paths as [`Self::changed`] does.
    pub(super) fn rename_created(&self) -> Vec<PathBuf> {
        let changed = self.changed();
        let is_mounted = |path: &PathBuf| self.mounted.iter().any(|(mounted, _)| mounted == path);
        // After an incomplete first list, an older file may be renamed, too: rather that than a new one that git runs.
        let is_new = |path: &&PathBuf| !self.before.contains_key(*path) && !is_mounted(path);
        for path in changed.iter().filter(is_new) {
            if path.symlink_metadata().is_ok_and(|data| !data.is_dir()) {
                let mut new_path = path.clone().into_os_string();
                // A random name, so that no file has it already.
                new_path.push(format!(".refused-{}", uuid::Uuid::new_v4().simple()));
                // If renaming fails, the path is still reported.
                let _ = rustix::fs::renameat_with(
                    rustix::fs::CWD,
                    path,
                    rustix::fs::CWD,
                    PathBuf::from(new_path),
                    rustix::fs::RenameFlags::NOREPLACE,
                );
            }
        }
        changed
    }
}

/// The states of these paths and of everything below them, and whether some are missing because of the limit.
fn stamps(paths: &[PathBuf]) -> (BTreeMap<PathBuf, Stamp>, bool) {
    let (mut found, mut is_incomplete) = (BTreeMap::new(), false);
    for path in paths {
        let mut count = 0;
        add(path, path, &mut found, &mut count);
        is_incomplete |= count > MAX_ENTRIES;
    }
    (found, is_incomplete)
}

fn add(path: &Path, top: &Path, found: &mut BTreeMap<PathBuf, Stamp>, count: &mut usize) {
    let Ok(data) = path.symlink_metadata() else { return };
    *count += 1;
    if *count > MAX_ENTRIES {
        return;
    }
    if !data.is_dir() {
        let stamp = (data.dev(), data.ino(), data.len(), data.ctime(), data.ctime_nsec());
        found.insert(path.to_owned(), stamp);
        return;
    }
    // A folder is compared by its identity and its files, not by its timestamp, so that creating and removing a file
    // is no change.
    found.insert(path.to_owned(), (data.dev(), data.ino(), 0, 0, 0));
    if path.strip_prefix(top).is_ok_and(|inside| inside == Path::new("objects")) {
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        add(&entry.path(), top, found, count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_over_the_limit_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        for number in 1..MAX_ENTRIES {
            fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        let read = || ProtectedFiles::read(vec![folder.path().to_owned()], Vec::new());
        assert!(!read().is_incomplete);
        fs::write(folder.path().join("more"), "").unwrap();
        assert!(read().is_incomplete);
    }

    #[test]
    fn added_removed_and_changed_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("kept/objects")).unwrap();
        for name in ["kept/same", "kept/changes", "goes"] {
            fs::write(path(name), "1").unwrap();
        }
        let protected =
            ProtectedFiles::read(vec![path("kept"), path("goes"), path("comes")], Vec::new());
        assert_eq!(protected.changed(), Vec::<PathBuf>::new());
        fs::write(path("kept/changes"), "2").unwrap();
        fs::write(path("kept/new"), "").unwrap();
        fs::write(path("kept/objects/aa"), "").unwrap();
        fs::remove_file(path("goes")).unwrap();
        fs::write(path("comes"), "").unwrap();
        let changed = ["comes", "goes", "kept/changes", "kept/new"].map(path);
        assert_eq!(protected.rename_created(), changed);
        let is_renamed = |name: &str| {
            let mut names = fs::read_dir(path(name).parent().unwrap()).unwrap().flatten();
            let start = format!("{}.refused-", path(name).file_name().unwrap().display());
            !path(name).exists()
                && names.any(|it| it.file_name().to_string_lossy().starts_with(&start))
        };
        assert!(is_renamed("comes") && is_renamed("kept/new"));
        assert!(path("kept/changes").exists());
    }
}
