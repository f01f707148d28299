//! Which folders of a workspace are repositories of their own.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// How deep below the workspace a repository is looked for.
const DEPTH: usize = 6;
/// Most files and folders that are looked at: this is done before every start, because each step may make a
/// repository that the next one must not change.
const MOST_ENTRIES: usize = 10_000;
/// For how many seconds a folder must not have changed before what is in it is remembered.
const SETTLED: i64 = 2;
/// Most repositories: each of them costs a view several mounts.
const MOST: usize = 200;
/// Folders that programs fill and empty by themselves. A repository in them, protected, would keep a build from
/// making its own output anew.
const OUTPUTS: [&str; 2] = ["node_modules", "target"];

/// What was seen of the folders of a workspace. A folder is only read again when it has changed.
#[derive(Debug, Default)]
pub(super) struct Listings(HashMap<PathBuf, (Stamp, Listing)>);

/// A folder: its device, its number there, and when it last changed, which no program can set.
type Stamp = (u64, u64, i64, i64);

/// What is in a folder.
#[derive(Debug, Clone, Default)]
struct Listing {
    entries: usize,
    folders: Vec<PathBuf>,
    /// Whether there is a `.git`.
    is_tree: bool,
}

impl Listings {
    /// The folders below this one that hold a `.git`, those that are less deep first.
    pub(super) fn repositories_below(&mut self, top: &Path) -> Vec<PathBuf> {
        self.look(top, now())
    }

    fn look(&mut self, top: &Path, now: i64) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut looked_at = 0;
        let mut folders = VecDeque::from([(top.to_owned(), 0)]);
        while let Some((folder, depth)) = folders.pop_front() {
            if looked_at > MOST_ENTRIES || found.len() >= MOST {
                break;
            }
            let Some(listing) = self.listing(&folder, now) else { continue };
            looked_at += listing.entries;
            if depth < DEPTH {
                folders.extend(listing.folders.into_iter().map(|folder| (folder, depth + 1)));
            }
            if listing.is_tree && depth > 0 {
                found.push(folder);
            }
        }
        found
    }

    fn listing(&mut self, folder: &Path, now: i64) -> Option<Listing> {
        let data = folder.symlink_metadata().ok()?;
        let stamp = (data.dev(), data.ino(), data.ctime(), data.ctime_nsec());
        match self.0.get(folder) {
            Some((known, listing)) if *known == stamp => return Some(listing.clone()),
            _ => {}
        }
        let listing = Listing::read(folder);
        // The clock of a file system has steps: a change in the same one as this look would not be seen.
        if now > data.ctime().saturating_add(SETTLED) {
            self.0.insert(folder.to_owned(), (stamp, listing.clone()));
        }
        Some(listing)
    }
}

/// The seconds of the clock by which a file system says when something changed.
#[expect(clippy::disallowed_methods, reason = "compared with times of the file system alone")]
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or_default()
}

impl Listing {
    fn read(folder: &Path) -> Self {
        let mut listing = Self::default();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_ENTRIES) {
            listing.entries += 1;
            let name = entry.file_name();
            if name == ".git" {
                listing.is_tree = true;
                continue;
            }
            // Links are not followed: what they lead to inside of the workspace is found where it is.
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
        let mut found = Listings::default().repositories_below(top);
        assert_eq!(found.last(), Some(&top.join("1/2/3/4/5/6")), "the deepest comes last");
        found.sort();
        assert_eq!(found, ["1/2/3/4/5/6", "a", "b/c", "d"].map(|tree| top.join(tree)));
    }

    #[test]
    fn the_search_ends_where_there_is_too_much() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MOST + 10 {
            fs::create_dir_all(folder.path().join(format!("{number}/.git"))).unwrap();
        }
        assert_eq!(Listings::default().repositories_below(folder.path()).len(), MOST);
    }

    #[test]
    fn what_comes_to_be_later_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("a");
        fs::create_dir_all(top.join("b/c")).unwrap();
        let mut listings = Listings::default();
        assert_eq!(listings.look(&top, now()), Vec::<PathBuf>::new());
        assert!(listings.0.is_empty(), "what has just changed may change again unseen");
        let later = now() + SETTLED + 10;
        assert_eq!(listings.look(&top, later), Vec::<PathBuf>::new());
        assert_eq!(listings.0.len(), 3);
        // The clock of the file system may have steps of some milliseconds.
        let before = top.join("b/c").symlink_metadata().unwrap().ctime_nsec();
        while top.join("b/c").symlink_metadata().unwrap().ctime_nsec() == before {
            fs::write(top.join("b/c/.git"), "gitdir: x").unwrap();
            fs::remove_file(top.join("b/c/.git")).unwrap();
        }
        fs::write(top.join("b/c/.git"), "gitdir: x").unwrap();
        assert_eq!(listings.look(&top, later), [top.join("b/c")]);
        fs::create_dir_all(top.join("d/.git")).unwrap();
        assert_eq!(listings.look(&top, now()), [top.join("d"), top.join("b/c")]);
        fs::rename(top.join("b"), folder.path().join("b")).unwrap();
        assert_eq!(listings.look(&top, now()), [top.join("d")]);
    }
}
