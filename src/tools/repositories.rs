//! What git would run in the folders of commands, for the risk of these commands.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::risk::RepositorySettings;
use crate::workspace::program_named_by_repository;

/// Reads the repositories around the folders of commands, each folder once.
#[derive(Debug)]
pub(super) struct RepositoryReader {
    workspace: PathBuf,
    read: Mutex<BTreeMap<PathBuf, Option<String>>>,
}

impl RepositoryReader {
    /// For the commands of this workspace.
    pub(super) fn of(workspace: PathBuf) -> Self {
        Self { workspace, read: Mutex::default() }
    }
}

impl RepositorySettings for RepositoryReader {
    fn named_program(&self, cwd: Option<&str>, folder: &str) -> Option<String> {
        // Joining an absolute path gives that path.
        let cwd = cwd.map_or_else(|| self.workspace.clone(), |cwd| self.workspace.join(cwd));
        let path = match folder.strip_prefix('~') {
            None => cwd.join(folder),
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                std::env::home_dir()?.join(rest.trim_start_matches('/'))
            }
            Some(_) => return Some(format!("{folder} is not looked up")),
        };
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.entry(path).or_insert_with_key(|path| program_named_by_repository(path)).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_relative_to_that_of_the_command() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join("a/b/.git");
        std::fs::create_dir_all(&git).unwrap();
        std::fs::write(git.join("config"), "[core]\n\tfsmonitor = ./x\n").unwrap();
        let reader = RepositoryReader::of(folder.path().to_owned());
        let absolute = folder.path().join("a/b");
        for (cwd, below) in [
            (Some("a"), "b"),
            (Some("a/b"), ""),
            (None, "a/./b/../b"),
            (Some(absolute.to_str().unwrap()), ""),
            (None, absolute.to_str().unwrap()),
        ] {
            let named = reader.named_program(cwd, below);
            assert!(named.unwrap().starts_with("core.fsmonitor"), "{cwd:?} {below}");
        }
        for (cwd, below) in [(None, ""), (Some("a"), ""), (None, "a"), (None, "/")] {
            assert_eq!(reader.named_program(cwd, below), None, "{cwd:?} {below}");
        }
        assert!(reader.named_program(None, "~somebody/x").is_some());
    }
}
