//! Which earlier step of a plan may make a precondition true that does not hold yet (SPEC §5).

use std::collections::BTreeMap;

use crate::plan::Precondition;

/// The first steps that write each file and that write below each folder, by canonical path.
pub(super) struct FirstWrites<'w> {
    files: &'w BTreeMap<String, usize>,
    folders: BTreeMap<&'w str, usize>,
}

impl<'w> FirstWrites<'w> {
    /// From the first step that writes each file.
    pub(super) fn new(files: &'w BTreeMap<String, usize>) -> Self {
        let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
        for (path, step) in files {
            for folder in folders_of(path) {
                let first = folders.entry(folder).or_insert(*step);
                *first = (*first).min(*step);
            }
        }
        Self { files, folders }
    }

    /// The first step that writes the file with this path.
    pub(super) fn of_file(&self, key: &str) -> Option<usize> {
        self.files.get(key).copied()
    }

    /// The first step that may make the precondition true, and what it does; `key` is the path that the precondition is
    /// about, if it is about one.
    pub(super) fn that_may_help(
        &self,
        precondition: &Precondition,
        key: Option<&str>,
    ) -> Option<(usize, &'static str)> {
        match (precondition, key) {
            (Precondition::RootExists, Some(key)) => {
                Some((*self.folders.get(key)?, "writes below it first"))
            }
            (Precondition::ParentExists, Some(key)) => {
                let (parent, _) = key.rsplit_once('/')?;
                Some((*self.folders.get(parent)?, "writes below that folder first"))
            }
            (Precondition::CargoWorkspace, Some(key)) => {
                let folders = std::iter::once(key).chain(folders_of(key));
                let steps = folders.filter_map(|it| self.of_file(&format!("{it}/Cargo.toml")));
                Some((steps.min()?, "writes a Cargo.toml first"))
            }
            // Any file of the workspace may define it.
            (Precondition::SymbolExists { .. }, None) => {
                Some((*self.files.values().min()?, "writes files first"))
            }
            _ => None,
        }
    }
}

/// The folders above a path, the nearest first.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(path.rsplit_once('/'), |(folder, _)| folder.rsplit_once('/'))
        .map(|(folder, _)| folder)
        .filter(|folder| !folder.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(paths: &[(&str, usize)]) -> BTreeMap<String, usize> {
        paths.iter().map(|(path, step)| ((*path).to_owned(), *step)).collect()
    }

    #[test]
    fn the_first_step_that_writes_below_a_folder_makes_it() {
        let files = written(&[("/w/gen/a/f", 5), ("/w/gen/b/g", 2), ("/w/other", 0)]);
        let writes = FirstWrites::new(&files);
        let root = |key| writes.that_may_help(&Precondition::RootExists, Some(key)).map(|it| it.0);
        assert_eq!([root("/w/gen"), root("/w/gen/a"), root("/w")], [Some(2), Some(5), Some(0)]);
        // A file makes no folder of its own name, and no folder that only begins with the same letters.
        assert_eq!([root("/w/other"), root("/w/ge"), root("/w/none")], [None, None, None]);
        let parent =
            |key| writes.that_may_help(&Precondition::ParentExists, Some(key)).map(|it| it.0);
        assert_eq!([parent("/w/gen/a/new"), parent("/w/x/new")], [Some(5), None]);
    }

    #[test]
    fn a_manifest_above_makes_a_cargo_workspace() {
        let files = written(&[("/w/c/Cargo.toml", 3), ("/w/d/x.rs", 0)]);
        let writes = FirstWrites::new(&files);
        let of = |key| writes.that_may_help(&Precondition::CargoWorkspace, Some(key));
        assert_eq!(of("/w/c/src/lib.rs"), Some((3, "writes a Cargo.toml first")));
        assert_eq!(of("/w/c"), Some((3, "writes a Cargo.toml first")));
        assert_eq!(of("/w/d/x.rs"), None);
    }

    #[test]
    fn any_file_may_define_a_symbol() {
        let files = written(&[("/w/a.rs", 4), ("/w/b.rs", 1)]);
        let anywhere = Precondition::SymbolExists { named: None };
        let help = |files: &BTreeMap<String, usize>, key| {
            FirstWrites::new(files).that_may_help(&anywhere, key).map(|it| it.0)
        };
        assert_eq!(help(&files, None), Some(1));
        assert_eq!(help(&files, Some("/w/c.rs")), None);
        assert_eq!(help(&written(&[]), None), None);
    }
}
