//! The program's own folders (SPEC §4): settings, key, evidence, state and caches. No tool reads or writes
//! them, whatever the workspace is, because they contain the authorizations and the record of runs.
//!
//! Paths are compared as the most permissive file system would compare them. Folders are also compared by
//! device and inode, to detect other mounts and renamed parents. Files with several names are compared by
//! device and inode too, to detect hard links.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::risk::is_at_or_below;

use super::WorkspaceError;

/// Maximum number of entries in the own folders without the cache that are listed for the check for hard links.
/// Evidence, key and settings are a few dozen files, but an evidence folder may also hold other files.
const MAX_ENTRIES: usize = 100_000;
/// Maximum number of entries in the cache that are listed: copies of simulations, which contain nothing of the program.
const MAX_CACHE_ENTRIES: usize = 10_000;

/// Every folder of this program: the folders of this user, and those `named` for this process, such as
/// another evidence folder. The paths are absolute; a folder that is reached through a link is listed under
/// both names.
///
/// The copies of simulations are in one of these folders, the cache. A caller that hides these folders from a
/// program on such a copy must leave the copy visible.
pub fn own_folders<'a>(named: impl IntoIterator<Item = &'a Path>) -> Vec<PathBuf> {
    let project = directories::ProjectDirs::from("", "", "countersign");
    let of_user = project.iter().flat_map(|dirs| {
        let always = [
            dirs.config_dir(),
            dirs.config_local_dir(),
            dirs.preference_dir(),
            dirs.data_dir(),
            dirs.data_local_dir(),
            dirs.cache_dir(),
        ];
        always.into_iter().chain(dirs.state_dir())
    });
    let of_user: Vec<PathBuf> = of_user.map(Path::to_owned).collect();
    let named = named.into_iter().map(Path::to_owned);
    let mut all = BTreeSet::new();
    for folder in of_user.into_iter().chain(named) {
        let Ok(absolute) = std::path::absolute(&folder) else { continue };
        all.extend(real(&absolute));
        all.insert(absolute);
    }
    all.into_iter().collect()
}

/// The path with its links resolved, as far as it exists.
fn real(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|above| {
        let real = std::fs::canonicalize(above).ok()?;
        Some(real.join(path.strip_prefix(above).ok()?))
    })
}

/// Device and inode, which identify a file or folder whatever its name.
type Identity = (u64, u64);

/// The own folders, in the form in which the tools of one workspace check for them.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnFolders {
    all: Vec<PathBuf>,
    /// The own folders that a path in one of the roots can name: those in a root and those around one.
    near: Vec<String>,
    /// The identities of the folders.
    folders: BTreeSet<Identity>,
    /// The identities of the files in the own folders; `None` if there are too many. They are listed when the first
    /// file with several names is found.
    files: Arc<OnceLock<Option<BTreeSet<Identity>>>>,
}

impl OwnFolders {
    /// The own folders for tools that are confined to these roots, whose paths must be free of links.
    pub(crate) fn new<'r>(
        all: Vec<PathBuf>,
        roots: impl IntoIterator<Item = &'r Path> + Clone,
    ) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let meets = |own: &Path| {
            roots.clone().into_iter().any(|root| {
                let (own, root) = (text(own), text(root));
                is_at_or_below(&own, &root) || is_at_or_below(&root, &own)
            })
        };
        let near = all.iter().filter(|own| meets(own)).map(|own| text(own)).collect();
        let folders = all.iter().filter_map(|own| identity(own)).collect();
        Self { all, near, folders, files: Arc::default() }
    }

    /// The same folders for `copy`, a copy of the workspace `of`.
    pub(crate) fn on_copy(&self, of: &Path, copy: &Path) -> Self {
        let below = self.near.iter().filter_map(|own| Path::new(own).strip_prefix(of).ok());
        let near = below.map(|own| copy.join(own).to_string_lossy().into_owned()).collect();
        // The copy is itself in one of the own folders, the cache.
        let around = copy.ancestors().filter_map(identity).collect::<BTreeSet<_>>();
        let folders = self.folders.difference(&around).copied().collect();
        Self { all: self.all.clone(), near, folders, files: Arc::clone(&self.files) }
    }

    /// All own folders.
    pub(crate) fn all(&self) -> &[PathBuf] {
        &self.all
    }

    /// Whether this absolute path is an own folder or in one.
    pub(crate) fn contains(&self, path: &Path) -> bool {
        !self.near.is_empty() && {
            let path = path.to_string_lossy();
            self.near.iter().any(|own| is_at_or_below(&path, own))
        }
    }

    /// Whether the folder with this identity is an own folder.
    pub(crate) fn contains_folder(&self, identity: Identity) -> bool {
        self.folders.contains(&identity)
    }

    /// Whether a file with this identity and this many names (hard links) is or may be a file in an own folder.
    pub(crate) fn contains_file(&self, identity: Identity, names: u64) -> bool {
        names > 1 && {
            let files = self.files.get_or_init(|| own_files(&self.all, &cache(), MAX_ENTRIES));
            files.as_ref().is_none_or(|files| files.contains(&identity))
        }
    }
}

/// The folders of the cache, by all their names.
fn cache() -> Vec<PathBuf> {
    let project = directories::ProjectDirs::from("", "", "countersign");
    let cache = project.map(|dirs| dirs.cache_dir().to_owned());
    let real = cache.as_deref().and_then(real);
    cache.into_iter().chain(real).collect()
}

/// The identities of the files in these folders and those below them; `None` if there are more than `most` entries
/// outside the cache.
fn own_files(folders: &[PathBuf], cache: &[PathBuf], most: usize) -> Option<BTreeSet<Identity>> {
    let mut found = BTreeSet::new();
    if !add_files(folders, cache, most, &mut found) {
        return None;
    }
    add_files(cache, &[], MAX_CACHE_ENTRIES, &mut found);
    Some(found)
}

/// Adds the identities of the files in these folders and those below them, but not in the `skipped` ones. Returns false
/// if there are more than `remaining` entries.
fn add_files(
    folders: &[PathBuf],
    skipped: &[PathBuf],
    mut remaining: usize,
    found: &mut BTreeSet<Identity>,
) -> bool {
    let mut waiting = folders.to_vec();
    while let Some(folder) = waiting.pop() {
        if skipped.contains(&folder) {
            continue;
        }
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Some(fewer) = remaining.checked_sub(1) else { return false };
            remaining = fewer;
            let Ok(data) = entry.metadata() else { continue };
            if data.is_dir() {
                waiting.push(entry.path());
            } else {
                found.insert(identity_of(&data));
            }
        }
    }
    true
}

fn identity_of(data: &std::fs::Metadata) -> Identity {
    (data.dev(), data.ino())
}

fn identity(path: &Path) -> Option<Identity> {
    std::fs::metadata(path).ok().as_ref().map(identity_of)
}

/// The error for a path that leads into an own folder.
pub(crate) fn refused(path: &str) -> WorkspaceError {
    WorkspaceError::OwnFolder { path: path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_beyond_the_limit_are_not_ignored() {
        let temp = tempfile::tempdir().unwrap();
        let (own, cache) = (temp.path().join("own"), temp.path().join("own/cache"));
        std::fs::create_dir_all(cache.join("copy")).unwrap();
        for number in 0..20 {
            std::fs::write(cache.join("copy").join(number.to_string()), "").unwrap();
        }
        std::fs::write(own.join("key"), "").unwrap();
        let key = identity(&own.join("key")).unwrap();
        let folders = [cache.clone(), own.clone()];
        let files = |most| own_files(&folders, std::slice::from_ref(&cache), most);
        // The folder of the cache and the key; the copies do not count.
        assert!(files(2).unwrap().contains(&key));
        assert_eq!(files(1), None);
        let unknown = OwnFolders { files: Arc::new(OnceLock::from(None)), ..OwnFolders::default() };
        assert!(unknown.contains_file(key, 2) && !unknown.contains_file(key, 1));
    }
}
