//! Decides which paths outside the workspace a step may be granted to write (SPEC §7.5).

use std::cell::OnceCell;
use std::path::{Component, Path, PathBuf};

use crate::risk::{self, table_folder, table_paths};
use crate::tools::Toolbox;

/// System folders in which no plan may be granted to write: their files are installed with privileges that walls
/// remove.
const SYSTEM: [&str; 14] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr/bin",
    "/usr/lib",
    "/usr/sbin",
];

/// The folders that hold home folders, also those of other users.
const HOMES: [&str; 2] = ["/home", "/Users"];

/// The folders with which a path is compared.
pub(super) struct Folders {
    workspace: PathBuf,
    home: Option<PathBuf>,
    /// The folders of this program.
    own: Vec<PathBuf>,
    /// Folders of the table, which a plan may name although they are in a sensitive place. Resolved when the first
    /// path is judged, because most plans name none.
    known: OnceCell<Vec<PathBuf>>,
}

/// A path that would be written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The path, absolute and without links; a folder that has to be created ends with `/`.
    pub(super) path: String,
    /// Whether nothing exists at the path and no folder has to be created.
    pub(super) is_missing: bool,
}

impl Folders {
    /// The folders of this user and of the tools' workspace.
    pub(super) fn new(toolbox: &Toolbox) -> Self {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        Self::of(toolbox.workspace(), home, toolbox.own_folders())
    }

    fn of(workspace: &Path, home: Option<PathBuf>, own: &[PathBuf]) -> Self {
        let home = home.map(|home| real(&home).0);
        let own = own.iter().map(|path| real(path).0).collect();
        Self { workspace: workspace.to_owned(), home, own, known: OnceCell::new() }
    }

    /// Resolves a path that a plan names; `None` if it is in the workspace, where every step may write.
    ///
    /// # Errors
    /// Why writing there cannot be granted.
    pub(super) fn resolve(&self, path: &str) -> Result<Option<Place>, String> {
        let named = self
            .expanded(path)
            .ok_or_else(|| "the system does not say where your home folder is".to_owned())?;
        let (real, exists) = real(&named);
        self.forbidden(&real)?;
        if real.starts_with(&self.workspace) {
            return Ok(None);
        }
        Ok(Some(self.place(path, real, exists)))
    }

    /// The table's paths, absolute. Paths in the workspace are omitted.
    pub(super) fn of_table(&self, paths: &[String]) -> Vec<String> {
        let mut all: Vec<String> = paths
            .iter()
            .filter_map(|path| {
                let (real, exists) = real(&self.expanded(path)?);
                let inside = real.starts_with(&self.workspace);
                let is_own =
                    self.own.iter().any(|own| real.starts_with(own) || own.starts_with(&real));
                (!inside && !is_own).then(|| self.place(path, real, exists).path)
            })
            .collect();
        all.sort();
        all.dedup();
        all
    }

    fn place(&self, named: &str, real: PathBuf, exists: bool) -> Place {
        let made = !exists && named.ends_with('/');
        let mut path = real.to_string_lossy().into_owned();
        if made {
            path.push('/');
        }
        Place { path, is_missing: !exists && !made }
    }

    /// Replaces the home folder, a variable of the table or the workspace at the start of the path.
    fn expanded(&self, path: &str) -> Option<PathBuf> {
        let below_home = |rest: &str| Some(self.home.as_ref()?.join(rest));
        if let Some((variable, rest)) = path.strip_prefix('$').and_then(|rest| rest.split_once('/'))
        {
            let set = std::env::var_os(variable).map(PathBuf::from).filter(|it| it.is_absolute());
            let default = || below_home(table_folder(variable)?.strip_prefix("~/")?);
            return Some(set.or_else(default)?.join(rest));
        }
        match path.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) => below_home(rest.trim_start_matches('/')),
            None => Some(self.workspace.join(path)),
        }
    }

    /// Fails with the reason if writing to the path cannot be granted.
    fn forbidden(&self, path: &Path) -> Result<(), String> {
        let refuse = |why: &str| Err(why.to_owned());
        if path.parent().is_none() {
            return refuse("it is the whole file system");
        }
        if let Some(home) = &self.home
            && home.starts_with(path)
        {
            return refuse(if home == path {
                "it is your home folder"
            } else {
                "your home folder is in it"
            });
        }
        let is_in_homes = HOMES.iter().any(|homes| path.parent() == Some(Path::new(homes)));
        if is_in_homes || HOMES.iter().chain(&["/root"]).any(|homes| path == Path::new(homes)) {
            return refuse("it is a home folder, or holds them");
        }
        if self.own.iter().any(|own| path.starts_with(own) || own.starts_with(path)) {
            return refuse("Countersign keeps its own files there");
        }
        if self.workspace.starts_with(path) && self.workspace != path {
            return refuse("the workspace is in it; name the folders beside the workspace");
        }
        if SYSTEM
            .iter()
            .any(|system| path.starts_with(system) || Path::new(system).starts_with(path))
        {
            return refuse("it belongs to the system");
        }
        let known = self.known.get_or_init(|| {
            table_paths().filter_map(|path| Some(real(&self.expanded(path)?).0)).collect()
        });
        if known.iter().any(|known| path.starts_with(known)) {
            return Ok(());
        }
        // A folder also counts as sensitive if a file in it would be, whatever its name.
        let text = path.to_string_lossy();
        let verdict =
            risk::of_written_path(&text).or_else(|| risk::of_written_path(&format!("{text}/x")));
        match verdict {
            Some(verdict) => Err(format!("it is a sensitive path ({})", verdict.rule)),
            None => Ok(()),
        }
    }
}

/// The path with links resolved as far as it exists, and whether all of it exists.
fn real(path: &Path) -> (PathBuf, bool) {
    let plain = plain(path);
    let mut missing = Vec::new();
    let mut there = plain.as_path();
    loop {
        match (std::fs::canonicalize(there), there.parent(), there.file_name()) {
            (Ok(real), ..) => {
                let exists = missing.is_empty();
                return (
                    missing.into_iter().rev().fold(real, |path, name| path.join(name)),
                    exists,
                );
            }
            (Err(_), Some(parent), Some(name)) => {
                missing.push(name);
                there = parent;
            }
            (Err(_), ..) => return (plain.clone(), false),
        }
    }
}

/// The path without `.` and `..`, computed from its text alone; a `..` after a link is not resolved.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bench {
        temp: tempfile::TempDir,
        folders: Folders,
    }

    fn bench() -> Bench {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for folder in ["home/work/.git", "home/.ssh", "home/.config/countersign", "data", "home/a"]
        {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let own = vec![root.join("home/.config/countersign")];
        let folders = Folders::of(&root.join("home/work"), Some(root.join("home")), &own);
        Bench { temp, folders }
    }

    impl Bench {
        fn root(&self) -> String {
            self.temp.path().canonicalize().unwrap().to_string_lossy().into_owned()
        }

        fn refused(&self, path: &str) -> String {
            self.folders.resolve(path).unwrap_err()
        }
    }

    #[test]
    fn forbidden_paths_cannot_be_granted() {
        let bench = bench();
        let root = bench.root();
        for (path, why) in [
            ("/", "whole file system"),
            ("//", "whole file system"),
            ("/tmp/../..", "whole file system"),
            ("~", "home folder"),
            ("~/", "home folder"),
            ("~/a/..", "home folder"),
            ("..", "home folder"),
            (&root, "home folder is in it"),
            ("~/.ssh", "sensitive"),
            ("~/.ssh/known_hosts", "sensitive"),
            ("~/.bashrc", "sensitive"),
            (".git", "sensitive"),
            (".git/config", "sensitive"),
            ("~/.cargo/config.toml", "sensitive"),
            ("~/.config/countersign", "own files"),
            ("~/.config/countersign/key", "own files"),
            ("~/.config", "own files"),
            ("/etc", "system"),
            ("/usr", "system"),
            ("/etc/passwd", "system"),
        ] {
            assert!(bench.refused(path).contains(why), "{path}: {}", bench.refused(path));
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_resolved_before_granting() {
        let bench = bench();
        let root = bench.root();
        for (name, to) in
            [("home/a/out", "/"), ("home/a/keys", "../.ssh"), ("home/a/data", "../../data")]
        {
            std::os::unix::fs::symlink(to, Path::new(&root).join(name)).unwrap();
        }
        assert!(bench.refused("~/a/out").contains("whole file system"));
        assert!(bench.refused("~/a/keys").contains("sensitive"));
        assert!(bench.refused("~/a/out/etc").contains("system"));
        let place = bench.folders.resolve("~/a/data/sub/").unwrap().unwrap();
        assert_eq!((place.path, place.is_missing), (format!("{root}/data/sub/"), false));
    }

    #[test]
    fn granted_paths_are_absolute() {
        let bench = bench();
        let root = bench.root();
        for (path, expected, is_missing) in [
            ("~/a", "home/a", false),
            ("~/a/", "home/a", false),
            ("../a/./", "home/a", false),
            ("~/a/new/", "home/a/new/", false),
            ("~/a/new", "home/a/new", true),
        ] {
            let place = bench.folders.resolve(path).unwrap().unwrap();
            assert_eq!(place, Place { path: format!("{root}/{expected}"), is_missing }, "{path}");
        }
        for inside in ["sub", ".", "./a/b", "~/work/x"] {
            assert_eq!(bench.folders.resolve(inside), Ok(None), "{inside}");
        }
    }

    #[test]
    fn folders_of_the_needs_table_resolve() {
        let bench = bench();
        let pip = bench.folders.resolve("~/.npm/x/").unwrap().unwrap();
        assert!(pip.path.ends_with("/home/.npm/x/"), "{pip:?}");
        let all = bench.folders.of_table(&["~/.npm/".to_owned(), "~/.npm/".to_owned()]);
        assert_eq!(all, [format!("{}/home/.npm/", bench.root())]);
        let own = bench.folders.of_table(&["~/.config/".to_owned()]);
        assert_eq!(own, Vec::<String>::new(), "own folders are never proposed");
    }
}
