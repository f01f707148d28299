//! Finds nested git repositories in a workspace.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Number of folder entries after which a search stops. It is checked before each folder is read; of one folder, only
/// as many entries are read. The limit is low because the search runs before every start: each step may
/// create a repository that the next one must not change. Repositories that a search does not reach are not protected,
/// and the report of the walls is then marked as incomplete.
const MAX_ENTRIES: usize = 10_000;
/// A listing is cached only if the folder has not changed for more than this many seconds.
const MIN_AGE: i64 = 2;
/// Maximum number of repositories that are found, because each of them adds several mounts to a view.
const MAX_REPOSITORIES: usize = 200;
/// Folders of build output, which are not searched: protecting a repository in them would keep a build from recreating
/// its output.
const OUTPUTS: [&str; 2] = ["node_modules", "target"];

/// Cached folder listings of a workspace. A folder is read again only if it has changed since, or had changed just
/// before it was read.
#[derive(Debug, Default)]
pub(super) struct Listings(HashMap<PathBuf, (Stamp, Listing)>);

/// The state of a folder: device, inode number, and ctime, which programs cannot set.
type Stamp = (u64, u64, i64, i64);

/// The relevant contents of a folder.
#[derive(Debug, Clone, Default)]
struct Listing {
    /// The number of entries that were read.
    entries: usize,
    /// The subfolders to search.
    folders: Vec<PathBuf>,
    /// Whether the folder contains `.git`.
    is_repository: bool,
}

impl Listings {
    /// The folders below this one that contain `.git`, by increasing depth, and whether the search is incomplete: it
    /// ended at a limit, or could not reach a folder.
    pub(super) fn repositories_below(&mut self, top: &Path) -> (Vec<PathBuf>, bool) {
        self.search(top, now())
    }

    fn search(&mut self, top: &Path, now: i64) -> (Vec<PathBuf>, bool) {
        let mut found = Vec::new();
        let (mut entries, mut is_incomplete) = (0, false);
        let mut folders = VecDeque::from([top.to_owned()]);
        while entries <= MAX_ENTRIES
            && found.len() < MAX_REPOSITORIES
            && let Some(folder) = folders.pop_front()
        {
            let listing = match self.listing(&folder, now) {
                Ok(listing) => listing,
                Err(error) => {
                    // A folder that is gone has no repository; the path of another may be too long.
                    is_incomplete |= !matches!(
                        error.kind(),
                        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                    );
                    continue;
                }
            };
            entries += listing.entries;
            is_incomplete |= listing.entries > MAX_ENTRIES;
            folders.extend(listing.folders);
            if listing.is_repository && folder != top {
                found.push(folder);
            }
        }
        (found, is_incomplete || !folders.is_empty())
    }

    fn listing(&mut self, folder: &Path, now: i64) -> io::Result<Listing> {
        let data = folder.symlink_metadata()?;
        let stamp = (data.dev(), data.ino(), data.ctime(), data.ctime_nsec());
        match self.0.get(folder) {
            Some((known, listing)) if *known == stamp => return Ok(listing.clone()),
            _ => {}
        }
        let listing = Listing::read(folder);
        // File system timestamps are coarse: a change after this read, in the same tick as the last change before
        // it, would not be detected.
        if now > data.ctime().saturating_add(MIN_AGE) {
            self.0.insert(folder.to_owned(), (stamp, listing.clone()));
        }
        Ok(listing)
    }
}

/// The current time in seconds, on the clock of file system timestamps.
#[expect(clippy::disallowed_methods, reason = "compared with times of the file system alone")]
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or_default()
}

impl Listing {
    fn read(folder: &Path) -> Self {
        let mut listing = Self::default();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_ENTRIES + 1) {
            listing.entries += 1;
            let name = entry.file_name();
            if name == ".git" {
                listing.is_repository = true;
                continue;
            }
            // Links are not followed: a target in the workspace is found by its own path.
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && OUTPUTS.iter().all(|output| name != *output) {
                listing.folders.push(folder.join(&name));
            }
        }
        listing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_found_at_any_depth() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        for tree in ["", "a", "b/c", "1/2/3/4/5/6", "1/2/3/4/5/6/7", "target/x", "node_modules/y"] {
            fs::create_dir_all(top.join(tree).join(".git/hooks")).unwrap();
        }
        fs::create_dir(top.join("d")).unwrap();
        fs::write(top.join("d/.git"), "gitdir: ../.git/modules/d\n").unwrap();
        std::os::unix::fs::symlink(top.join("a"), top.join("link")).unwrap();
        let (mut found, is_incomplete) = Listings::default().repositories_below(top);
        assert!(!is_incomplete);
        assert_eq!(found.last(), Some(&top.join("1/2/3/4/5/6/7")), "the deepest comes last");
        found.sort();
        let wanted = ["1/2/3/4/5/6", "1/2/3/4/5/6/7", "a", "b/c", "d"];
        assert_eq!(found, wanted.map(|tree| top.join(tree)));
    }

    /// The folders are made one below the other, because no system call takes such a long path.
    #[test]
    fn folder_beyond_the_longest_path_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let name = "x".repeat(250);
        let mut parent = fs::File::open(folder.path()).unwrap();
        for _ in 0..20 {
            rustix::fs::mkdirat(&parent, &name, 0o700.into()).unwrap();
            let flags = rustix::fs::OFlags::DIRECTORY;
            parent = rustix::fs::openat(&parent, &name, flags, 0.into()).unwrap().into();
        }
        assert_eq!(Listings::default().repositories_below(folder.path()), (Vec::new(), true));
    }

    #[test]
    fn search_ends_at_the_repository_limit() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MAX_REPOSITORIES + 10 {
            fs::create_dir_all(folder.path().join(format!("{number}/.git"))).unwrap();
        }
        let (found, is_incomplete) = Listings::default().repositories_below(folder.path());
        assert_eq!((found.len(), is_incomplete), (MAX_REPOSITORIES, true));
    }

    /// A folder with exactly the maximum of entries is read completely; one more makes the search incomplete.
    #[test]
    fn search_over_the_entry_limit_says_so() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MAX_ENTRIES {
            fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        assert_eq!(Listings::default().repositories_below(folder.path()), (Vec::new(), false));
        fs::write(folder.path().join("more"), "").unwrap();
        assert_eq!(Listings::default().repositories_below(folder.path()), (Vec::new(), true));
    }

    #[test]
    fn later_repositories_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("a");
        fs::create_dir_all(top.join("b/c")).unwrap();
        let mut listings = Listings::default();
        assert_eq!(listings.search(&top, now()).0, Vec::<PathBuf>::new());
        assert!(listings.0.is_empty(), "what has just changed may change again unseen");
        let later = now() + MIN_AGE + 10;
        assert_eq!(listings.search(&top, later).0, Vec::<PathBuf>::new());
        assert_eq!(listings.0.len(), 3);
        // File system timestamps may have steps of some milliseconds.
        let before = top.join("b/c").symlink_metadata().unwrap().ctime_nsec();
        while top.join("b/c").symlink_metadata().unwrap().ctime_nsec() == before {
            fs::write(top.join("b/c/.git"), "gitdir: x").unwrap();
            fs::remove_file(top.join("b/c/.git")).unwrap();
        }
        fs::write(top.join("b/c/.git"), "gitdir: x").unwrap();
        assert_eq!(listings.search(&top, later).0, [top.join("b/c")]);
        fs::create_dir_all(top.join("d/.git")).unwrap();
        assert_eq!(listings.search(&top, now()).0, [top.join("d"), top.join("b/c")]);
        fs::rename(top.join("b"), folder.path().join("b")).unwrap();
        assert_eq!(listings.search(&top, now()).0, [top.join("d")]);
    }
}
