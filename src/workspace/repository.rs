//! Finds out whether git would run a program of the repository in a folder, when it only reads.
//!
//! The repository is read without git, because git would run what its settings name. Whatever cannot be read or
//! understood counts as naming a program: the answer decides whether a call of git is safe (`src/risk/shell/repository.rs`).

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::risk::read_git_settings;

/// Maximum size of a settings file.
const SETTINGS_BYTES: u64 = 1 << 20;
/// Maximum size of an index.
const INDEX_BYTES: u64 = 64 << 20;
/// Maximum number of repositories and settings files that are read: submodules and included files.
const MAX_READ: usize = 200;

/// Hooks that git runs when a reading command refreshes the index.
const HOOKS: [&str; 1] = ["post-index-change"];

/// What git may run in this folder, or why it cannot be said; `None` if it runs nothing of a repository.
pub(crate) fn program_named_by_repository(folder: &Path) -> Option<String> {
    let variables = ["GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"];
    if let Some(set) = variables.iter().find(|name| std::env::var_os(name).is_some()) {
        return Some(format!("the variable {set} is set"));
    }
    let Ok(folder) = fs::canonicalize(folder) else {
        // The command fails, or runs in a folder that is checked by its own name.
        return None;
    };
    Check::default().around(&folder).err()
}

/// What was read already. The error of every check is what git may run.
#[derive(Default)]
struct Check {
    repositories: BTreeSet<PathBuf>,
    settings: BTreeSet<PathBuf>,
}

/// The folders of one repository.
struct Folders {
    /// `.git` itself, or the folder of a worktree or submodule.
    own: PathBuf,
    /// The folder with the settings and hooks.
    common: PathBuf,
    /// The working tree.
    tree: PathBuf,
}

/// The settings of one repository that matter for its other files.
#[derive(Default)]
struct Found {
    hooks: Vec<String>,
    worktree: Option<String>,
    sha256: bool,
}

impl Check {
    /// Checks the repository that git finds from this folder.
    fn around(&mut self, folder: &Path) -> Result<(), String> {
        for tree in folder.ancestors() {
            let entry = tree.join(".git");
            if entry.symlink_metadata().is_ok() {
                let own = repository_of(&entry)?;
                self.repository(&own, tree)?;
                // git skips a folder that is none of its own.
                if !entry.is_dir() || is_repository(&own) {
                    return Ok(());
                }
            }
            // A folder can be a repository itself, without a working tree.
            if is_repository(tree) {
                return self.repository(tree, tree);
            }
        }
        Ok(())
    }

    fn repository(&mut self, own: &Path, tree: &Path) -> Result<(), String> {
        if !self.repositories.insert(own.to_owned()) {
            return Ok(());
        }
        self.check_limit()?;
        let common = match read(&own.join("commondir"), SETTINGS_BYTES)? {
            Some(text) => own.join(text.trim_end_matches(['\n', '\r'])),
            None => own.to_owned(),
        };
        let mut folders = Folders { own: own.to_owned(), common, tree: tree.to_owned() };
        let mut found = Found::default();
        self.settings(&folders.common.join("config"), &mut found)?;
        self.settings(&folders.own.join("config.worktree"), &mut found)?;
        self.settings(&folders.common.join("config.worktree"), &mut found)?;
        if let Some(worktree) = &found.worktree {
            folders.tree = expanded(worktree, &folders.common)?;
        }
        self.check_hooks(&folders, &found)?;
        self.submodules(&folders, found.sha256)
    }

    fn check_limit(&self) -> Result<(), String> {
        if self.repositories.len() + self.settings.len() > MAX_READ {
            return Err(format!("it has more than {MAX_READ} submodules or settings files"));
        }
        Ok(())
    }

    fn settings(&mut self, path: &Path, found: &mut Found) -> Result<(), String> {
        if !self.settings.insert(path.to_owned()) {
            return Ok(());
        }
        self.check_limit()?;
        let Some(text) = read(path, SETTINGS_BYTES)? else { return Ok(()) };
        let read = read_git_settings(&text);
        if let Some(named) = read.names {
            return Err(format!("{named} ({})", path.display()));
        }
        found.hooks.extend(read.hooks);
        found.sha256 |= read.sha256;
        found.worktree = read.worktree.or(found.worktree.take());
        for included in read.includes {
            let folder = path.parent().unwrap_or(path);
            self.settings(&expanded(&included, folder)?, found)?;
        }
        Ok(())
    }

    fn check_hooks(&self, folders: &Folders, found: &Found) -> Result<(), String> {
        let mut places = vec![folders.common.join("hooks")];
        for hooks in &found.hooks {
            // Relative to the folder in which hooks run: the working tree, or the repository.
            for base in [&folders.tree, &folders.own, &folders.common] {
                places.push(expanded(hooks, base)?);
            }
        }
        let hooks = places.iter().flat_map(|place| HOOKS.iter().map(|hook| place.join(hook)));
        match hooks.into_iter().find(|hook| hook.symlink_metadata().is_ok()) {
            Some(hook) => Err(format!("the hook {}", hook.display())),
            None => Ok(()),
        }
    }

    /// Checks the submodules in the index, in which git looks for changes.
    fn submodules(&mut self, folders: &Folders, sha256: bool) -> Result<(), String> {
        let path = folders.own.join("index");
        let Some(bytes) = read_bytes(&path, INDEX_BYTES)? else { return Ok(()) };
        let links = gitlinks(&bytes, if sha256 { 32 } else { 20 })
            .ok_or_else(|| format!("{} cannot be read here", path.display()))?;
        for link in links {
            let tree = folders.tree.join(link);
            let entry = tree.join(".git");
            if entry.symlink_metadata().is_ok() {
                self.repository(&repository_of(&entry)?, &tree)?;
            }
        }
        Ok(())
    }
}

/// The folder of the repository that `.git` is or names.
fn repository_of(entry: &Path) -> Result<PathBuf, String> {
    if entry.is_dir() {
        return Ok(entry.to_owned());
    }
    let text = read(entry, SETTINGS_BYTES)?.unwrap_or_default();
    let named = text.strip_prefix("gitdir: ").map(|it| it.trim_end_matches(['\n', '\r']));
    let named = named.filter(|it| !it.is_empty() && !it.contains('\n'));
    let named = named.ok_or_else(|| format!("{} cannot be read", entry.display()))?;
    Ok(entry.parent().unwrap_or(entry).join(named))
}

/// Whether git takes a folder for a repository. Where git would not, reading further does no harm.
fn is_repository(folder: &Path) -> bool {
    let head = folder.join("HEAD").symlink_metadata().is_ok();
    head && (folder.join("commondir").exists()
        || folder.join("objects").is_dir() && folder.join("refs").is_dir())
}

/// A path in the settings: below the home folder, absolute, or relative to `base`.
fn expanded(value: &str, base: &Path) -> Result<PathBuf, String> {
    match value.strip_prefix("~/") {
        Some(rest) => Ok(std::env::home_dir().unwrap_or_default().join(rest)),
        None if value.starts_with(['~', '%', ':']) => Err(format!("the path {value}")),
        None => Ok(base.join(value)),
    }
}

fn read(path: &Path, limit: u64) -> Result<Option<String>, String> {
    let Some(bytes) = read_bytes(path, limit)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|_| format!("{} is no text", path.display()))
}

/// The content of a file; `None` if there is none.
fn read_bytes(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, String> {
    let unreadable =
        |why: &dyn std::fmt::Display| format!("{} cannot be read: {why}", path.display());
    // A pipe would never answer.
    match fs::metadata(path) {
        Ok(data) if !data.is_file() => return Err(unreadable(&"it is no file")),
        Ok(_) => {}
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    }
    let file = fs::File::open(path).map_err(|error| unreadable(&error))?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > limit {
        return Err(unreadable(&format!("it has more than {limit} bytes")));
    }
    Ok(Some(bytes))
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// The paths of the submodules in an index; `None` if the index has a form that is not read here: a split one, or one with
/// an extension that git must understand.
fn gitlinks(bytes: &[u8], hash: usize) -> Option<Vec<PathBuf>> {
    use std::os::unix::ffi::OsStringExt as _;
    const GITLINK: u32 = 0o160_000;
    let number = |at: usize| {
        let four: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_be_bytes(four))
    };
    let version = number(4)?;
    if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let (mut at, mut links, mut name) = (12, Vec::new(), Vec::new());
    for _ in 0..number(8)? {
        let start = at;
        let mode = number(start + 24)?;
        at = start + 40 + hash;
        let flags = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
        at += 2;
        if flags & 0x4000 != 0 {
            at += 2;
        }
        if version == 4 {
            // The name begins as the one before, without this number of bytes at its end.
            let mut cut = 0_usize;
            loop {
                let byte = *bytes.get(at)?;
                at += 1;
                cut = cut.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
                if byte & 0x80 == 0 {
                    break;
                }
                cut = cut.checked_add(1)?;
            }
            name.truncate(name.len().checked_sub(cut)?);
        } else {
            name.clear();
        }
        let rest = bytes.get(at..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(rest.get(..length)?);
        at += length + 1;
        if version < 4 {
            // Entries are padded with zeros to a multiple of eight.
            at = start + (at - start).next_multiple_of(8);
        }
        if mode == GITLINK {
            links.push(PathBuf::from(std::ffi::OsString::from_vec(name.clone())));
        }
    }
    let end = bytes.len().checked_sub(hash)?;
    while at < end {
        // Optional extensions begin with an upper-case letter. `link` is that of a split index, `sdir` of a sparse one.
        let kind = bytes.get(at..at + 4)?;
        if !kind.first()?.is_ascii_uppercase() && kind != b"sdir" {
            return None;
        }
        at = at.checked_add(8)?.checked_add(number(at + 4)? as usize)?;
    }
    (at == end).then_some(links)
}

#[cfg(test)]
mod tests;
