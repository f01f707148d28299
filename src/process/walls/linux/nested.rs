//! Finds nested git repositories in a workspace.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum depth below the workspace at which repositories are found.
const MAX_DEPTH: usize = 6;
/// Number of names after which a search stops. The limit is checked before each folder is read; of a folder
/// with more names the rest is not read. The search runs before every start, because each step may create a
/// repository that the next one must not change. Repositories that the search did not reach are not
/// protected, and the report of the walls is then marked as incomplete.
const MAX_ENTRIES: usize = 10_000;
/// A listing is cached only when the folder has been unchanged for this many seconds.
const SETTLED: i64 = 2;
/// Maximum number of repositories, because each of them adds several mounts to a view.
const MAX_REPOSITORIES: usize = 200;
/// Folders that build tools fill and empty. Protecting a repository in them would keep a build from recreating its
/// own output.
const OUTPUTS: [&str; 2] = ["node_modules", "target"];

/// Cached folder listings of a workspace. A folder is read again only when it has changed, or changed just
/// before it was read.
#[derive(Debug, Default)]
pub(super) struct Listings(HashMap<PathBuf, (Stamp, Listing)>);

/// State of a folder: device, inode number, and its ctime, which programs cannot set.
type Stamp = (u64, u64, i64, i64);

/// The relevant contents of a folder.
#[derive(Debug, Clone, Default)]
struct Listing {
    entries: usize,
    folders: Vec<PathBuf>,
    /// Whether it contains `.git`.
    is_tree: bool,
}

impl Listings {
    /// The folders below this one that contain `.git`, nearest first, and whether the search ended at a limit of
    /// entries or repositories.
    pub(super) fn repositories_below(&mut self, top: &Path) -> (Vec<PathBuf>, bool) {
        self.look(top, now())
    }

    fn look(&mut self, top: &Path, now: i64) -> (Vec<PathBuf>, bool) {
        let mut found = Vec::new();
        let (mut looked_at, mut is_cut) = (0, false);
        let mut folders = VecDeque::from([(top.to_owned(), 0)]);
        while looked_at <= MAX_ENTRIES
            && found.len() < MAX_REPOSITORIES
            && let Some((folder, depth)) = folders.pop_front()
        {
            let Some(listing) = self.listing(&folder, now) else { continue };
            looked_at += listing.entries;
            is_cut |= listing.entries > MAX_ENTRIES;
            if depth < MAX_DEPTH {
                folders.extend(listing.folders.into_iter().map(|folder| (folder, depth + 1)));
            }
            if listing.is_tree && depth > 0 {
                found.push(folder);
            }
        }
        (found, is_cut || !folders.is_empty())
    }

    fn listing(&mut self, folder: &Path, now: i64) -> Option<Listing> {
        let data = folder.symlink_metadata().ok()?;
        let stamp = (data.dev(), data.ino(), data.ctime(), data.ctime_nsec());
        match self.0.get(folder) {
            Some((known, listing)) if *known == stamp => return Some(listing.clone()),
            _ => {}
        }
        let listing = Listing::read(folder);
        // File system timestamps are coarse: another change in the same tick as the one before this read
        // would not be detected.
        if now > data.ctime().saturating_add(SETTLED) {
            self.0.insert(folder.to_owned(), (stamp, listing.clone()));
        }
        Some(listing)
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
                listing.is_tree = true;
                continue;
            }
            // Links are not followed, because a target in the workspace is found under its own path.
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
    fn repositories_are_found_up_to_the_bounds() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        for tree in ["", "a", "b/c", "1/2/3/4/5/6", "1/2/3/4/5/6/7", "target/x", "node_modules/y"] {
            fs::create_dir_all(top.join(tree).join(".git/hooks")).unwrap();
        }
        fs::create_dir(top.join("d")).unwrap();
        fs::write(top.join("d/.git"), "gitdir: ../.git/modules/d\n").unwrap();
        std::os::unix::fs::symlink(top.join("a"), top.join("link")).unwrap();
        let (mut found, is_cut) = Listings::default().repositories_below(top);
        assert!(!is_cut);
        assert_eq!(found.last(), Some(&top.join("1/2/3/4/5/6")), "the deepest comes last");
        found.sort();
        assert_eq!(found, ["1/2/3/4/5/6", "a", "b/c", "d"].map(|tree| top.join(tree)));
    }

    #[test]
    fn search_ends_at_the_repository_limit() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MAX_REPOSITORIES + 10 {
            fs::create_dir_all(folder.path().join(format!("{number}/.git"))).unwrap();
        }
        let (found, is_cut) = Listings::default().repositories_below(folder.path());
        assert_eq!((found.len(), is_cut), (MAX_REPOSITORIES, true));
    }

    // A folder with exactly the limit is read whole; one entry more is not read.
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
        assert_eq!(listings.look(&top, now()).0, Vec::<PathBuf>::new());
        assert!(listings.0.is_empty(), "what has just changed may change again unseen");
        let later = now() + SETTLED + 10;
        assert_eq!(listings.look(&top, later).0, Vec::<PathBuf>::new());
        assert_eq!(listings.0.len(), 3);
        // File system timestamps may have steps of some milliseconds.
        let before = top.join("b/c").symlink_metadata().unwrap().ctime_nsec();
        while top.join("b/c").symlink_metadata().unwrap().ctime_nsec() == before {
            fs::write(top.join("b/c/.git"), "gitdir: x").unwrap();
            fs::remove_file(top.join("b/c/.git")).unwrap();
        }
        fs::write(top.join("b/c/.git"), "gitdir: x").unwrap();
        assert_eq!(listings.look(&top, later).0, [top.join("b/c")]);
        fs::create_dir_all(top.join("d/.git")).unwrap();
        assert_eq!(listings.look(&top, now()).0, [top.join("d"), top.join("b/c")]);
        fs::rename(top.join("b"), folder.path().join("b")).unwrap();
        assert_eq!(listings.look(&top, now()).0, [top.join("d")]);
    }
}
