//! Decides which files a search leaves out, by ripgrep's defaults (SPEC §4): hidden files, those that
//! `.rgignore` and `.ignore` match, and inside a git repository those that `.gitignore` and git's own lists
//! match. Also decides which files git would not add: those that its lists match, inside a repository or not,
//! and the repository's own folder.
//!
//! The caller that walks a folder reads the lists in it, through its own handles. One difference from
//! ripgrep: where `.git` is a file that names another folder, the list in that folder is not read, because
//! that folder may be anywhere.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The ignore lists of one folder, in order of precedence.
const LISTS: [List; 4] = [
    List { name: ".rgignore", of_git: false },
    List { name: ".ignore", of_git: false },
    List { name: ".gitignore", of_git: true },
    List { name: ".git/info/exclude", of_git: true },
];

/// The rules by which a walk selects files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileSelection {
    /// The defaults of ripgrep.
    Search,
    /// The rules of git when it adds all files that no list ignores.
    Git,
}

/// A folder that contains one of these names is the top of a repository.
const REPOSITORY: [&str; 2] = [".git", ".jj"];

/// Maximum number of lines in one list, because each compiled rule takes some kilobytes.
const MAX_RULES: usize = 10_000;

struct List {
    name: &'static str,
    /// Whether it applies only inside a repository.
    of_git: bool,
}

/// The rules for the entries of one folder.
pub(crate) struct Rules {
    /// The rules for this folder itself.
    above: Option<Arc<Rules>>,
    lists: [Gitignore; 4],
    /// Whether this folder is the top of a repository: git lists from above it do not apply here.
    is_repository: bool,
    /// Whether this folder or one above it is the top of a repository; always set for `FileSelection::Git`.
    in_repository: bool,
    /// The user's own list, which applies in every repository.
    of_user: Arc<Gitignore>,
    selection: FileSelection,
    count: u64,
}

/// A folder, as far as the rules need it.
pub(crate) struct Folder<'a> {
    /// The absolute path of the folder.
    pub(crate) path: &'a Path,
    /// Whether the folder contains an entry with this name; may also return true if that is unknown.
    pub(crate) has: &'a dyn Fn(&str) -> bool,
    /// Reads a file in the folder.
    pub(crate) read: &'a dyn Fn(&str) -> io::Result<Vec<u8>>,
}

impl Rules {
    /// The topmost rules: those of the user's own list alone, with patterns relative to `top`.
    pub(crate) fn of_user(top: &Path, selection: FileSelection) -> Arc<Self> {
        let (of_user, _) = GitignoreBuilder::new(top).build_global();
        Arc::new(Self {
            above: None,
            lists: std::array::from_fn(|_| Gitignore::empty()),
            is_repository: false,
            in_repository: selection == FileSelection::Git,
            of_user: Arc::new(of_user),
            selection,
            count: 0,
        })
    }

    /// The rules for the entries of `folder`, to which these rules apply. Lists that are too large and lines
    /// that cannot be parsed are reported to `problem`; other lists that cannot be read are skipped, as in
    /// ripgrep.
    pub(crate) fn below(
        self: &Arc<Self>,
        folder: &Folder<'_>,
        problem: &dyn Fn(String),
    ) -> Arc<Self> {
        let is_repository = REPOSITORY.iter().any(|name| (folder.has)(name));
        let in_repository = is_repository || self.in_repository;
        let lists = LISTS.map(|List { name, of_git }| {
            let first = name.split('/').next().unwrap_or(name);
            let applies =
                if of_git { in_repository } else { self.selection == FileSelection::Search };
            if !applies || !(folder.has)(first) {
                return Gitignore::empty();
            }
            compile(folder, name, problem)
        });
        if !is_repository && lists.iter().all(Gitignore::is_empty) {
            return Arc::clone(self);
        }
        let of_user = Arc::clone(&self.of_user);
        let rules = |list: &Gitignore| list.num_ignores() + list.num_whitelists();
        let count = self.count + lists.iter().map(rules).sum::<u64>();
        Arc::new(Self {
            above: Some(Arc::clone(self)),
            lists,
            is_repository,
            in_repository,
            of_user,
            selection: self.selection,
            count,
        })
    }

    /// The number of rules, including those from above.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Whether the file or folder at this absolute path, to which these rules apply, is ignored.
    pub(crate) fn is_ignored(&self, path: &Path, is_folder: bool) -> bool {
        let name = path.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default();
        match self.selection {
            FileSelection::Search => {
                self.matched(path, is_folder).unwrap_or_else(|| name.starts_with(b"."))
            }
            FileSelection::Git => {
                REPOSITORY.iter().any(|repository| repository.as_bytes() == name)
                    || self.matched(path, is_folder).unwrap_or(false)
            }
        }
    }

    /// Matches the path against the lists, by precedence and then from the nearest folder up. Returns whether
    /// the path is ignored; `None` if no rule matches.
    fn matched(&self, path: &Path, is_folder: bool) -> Option<bool> {
        let matched = |list: &Gitignore| match list.matched(path, is_folder) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        // One decision for each kind of list.
        let mut decisions = [None; 4];
        let mut in_repository = self.in_repository;
        let mut folder = Some(self);
        while let Some(rules) = folder {
            for ((decision, list), kind) in decisions.iter_mut().zip(&rules.lists).zip(&LISTS) {
                if !kind.of_git || in_repository {
                    *decision = decision.or_else(|| matched(list));
                }
            }
            in_repository &= !rules.is_repository;
            folder = rules.above.as_deref();
        }
        let of_user = || self.in_repository.then(|| matched(&self.of_user)).flatten();
        decisions.into_iter().flatten().next().or_else(of_user)
    }
}

/// Reads and compiles one list; an empty one if it cannot be used.
fn compile(folder: &Folder<'_>, name: &str, problem: &dyn Fn(String)) -> Gitignore {
    let path = folder.path.join(name);
    let bytes = match (folder.read)(name) {
        Ok(bytes) => bytes,
        Err(error) => {
            if error.kind() == io::ErrorKind::FileTooLarge {
                problem(format!("{}: {error}", path.display()));
            }
            return Gitignore::empty();
        }
    };
    let mut builder = GitignoreBuilder::new(folder.path);
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    if bytes.iter().filter(|byte| **byte == b'\n').count() > MAX_RULES {
        problem(format!("{}: it has more than {MAX_RULES} lines", path.display()));
        return Gitignore::empty();
    }
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let added = match std::str::from_utf8(line) {
            Ok(line) => builder.add_line(None, line).map_err(|error| error.to_string()).map(|_| ()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = added {
            problem(format!("{}: line {}: {error}", path.display(), index + 1));
        }
    }
    builder.build().unwrap_or_else(|error| {
        problem(format!("{}: {error}", path.display()));
        Gitignore::empty()
    })
}
