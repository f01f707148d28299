//! The folders of a git repository, and its files that can name programs for git to run.
//!
//! They are read without git, because git would run programs that a repository names.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum nesting of the folders of modules.
const MAX_DEPTH: usize = 8;
/// Maximum number of included settings files that are read. Files that include each other by many
/// names would otherwise be read without end.
const MAX_INCLUDES: usize = 500;
/// Maximum number of modules and worktrees of a repository that are read.
const MAX_MODULES: usize = 500;

/// A git repository.
#[derive(Debug, Default)]
pub(super) struct Repository {
    /// The folder that contains `.git`.
    pub(super) tree: PathBuf,
    /// The folders of the repository itself, to which git commands write.
    pub(super) folders: Vec<PathBuf>,
    /// The paths that no step may write: settings, hooks, and files that the settings include. Some of them may not
    /// exist.
    pub(super) protected: Vec<PathBuf>,
    /// Whether a limit was reached, so that some of these paths are missing.
    pub(super) is_incomplete: bool,
    /// The included settings, each of which is read once.
    included: BTreeSet<PathBuf>,
}

impl Repository {
    /// The repository that this folder is in, if any.
    pub(super) fn containing(folder: &Path) -> Option<Self> {
        let tree = folder.ancestors().find(|tree| tree.join(".git").symlink_metadata().is_ok())?;
        Some(Self::of(tree))
    }

    /// The repository of this folder, which contains `.git`.
    pub(super) fn of(tree: &Path) -> Self {
        let mut repository = Self { tree: tree.to_owned(), ..Self::default() };
        let entry = tree.join(".git");
        let own = if entry.is_dir() {
            entry
        } else {
            // In a worktree or a submodule `.git` is a file with the path of the repository.
            repository.protected.push(entry.clone());
            let text = fs::read_to_string(&entry).unwrap_or_default();
            let Some(own) = text.strip_prefix("gitdir:") else { return repository };
            tree.join(own.trim())
        };
        let common = fs::read_to_string(own.join("commondir"))
            .map_or_else(|_| own.clone(), |text| own.join(text.trim()));
        let mut folders = vec![own, common];
        let mut modules = Vec::new();
        for folder in &folders {
            for below in ["modules", "worktrees"] {
                repository.add_modules(&folder.join(below), &mut modules, MAX_DEPTH);
            }
        }
        for folder in folders.iter().chain(&modules) {
            repository.protect_settings_of(folder, tree);
        }
        folders.retain(|folder| folder.is_dir());
        repository.folders = folders;
        repository
    }

    fn protect_settings_of(&mut self, folder: &Path, tree: &Path) {
        // By writing `commondir`, a step could make git read the other files from another folder.
        for name in ["config", "config.worktree", "hooks", "commondir"] {
            self.protected.push(folder.join(name));
        }
        for name in ["config", "config.worktree"] {
            self.protect_named_in(&folder.join(name), tree);
        }
    }

    /// Protects the paths of hooks and included settings that a settings file names.
    fn protect_named_in(&mut self, settings: &Path, tree: &Path) {
        let Ok(text) = fs::read_to_string(settings) else { return };
        for (section, name, value) in values(&text) {
            let folder = settings.parent().unwrap_or(tree);
            match (section.as_str(), name.as_str()) {
                ("core", "hookspath") => self.protected.push(absolute(&value, tree)),
                ("include" | "includeif", "path") => {
                    let included = absolute(&value, folder);
                    if self.included.insert(included.clone()) {
                        self.protected.push(included.clone());
                        if self.included.len() <= MAX_INCLUDES {
                            self.protect_named_in(&included, tree);
                        } else {
                            self.is_incomplete = true;
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the folders of the modules or worktrees in this folder and below, which have their own settings and hooks.
    fn add_modules(&mut self, folder: &Path, found: &mut Vec<PathBuf>, depth: usize) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if depth == 0 || found.len() >= MAX_MODULES {
                self.is_incomplete = true;
                return;
            }
            let path = entry.path();
            if path.join("HEAD").is_file() {
                self.add_modules(&path.join("modules"), found, depth - 1);
                found.push(path);
            } else {
                self.add_modules(&path, found, depth - 1);
            }
        }
    }
}

/// Resolves a path in the settings: relative to the home folder, absolute, or relative to `base`.
fn absolute(value: &str, base: &Path) -> PathBuf {
    match value.strip_prefix("~/") {
        Some(rest) => std::env::home_dir().unwrap_or_default().join(rest),
        None => base.join(value),
    }
}

/// Section, name and value of every line with a value. Section and name are in lower case, the section without its
/// quoted subsection. Malformed lines are skipped, because git would refuse the file.
fn values(text: &str) -> Vec<(String, String, String)> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in text.replace("\\\n", "").lines() {
        let mut line = line.trim();
        if let Some((head, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            let name = head.split(['"', ' ', '\t', '.']).next().unwrap_or_default();
            section = name.to_ascii_lowercase();
            line = rest.trim();
        }
        if let Some((name, value)) = line.split_once('=') {
            let value = unquoted(value.trim());
            found.push((section.clone(), name.trim().to_ascii_lowercase(), value));
        }
    }
    found
}

/// A value without quotes, escapes and comment.
fn unquoted(value: &str) -> String {
    let (mut text, mut is_quoted) = (String::new(), false);
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => is_quoted = !is_quoted,
            '\\' => text.extend(characters.next()),
            '#' | ';' if !is_quoted => break,
            other => text.push(other),
        }
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "[core]\n\thooksPath = \"a b\" # why\n[Include] path=x\n[includeIf \"gitdir:~/a.b/\"]\n  \
                    PATH = ~/y\\\nz\n[alias]\n path\n";
        let read: Vec<_> =
            values(text).into_iter().map(|(a, b, c)| format!("{a}.{b}={c}")).collect();
        assert_eq!(read, ["core.hookspath=a b", "include.path=x", "includeif.path=~/yz"]);
    }

    #[test]
    fn reached_limits_of_a_repository_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        let deepest = git.join("modules").join(["m"; MAX_DEPTH].join("/"));
        fs::create_dir_all(&deepest).unwrap();
        let is_incomplete = || Repository::of(folder.path()).is_incomplete;
        assert!(!is_incomplete());
        fs::create_dir(deepest.join("m")).unwrap();
        assert!(is_incomplete());
        fs::remove_dir_all(git.join("modules")).unwrap();
        fs::write(git.join("config"), "[include]\n\tpath = config\n").unwrap();
        assert!(!is_incomplete(), "a file that includes itself is read once");
        // The file has ever longer names.
        fs::write(git.join("config"), "[include]\n\tpath = x/../config\n").unwrap();
        fs::create_dir(git.join("x")).unwrap();
        assert!(is_incomplete());
        fs::remove_file(git.join("config")).unwrap();
        for number in 0..=MAX_MODULES {
            fs::create_dir_all(git.join(format!("modules/{number}"))).unwrap();
            fs::write(git.join(format!("modules/{number}/HEAD")), "").unwrap();
        }
        assert!(is_incomplete());
    }

    #[test]
    fn worktree_is_found_in_its_main_repository() {
        let folder = tempfile::tempdir().unwrap();
        let (own, tree) = (folder.path().join("main/.git/worktrees/w"), folder.path().join("w"));
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(tree.join("sub")).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        fs::create_dir_all(folder.path().join("main/.git/modules/m/n/hooks")).unwrap();
        fs::write(folder.path().join("main/.git/modules/m/n/HEAD"), "x").unwrap();
        let found = Repository::containing(&tree.join("sub")).unwrap();
        assert_eq!(found.folders, [own.clone(), own.join("../..")]);
        assert!(found.protected.contains(&tree.join(".git")));
        assert!(found.protected.contains(&own.join("../..").join("modules/m/n").join("hooks")));
        assert!(Repository::containing(Path::new("/proc")).is_none());
    }
}
