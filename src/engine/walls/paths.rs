//! Decides which paths outside the workspace a step may be granted to write (SPEC §7.5).

use std::cell::OnceCell;
use std::path::{Component, Path, PathBuf};

use crate::plan::Severity;
use crate::risk;
use crate::risk::{table_folder, table_paths};
use crate::tools::Toolbox;

/// System folders in which no write access can be granted: their files are installed with privileges that walls remove.
const SYSTEM: [&str; 20] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/libx32",
    "/usr/sbin",
    "/usr/share",
];

/// The folders that contain the home folders of all users.
const HOMES: [&str; 2] = ["/home", "/Users"];

/// The folders that decide whether a path can be granted.
pub(in crate::engine) struct Folders {
    workspace: PathBuf,
    home: Option<PathBuf>,
    /// The folders of this program.
    own: Vec<PathBuf>,
    /// The folders that the table of needs names; they may be granted although they are sensitive. Resolved when the
    /// first path is checked, because most plans name no path.
    table_folders: OnceCell<Vec<PathBuf>>,
}

/// Where a path is that a plan or a setting names.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::engine) enum Location {
    /// The workspace itself.
    Workspace,
    /// A path in the workspace.
    InWorkspace,
    /// A path outside the workspace, which can be granted.
    Outside(GrantPath),
}

impl Location {
    /// The path to grant; `None` in the workspace, where every step may write.
    pub(in crate::engine) fn outside(self) -> Option<GrantPath> {
        match self {
            Self::Workspace | Self::InWorkspace => None,
            Self::Outside(path) => Some(path),
        }
    }
}

/// A resolved path for a grant.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::engine) struct GrantPath {
    /// The path, absolute and without links. A missing folder that was named with a `/` at its end keeps the `/`.
    pub(in crate::engine) path: String,
    /// Whether nothing exists at the path, and it was not named as a folder with a `/` at its end.
    pub(in crate::engine) is_missing: bool,
}

impl Folders {
    /// The folders of this user and of the tools' workspace.
    pub(in crate::engine) fn new(toolbox: &Toolbox) -> Self {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        Self::of(toolbox.workspace(), home, toolbox.own_folders())
    }

    fn of(workspace: &Path, home: Option<PathBuf>, own: &[PathBuf]) -> Self {
        let home = home.map(|home| real(&home).0);
        let own = own.iter().map(|path| real(path).0).collect();
        Self { workspace: workspace.to_owned(), home, own, table_folders: OnceCell::new() }
    }

    /// Resolves a path that a plan or a setting names.
    ///
    /// # Errors
    /// Why writing to the path cannot be granted.
    pub(in crate::engine) fn resolve(&self, path: &str) -> Result<Location, String> {
        let (real, exists) = real(&self.expanded(path)?);
        self.check_grantable(&real)?;
        Ok(if real == self.workspace {
            Location::Workspace
        } else if real.starts_with(&self.workspace) {
            Location::InWorkspace
        } else {
            Location::Outside(grant_path(path, real, exists))
        })
    }

    /// Resolves the folder of an agent. It is sensitive, because the agent's settings are in it, which the caller protects.
    ///
    /// # Errors
    /// Why writing to the folder cannot be granted.
    pub(in crate::engine) fn resolve_agent_folder(&self, folder: &Path) -> Result<PathBuf, String> {
        let (real, _) = real(folder);
        self.check_place(&real)?;
        Ok(real)
    }

    /// Adds the resolved path to `granted`, unless every step may write it. Returns a warning if nothing exists there,
    /// with the message `missing`, or an error if it cannot be granted. `shown` is the path in the message of the error.
    pub(in crate::engine) fn add_grant(
        &self,
        path: &str,
        shown: &str,
        missing: impl FnOnce() -> String,
        granted: &mut Vec<String>,
    ) -> Option<(Severity, String)> {
        let resolved = match self.resolve(path) {
            Ok(location) => location.outside()?,
            Err(why) => {
                return Some((Severity::Error, format!("{shown} cannot be granted: {why}")));
            }
        };
        if !granted.contains(&resolved.path) {
            granted.push(resolved.path);
        }
        resolved.is_missing.then(|| (Severity::Warning, missing()))
    }

    /// These paths of the table, absolute, sorted and without duplicates. Paths in the workspace, and those that are in
    /// or contain a folder of this program, are omitted.
    pub(in crate::engine) fn resolve_table_paths(&self, paths: &[String]) -> Vec<String> {
        let mut all: Vec<String> = paths
            .iter()
            .filter_map(|path| {
                let (real, exists) = real(&self.expanded(path).ok()?);
                let inside = real.starts_with(&self.workspace);
                let is_own =
                    self.own.iter().any(|own| real.starts_with(own) || own.starts_with(&real));
                (!inside && !is_own).then(|| grant_path(path, real, exists).path)
            })
            .collect();
        all.sort();
        all.dedup();
        all
    }

    /// Replaces `~` or a variable at the start of the path; any other path is relative to the workspace.
    ///
    /// # Errors
    /// The home folder or the variable is unknown; as a reason.
    fn expanded(&self, path: &str) -> Result<PathBuf, String> {
        let in_home = |rest: &str| {
            let home = self.home.as_ref();
            let home = home.ok_or("the system does not say where your home folder is")?;
            Ok(home.join(rest))
        };
        if let Some(named) = path.strip_prefix('$') {
            let (variable, rest) = named.split_once('/').unwrap_or((named, ""));
            let set = std::env::var_os(variable).map(PathBuf::from).filter(|it| it.is_absolute());
            let default = table_folder(variable).and_then(|folder| folder.strip_prefix("~/"));
            return match (set, default) {
                (Some(folder), _) => Ok(folder.join(rest)),
                (None, Some(folder)) => Ok(in_home(folder)?.join(rest)),
                (None, None) => {
                    Err(format!("the variable {variable} is not set to an absolute path"))
                }
            };
        }
        match path.strip_prefix('~') {
            Some(rest) => in_home(rest.trim_start_matches('/')),
            None => Ok(self.workspace.join(path)),
        }
    }

    /// Fails with the reason if writing to the path cannot be granted.
    fn check_grantable(&self, path: &Path) -> Result<(), String> {
        self.check_place(path)?;
        let table_folders = self.table_folders.get_or_init(|| {
            table_paths().filter_map(|path| Some(real(&self.expanded(path).ok()?).0)).collect()
        });
        if table_folders.iter().any(|folder| path.starts_with(folder)) {
            return Ok(());
        }
        // A folder is also sensitive if a file of any name in it would be.
        let text = path.to_string_lossy();
        let verdict =
            risk::of_written_path(&text).or_else(|| risk::of_written_path(&format!("{text}/x")));
        match verdict {
            Some(verdict) => Err(format!("it is a sensitive path ({})", verdict.rule)),
            None => Ok(()),
        }
    }

    /// Fails with the reason if the path is not one beside the workspace that belongs to this user alone.
    fn check_place(&self, path: &Path) -> Result<(), String> {
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
        Ok(())
    }
}

/// The grant for a path that was named like this and resolved to `real`.
fn grant_path(named: &str, real: PathBuf, exists: bool) -> GrantPath {
    let is_new_folder = !exists && named.ends_with('/');
    let mut path = real.to_string_lossy().into_owned();
    if is_new_folder {
        path.push('/');
    }
    GrantPath { path, is_missing: !exists && !is_new_folder }
}

/// The path with links resolved as far as it exists, and whether all of it exists.
fn real(path: &Path) -> (PathBuf, bool) {
    let normalized = normalized(path);
    let mut missing = Vec::new();
    let mut existing = normalized.as_path();
    loop {
        match (std::fs::canonicalize(existing), existing.parent(), existing.file_name()) {
            (Ok(real), ..) => {
                let exists = missing.is_empty();
                return (
                    missing.into_iter().rev().fold(real, |path, name| path.join(name)),
                    exists,
                );
            }
            (Err(_), Some(parent), Some(name)) => {
                missing.push(name);
                existing = parent;
            }
            (Err(_), ..) => return (normalized.clone(), false),
        }
    }
}

/// The path without `.` and `..`, computed from its text alone; a `..` after a link is not resolved.
fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normalized.pop();
            }
            Component::CurDir => {}
            other => normalized.push(other),
        }
    }
    normalized
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixture {
        temp: tempfile::TempDir,
        folders: Folders,
    }

    fn fixture() -> Fixture {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for folder in ["home/work/.git", "home/.ssh", "home/.config/countersign", "data", "home/a"]
        {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let own = vec![root.join("home/.config/countersign")];
        let folders = Folders::of(&root.join("home/work"), Some(root.join("home")), &own);
        Fixture { temp, folders }
    }

    impl Fixture {
        fn root(&self) -> String {
            self.temp.path().canonicalize().unwrap().to_string_lossy().into_owned()
        }

        fn refused(&self, path: &str) -> String {
            self.folders.resolve(path).unwrap_err()
        }
    }

    #[test]
    fn forbidden_paths_cannot_be_granted() {
        let fixture = fixture();
        let root = fixture.root();
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
            ("/usr/lib64/x", "system"),
            ("$COUNTERSIGN_TEST_UNSET/x", "variable COUNTERSIGN_TEST_UNSET is not set"),
            ("$COUNTERSIGN_TEST_UNSET", "variable COUNTERSIGN_TEST_UNSET is not set"),
        ] {
            assert!(fixture.refused(path).contains(why), "{path}: {}", fixture.refused(path));
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_resolved_before_granting() {
        let fixture = fixture();
        let root = fixture.root();
        for (name, to) in
            [("home/a/out", "/"), ("home/a/keys", "../.ssh"), ("home/a/data", "../../data")]
        {
            std::os::unix::fs::symlink(to, Path::new(&root).join(name)).unwrap();
        }
        assert!(fixture.refused("~/a/out").contains("whole file system"));
        assert!(fixture.refused("~/a/keys").contains("sensitive"));
        assert!(fixture.refused("~/a/out/etc").contains("system"));
        let resolved = fixture.folders.resolve("~/a/data/sub/").unwrap().outside().unwrap();
        assert_eq!((resolved.path, resolved.is_missing), (format!("{root}/data/sub/"), false));
    }

    #[test]
    fn granted_paths_are_absolute() {
        let fixture = fixture();
        let root = fixture.root();
        for (path, expected, is_missing) in [
            ("~/a", "home/a", false),
            ("~/a/", "home/a", false),
            ("../a/./", "home/a", false),
            ("~/a/new/", "home/a/new/", false),
            ("~/a/new", "home/a/new", true),
        ] {
            let resolved = fixture.folders.resolve(path).unwrap().outside().unwrap();
            assert_eq!(
                resolved,
                GrantPath { path: format!("{root}/{expected}"), is_missing },
                "{path}"
            );
        }
        for inside in ["sub", "./a/b", "~/work/x"] {
            assert_eq!(fixture.folders.resolve(inside), Ok(Location::InWorkspace), "{inside}");
        }
        for workspace in [".", "~/work/", "sub/.."] {
            assert_eq!(fixture.folders.resolve(workspace), Ok(Location::Workspace), "{workspace}");
        }
    }

    #[test]
    fn folders_of_the_needs_table_resolve() {
        let fixture = fixture();
        let npm = fixture.folders.resolve("~/.npm/x/").unwrap().outside().unwrap();
        assert!(npm.path.ends_with("/home/.npm/x/"), "{npm:?}");
        let all =
            fixture.folders.resolve_table_paths(&["~/.npm/".to_owned(), "~/.npm/".to_owned()]);
        assert_eq!(all, [format!("{}/home/.npm/", fixture.root())]);
        let own = fixture.folders.resolve_table_paths(&["~/.config/".to_owned()]);
        assert_eq!(own, Vec::<String>::new(), "own folders are never proposed");
    }
}
