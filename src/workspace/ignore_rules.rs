//! Which files a search leaves out, as ripgrep's defaults do (SPEC §4): hidden ones, what `.rgignore`
//! and `.ignore` say, and inside a git repository what `.gitignore` and git's own lists say. And which files
//! git would not know: what its lists say, in a repository or not, and the repository itself.
//!
//! The lists of a folder are read by whoever walks it, through its own handles. One thing is not as in
//! ripgrep: where `.git` is a file that names another folder, the list kept there is not read, because
//! that folder may be anywhere.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The lists of one folder; what an earlier one says counts more.
const LISTS: [List; 4] = [
    List { name: ".rgignore", of_git: false },
    List { name: ".ignore", of_git: false },
    List { name: ".gitignore", of_git: true },
    List { name: ".git/info/exclude", of_git: true },
];
/// For whom files are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// As ripgrep does.
    Search,
    /// As git does, where everything is added that no list names.
    Git,
}

/// What makes a folder the top of a repository.
const REPOSITORY: [&str; 2] = [".git", ".jj"];

/// Most rules in one list: each takes some kilobytes when it is made ready.
const MOST_RULES: usize = 10_000;

struct List {
    name: &'static str,
    /// Whether it counts inside a repository only.
    of_git: bool,
}

/// The rules that hold for what stands in one folder.
pub(crate) struct Rules {
    above: Option<Arc<Rules>>,
    lists: [Gitignore; 4],
    /// Whether a repository begins in this folder: no git list from above it counts here.
    is_repository: bool,
    /// Whether one begins here or above.
    in_repository: bool,
    /// The list of the user, for every repository.
    of_user: Arc<Gitignore>,
    choice: Choice,
    count: u64,
}

/// A folder, as far as its rules are concerned.
pub(crate) struct Folder<'a> {
    /// Absolute.
    pub(crate) path: &'a Path,
    /// Whether there is such a name in it; it may also say yes when it does not know.
    pub(crate) has: &'a dyn Fn(&str) -> bool,
    /// Reads a file in it.
    pub(crate) read: &'a dyn Fn(&str) -> io::Result<Vec<u8>>,
}

impl Rules {
    /// The rules of a user above every folder; the user's own list is written for paths below `top`.
    pub(crate) fn of_user(top: &Path, choice: Choice) -> Arc<Self> {
        let (of_user, _) = GitignoreBuilder::new(top).build_global();
        Arc::new(Self {
            above: None,
            lists: std::array::from_fn(|_| Gitignore::empty()),
            is_repository: false,
            in_repository: choice == Choice::Git,
            of_user: Arc::new(of_user),
            choice,
            count: 0,
        })
    }

    /// The rules for what stands in `folder`, which stands where these rules hold. What cannot be
    /// understood goes to `problem`; what cannot be read is no rule, as in ripgrep.
    pub(crate) fn below(
        self: &Arc<Self>,
        folder: &Folder<'_>,
        problem: &dyn Fn(String),
    ) -> Arc<Self> {
        let is_repository = REPOSITORY.iter().any(|name| (folder.has)(name));
        let in_repository = is_repository || self.in_repository;
        let lists = LISTS.map(|List { name, of_git }| {
            let first = name.split('/').next().unwrap_or(name);
            let counts = if of_git { in_repository } else { self.choice == Choice::Search };
            if !counts || !(folder.has)(first) {
                return Gitignore::empty();
            }
            list(folder, name, problem)
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
            choice: self.choice,
            count,
        })
    }

    /// How many rules these are, with those from above.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Whether the file or folder at this absolute path, which stands where these rules hold, is left
    /// out.
    pub(crate) fn leave_out(&self, path: &Path, is_folder: bool) -> bool {
        let name = path.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default();
        match self.choice {
            Choice::Search => self.say(path, is_folder).unwrap_or_else(|| name.starts_with(b".")),
            Choice::Git => {
                REPOSITORY.iter().any(|it| it.as_bytes() == name)
                    || self.say(path, is_folder).unwrap_or(false)
            }
        }
    }

    /// What the nearest list of the most weight says: whether to leave it out.
    fn say(&self, path: &Path, is_folder: bool) -> Option<bool> {
        let asked = |list: &Gitignore| match list.matched(path, is_folder) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        let mut said = [None; 4];
        let mut in_repository = self.in_repository;
        let mut here = Some(self);
        while let Some(rules) = here {
            for ((said, list), kind) in said.iter_mut().zip(&rules.lists).zip(&LISTS) {
                if !kind.of_git || in_repository {
                    *said = said.or_else(|| asked(list));
                }
            }
            in_repository &= !rules.is_repository;
            here = rules.above.as_deref();
        }
        let of_user = || self.in_repository.then(|| asked(&self.of_user)).flatten();
        said.into_iter().flatten().next().or_else(of_user)
    }
}

fn list(folder: &Folder<'_>, name: &str, problem: &dyn Fn(String)) -> Gitignore {
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
    if bytes.iter().filter(|byte| **byte == b'\n').count() > MOST_RULES {
        problem(format!("{}: it has more than {MOST_RULES} lines", path.display()));
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
