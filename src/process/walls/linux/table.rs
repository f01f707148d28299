//! The access table of a walled program: one entry per path, parents before their contents.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use super::repository::Repository;
use super::{RunWalls, TEMPORARY};
use crate::authorization::StepWalls;

/// The access to a path and to everything below it. Later variants are stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    Write,
    ReadOnly,
    Hidden,
}

/// The access table of one program.
#[derive(Debug, Default)]
pub(super) struct Table {
    entries: BTreeMap<PathBuf, Access>,
    /// The protected paths that no mount can protect, because they do not exist or are links.
    pub(super) unmountable: Vec<PathBuf>,
    /// Whether some repositories, or some of their paths, are missing because a limit was reached.
    pub(super) is_incomplete: bool,
}

impl Table {
    /// The table of a program that runs in `folder`, and may also write to the paths in `write`.
    ///
    /// # Errors
    /// When a folder cannot be created, a path cannot be resolved, or a granted path contains a link by now.
    pub(super) fn of(
        run: &RunWalls,
        step: &StepWalls,
        write: &[PathBuf],
        folder: &Path,
    ) -> io::Result<Self> {
        let mut table = Self::default();
        table.add(&run.workspace, Access::Write)?;
        let granted: Vec<PathBuf> = step.write.iter().map(PathBuf::from).collect();
        granted
            .iter()
            .try_for_each(|path| check_no_link(path).map_err(|error| about(path, &error)))?;
        for path in granted.into_iter().chain(run.paths.write.iter().chain(write).cloned()) {
            // A granted folder may be one that the step itself would create.
            if !path.exists() {
                fs::create_dir_all(&path).map_err(|error| about(&path, &error))?;
            }
            // The path is used unresolved, as it was approved, so it must not contain a link by now.
            if identity(&path).is_none() {
                return Err(about(&path, &io::Error::other(LINK_APPEARED)));
            }
            table.insert(path, Access::Write);
        }
        let (nested, is_incomplete) = run.state.nested().repositories_below(&run.workspace);
        table.is_incomplete = is_incomplete;
        let nested = nested.iter().map(|tree| Repository::of(tree));
        let other_folder = Some(folder).filter(|folder| *folder != run.workspace);
        let around = [Some(run.workspace.as_path()), other_folder].into_iter().flatten();
        for repository in around.filter_map(Repository::containing).chain(nested) {
            table.add_repository(&repository, run, step)?;
        }
        if !step.writes_repository {
            table.protect(&run.workspace.join(".git"))?;
        }
        table.protect(&run.workspace.join(crate::plan::COMMANDS_FILE))?;
        for path in &run.paths.read_only {
            table.protect(path)?;
        }
        for path in &run.paths.hidden {
            table.hide(path)?;
        }
        table.pin_folders();
        // What the program cannot make by itself needs no look afterwards; somebody else may make it meanwhile.
        let unmountable = std::mem::take(&mut table.unmountable);
        let can_be_made = |path: &PathBuf| path.parent().is_none_or(|it| table.is_writable(it));
        table.unmountable = unmountable.into_iter().filter(can_be_made).collect();
        Ok(table)
    }

    /// Adds the entries of one repository.
    fn add_repository(
        &mut self,
        repository: &Repository,
        run: &RunWalls,
        step: &StepWalls,
    ) -> io::Result<()> {
        // An earlier step may have created a nested repository whose files refer to any folder. Outside the
        // workspace, it grants no access.
        let is_nested =
            repository.tree != run.workspace && repository.tree.starts_with(&run.workspace);
        self.is_incomplete |= repository.is_incomplete;
        let own = if step.writes_repository { Access::Write } else { Access::ReadOnly };
        for folder in &repository.folders {
            let is_inside = || folder.canonicalize().is_ok_and(|it| it.starts_with(&run.workspace));
            if !is_nested || is_inside() {
                accept_missing(self.add(folder, own), is_nested)?;
            }
        }
        for path in &repository.protected {
            // A nested repository cannot protect the workspace itself or a folder above it, because no step could
            // then write.
            let contains_workspace =
                || path.canonicalize().is_ok_and(|it| run.workspace.starts_with(it));
            if !is_nested || !contains_workspace() {
                accept_missing(self.protect(path), is_nested)?;
            }
        }
        Ok(())
    }

    /// Adds an entry for the path with its links resolved. A stricter entry stays.
    fn add(&mut self, path: &Path, access: Access) -> io::Result<()> {
        let path = path.canonicalize().map_err(|error| about(path, &error))?;
        self.insert(path, access);
        Ok(())
    }

    /// Adds an entry for a path without links. A stricter entry stays.
    fn insert(&mut self, path: PathBuf, access: Access) {
        let entry = self.entries.entry(path).or_insert(access);
        *entry = (*entry).max(access);
    }

    /// Makes the path read-only. If it does not exist or is a link, a change of it can only be detected afterwards.
    fn protect(&mut self, path: &Path) -> io::Result<()> {
        match path.symlink_metadata() {
            Ok(data) if data.is_symlink() => {
                // The link itself may be in a writable folder, and its target in another one.
                self.unmountable.push(path.to_owned());
                if path.exists() { self.add(path, Access::ReadOnly) } else { Ok(()) }
            }
            Ok(_) => self.add(path, Access::ReadOnly),
            Err(_) => {
                self.unmountable.push(path.to_owned());
                Ok(())
            }
        }
    }

    /// Makes the contents unreadable. A missing folder is created first if a step could create it; else it gets no
    /// entry.
    fn hide(&mut self, path: &Path) -> io::Result<()> {
        if !path.exists() {
            if !self.is_writable(path) {
                return Ok(());
            }
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
            made.map_err(|error| about(path, &error))?;
        }
        self.add(path, Access::Hidden)
    }

    /// Whether a step could write to this path.
    fn is_writable(&self, path: &Path) -> bool {
        // The nearest existing folder, with links resolved.
        let existing = path.ancestors().find_map(|path| path.canonicalize().ok());
        existing.is_some_and(|existing| self.access(&existing) == Some(Access::Write))
    }

    /// The access that the nearest entry gives to a path.
    fn access(&self, path: &Path) -> Option<Access> {
        path.ancestors().find_map(|path| self.entries.get(path)).copied()
    }

    /// Whether the path is in a hidden folder, and not in a writable folder inside that one.
    fn is_in_hidden(&self, path: &Path) -> bool {
        let above = path.ancestors().skip(1).filter_map(|above| self.entries.get(above));
        above.copied().find(|access| *access != Access::ReadOnly) == Some(Access::Hidden)
    }

    /// Adds an entry for every folder between a writable folder and a protected path in it. Such a folder becomes a
    /// mount point and cannot be renamed, so the protected path cannot be moved away with it.
    fn pin_folders(&mut self) {
        // A read-only path in a hidden folder loses its entry: an entry of its own would make it visible.
        let inside: Vec<PathBuf> = self
            .entries()
            .filter(|(path, access)| *access != Access::Write && self.is_in_hidden(path))
            .map(|(path, _)| path.to_owned())
            .collect();
        for path in inside {
            self.entries.remove(&path);
        }
        let protected = self.entries.iter().filter(|(_, access)| **access != Access::Write);
        let folders: Vec<PathBuf> = protected
            .flat_map(|(path, _)| path.ancestors().skip(1))
            .filter(|folder| {
                !self.entries.contains_key(*folder) && self.access(folder) == Some(Access::Write)
            })
            .map(Path::to_owned)
            .collect();
        self.entries.extend(folders.into_iter().map(|folder| (folder, Access::Write)));
    }

    /// All entries, parents first.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&Path, Access)> {
        self.entries.iter().map(|(path, access)| (path.as_path(), *access))
    }

    /// The paths with this access.
    pub(super) fn paths(&self, wanted: Access) -> impl Iterator<Item = &Path> {
        self.entries().filter(move |(_, access)| *access == wanted).map(|(path, _)| path)
    }

    /// The read-only paths directly in a writable folder, where a program could replace them. Other read-only paths
    /// cannot be written at any level.
    pub(super) fn read_only(&self) -> Vec<PathBuf> {
        self.paths(Access::ReadOnly)
            .filter(|path| path.parent().and_then(|it| self.access(it)) == Some(Access::Write))
            .map(Path::to_owned)
            .collect()
    }

    /// Whether the run's temporary folder can be mounted over the system's.
    pub(super) fn can_replace_temporary(&self) -> bool {
        !self.entries.contains_key(Path::new(TEMPORARY))
            && self.access(Path::new(TEMPORARY)) != Some(Access::Hidden)
    }
}

/// Ignores the error for a missing path of a nested repository: a process that an earlier step left running may have
/// removed it.
fn accept_missing(added: io::Result<()>, is_nested: bool) -> io::Result<()> {
    added.or_else(|error| {
        if is_nested && error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
    })
}

/// Checks that this absolute path still contains no link. It had none when it was granted, but an earlier step may
/// have created one.
fn check_no_link(path: &Path) -> io::Result<()> {
    let existing = path.ancestors().find(|it| it.symlink_metadata().is_ok()).unwrap_or(path);
    if existing.canonicalize()? == existing {
        return Ok(());
    }
    Err(io::Error::other(LINK_APPEARED))
}

const LINK_APPEARED: &str = "a link was created in this path after writing there was granted";

/// Device and inode number of the file or folder at this path; `None` if the path contains a link or does not exist.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let opened = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()?;
    let data = File::from(opened).metadata().ok()?;
    Some((data.dev(), data.ino()))
}

/// The error with the path that it concerns.
fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("walls around {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::super::WallPaths;
    use super::*;

    fn table(workspace: &Path, paths: WallPaths, step: &StepWalls) -> Table {
        let run = RunWalls::new(workspace.to_owned(), paths);
        Table::of(&run, step, &[], workspace).unwrap()
    }

    #[test]
    fn protected_file_pins_its_parent_folders() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::write(top.join("a/b/plan.json"), "{}").unwrap();
        let paths =
            WallPaths { read_only: vec![top.join("a/b/plan.json")], ..WallPaths::default() };
        let table = table(&top, paths, StepWalls::NONE);
        let entries: Vec<_> = table.entries().collect();
        assert_eq!(
            entries,
            [
                (top.as_path(), Access::Write),
                (&top.join("a"), Access::Write),
                (&top.join("a/b"), Access::Write),
                (&top.join("a/b/plan.json"), Access::ReadOnly),
            ]
        );
        assert_eq!(table.unmountable, [top.join(".git"), top.join("countersign.toml")]);
    }

    #[test]
    fn what_a_program_cannot_make_is_not_compared() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let paths = WallPaths { read_only: vec![top.clone()], ..WallPaths::default() };
        assert_eq!(table(&top, paths, StepWalls::NONE).unmountable, [""; 0].map(PathBuf::from));
    }

    #[test]
    fn own_folder_is_created_before_any_step() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let hidden =
            vec![top.join(".config/countersign"), PathBuf::from("/nonexistent/countersign")];
        let paths = WallPaths { hidden, ..WallPaths::default() };
        let table = table(&top, paths, StepWalls::NONE);
        let hidden: Vec<_> = table.paths(Access::Hidden).collect();
        assert_eq!(hidden, [top.join(".config/countersign")]);
        assert!(top.join(".config/countersign").is_dir());
        assert_eq!(table.access(&top.join(".config")), Some(Access::Write));
    }

    #[test]
    fn strictest_access_to_a_path_holds() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let paths = WallPaths { hidden: vec![top.join("own")], ..WallPaths::default() };
        let own = top.join("own").to_string_lossy().into_owned();
        let step = StepWalls { write: vec![own], ..StepWalls::default() };
        let table = table(&top, paths, &step);
        assert_eq!(table.access(&top.join("own/key")), Some(Access::Hidden));
    }

    #[test]
    fn the_repository_is_writable_but_not_its_settings() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join(".git/hooks")).unwrap();
        fs::create_dir_all(top.join("shared/hooks")).unwrap();
        fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(top.join(".git/config"), "[core]\n\thooksPath = shared/hooks\n").unwrap();
        for (writes, of_git) in [(true, Access::Write), (false, Access::ReadOnly)] {
            let step = StepWalls { writes_repository: writes, ..StepWalls::default() };
            let table = table(&top, WallPaths::default(), &step);
            assert_eq!(table.access(&top.join(".git/index")), Some(of_git));
            for path in [".git/config", ".git/hooks/pre-commit", "shared/hooks/x"] {
                assert_eq!(table.access(&top.join(path)), Some(Access::ReadOnly), "{path}");
            }
            assert_eq!(table.access(&top.join("shared/x")), Some(Access::Write));
        }
    }

    #[test]
    fn repositories_in_the_workspace_keep_their_settings() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for own in [".git", "a/b/.git", ".git/modules/m"] {
            fs::create_dir_all(top.join(own).join("hooks")).unwrap();
            fs::write(top.join(own).join("HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::write(top.join(own).join("config"), "[core]\n\thooksPath = shared\n").unwrap();
        }
        for folder in ["m", "a/b/shared"] {
            fs::create_dir(top.join(folder)).unwrap();
        }
        fs::write(top.join("m/.git"), "gitdir: ../.git/modules/m\n").unwrap();
        let wanted = [
            ("a/b/.git/config", Access::ReadOnly),
            ("a/b/.git/hooks/pre-commit", Access::ReadOnly),
            ("a/b/shared/pre-commit", Access::ReadOnly),
            ("m/.git", Access::ReadOnly),
            (".git/modules/m/config", Access::ReadOnly),
            (".git/modules/m/hooks/pre-commit", Access::ReadOnly),
            ("a/b/c", Access::Write),
            ("m/c", Access::Write),
        ];
        for (writes, of_git) in [(true, Access::Write), (false, Access::ReadOnly)] {
            let step = StepWalls { writes_repository: writes, ..StepWalls::default() };
            let table = table(&top, WallPaths::default(), &step);
            for (path, access) in wanted {
                assert_eq!(table.access(&top.join(path)), Some(access), "{path}");
            }
            assert_eq!(table.access(&top.join("a/b/.git/index")), Some(of_git));
            // The folder around it cannot be renamed.
            assert!(table.entries.contains_key(&top.join("a/b")));
        }
    }

    #[test]
    fn a_planted_repository_opens_nothing_outside() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let work = top.join("work");
        for folder in ["work/planted", "work/tree/own", "work/closes/.git", "elsewhere"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        fs::write(work.join("planted/.git"), "gitdir: ../../elsewhere\n").unwrap();
        fs::write(work.join("tree/.git"), "gitdir: own\n").unwrap();
        fs::write(work.join("tree/own/commondir"), "../../../elsewhere\n").unwrap();
        // Settings that a step wrote cannot make the workspace read-only.
        fs::write(work.join("closes/.git/config"), "[core]\n\thooksPath = ../..\n").unwrap();
        let step = StepWalls { writes_repository: true, ..StepWalls::default() };
        for folder in ["", "planted", "tree", "closes"] {
            let run = RunWalls::new(work.clone(), WallPaths::default());
            let table = Table::of(&run, &step, &[], &work.join(folder)).unwrap();
            assert_eq!(table.access(&top.join("elsewhere/x")), None, "{folder}");
            assert_eq!(table.access(&work.join("x")), Some(Access::Write), "{folder}");
        }
    }
}
