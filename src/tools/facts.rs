//! What preconditions and approvals look at (SPEC §2, §5). Nothing here is executed or changed.

use std::fmt;
use std::path::{Path, PathBuf};

use cap_std::fs::Metadata;

use crate::authorization::FileState;

use super::place::Last;
use super::{SpliceError, ToolError, Toolbox};

/// What a path is, links followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// There is nothing, or a link to nothing.
    Absent,
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A device, pipe or socket.
    Other,
}

impl Kind {
    pub(super) fn of(metadata: &Metadata) -> Self {
        match metadata {
            metadata if metadata.is_file() => Self::File,
            metadata if metadata.is_dir() => Self::Folder,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Absent => "absent",
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Other => "a device, pipe or socket",
        })
    }
}

impl Toolbox {
    /// What `path` is.
    ///
    /// # Errors
    /// A path that cannot be used, leads outside, or cannot be looked at.
    pub fn kind_of(&self, path: &str) -> Result<Kind, ToolError> {
        self.now().kind_of(path)
    }

    /// The canonical path that stands for `path` wherever files are compared.
    ///
    /// # Errors
    /// As [`Self::kind_of`].
    pub fn key_of(&self, path: &str) -> Result<String, ToolError> {
        Ok(self.roots.resolve(path, Last::Follow)?.key)
    }

    /// The state of the file at `path`.
    ///
    /// # Errors
    /// As [`Self::kind_of`]; and when it is no file or cannot be read.
    pub fn digest_of(&self, path: &str) -> Result<FileState, ToolError> {
        self.now().digest_of(path)
    }

    /// The `codegraph.db` in the workspace or the nearest folder above it.
    pub fn codegraph(&self) -> Option<PathBuf> {
        self.above("codegraph.db").filter(|path| path.is_file())
    }

    /// The folder, the workspace or the nearest above it, that has a `.git`.
    pub fn git_repository(&self) -> Option<PathBuf> {
        self.above(".git").and_then(|path| path.parent().map(Path::to_owned))
    }

    /// The program `splice`: where the person says it is, else on `PATH`.
    ///
    /// # Errors
    /// It is not there (E303).
    pub fn splice_program(&self) -> Result<PathBuf, ToolError> {
        let found = match &self.splice {
            Some(path) => Some(path.clone()).filter(|path| is_executable(path)),
            None => self.command_available("splice"),
        };
        found.ok_or_else(|| {
            let place = match &self.splice {
                Some(path) => format!("at {}", path.display()),
                None => self.nowhere("splice"),
            };
            SpliceError::NoProgram { place }.into()
        })
    }

    /// Where the command `name` would be found through `PATH`. A name with a slash is never found, and
    /// nothing in the workspace or in a relative folder is: a workspace could put its own program there.
    pub fn command_available(&self, name: &str) -> Option<PathBuf> {
        let paths = std::env::var_os("PATH")?;
        // Nor does what a copy is made of give programs to the copy.
        let original = self.copy.as_ref().map(|copy| copy.of.as_path());
        let folders = std::env::split_paths(&paths);
        let folders = folders.filter(|it| original.is_none_or(|of| distrust(it, of).is_none()));
        find_command(name, folders, self.workspace())
    }

    /// That the command `name` is not there, with what was passed over.
    pub fn not_available(&self, name: &str) -> String {
        format!("{name} is not {}", self.nowhere(name))
    }

    /// Where a command is not, for the sentence that says so, with what was passed over.
    pub(super) fn nowhere(&self, name: &str) -> String {
        let passed_over = self.passed_over(name).map(|it| format!(" ({it})"));
        format!("on PATH{}", passed_over.unwrap_or_default())
    }

    /// Which program of this name on `PATH` is not taken, and why; `None` when there is none.
    pub(super) fn passed_over(&self, name: &str) -> Option<String> {
        let paths = std::env::var_os("PATH")?;
        passed_over(name, std::env::split_paths(&paths), self.workspace())
    }

    /// The nearest thing with this name in the workspace or above it. Only its being there is looked
    /// at, so this is no way for a plan to reach outside.
    fn above(&self, name: &str) -> Option<PathBuf> {
        self.workspace().ancestors().map(|folder| folder.join(name)).find(|path| path.exists())
    }
}

/// Where the command `name` would be found through `PATH` from this folder.
pub(super) fn command_on_path(name: &str, folder: &Path) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    find_command(name, std::env::split_paths(&paths), folder)
}

fn find_command(
    name: &str,
    mut folders: impl Iterator<Item = PathBuf>,
    workspace: &Path,
) -> Option<PathBuf> {
    if !is_name(name) {
        return None;
    }
    folders.find_map(|folder| {
        let path = folder.join(name);
        (distrust(&folder, workspace).is_none() && is_executable(&path)).then_some(path)
    })
}

fn passed_over(
    name: &str,
    mut folders: impl Iterator<Item = PathBuf>,
    workspace: &Path,
) -> Option<String> {
    if !is_name(name) {
        return None;
    }
    folders.find_map(|folder| {
        // As the system would take it, which runs a program in the workspace.
        let path = workspace.join(&folder).join(name);
        let why = distrust(&folder, workspace).filter(|_| is_executable(&path))?;
        Some(format!("{} is passed over: its folder in PATH {why}", path.display()))
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\', '\0'])
}

/// Why nothing is taken from a folder of `PATH`.
fn distrust(folder: &Path, workspace: &Path) -> Option<&'static str> {
    // It depends on where the command is run from, which is the workspace.
    if !folder.is_absolute() {
        return Some("is relative");
    }
    let real = std::fs::canonicalize(folder);
    real.is_ok_and(|real| real.starts_with(workspace)).then_some("is in the workspace")
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.with_extension("exe").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_command_is_an_executable_file_in_an_absolute_folder_of_the_path() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tool");
        std::fs::write(&path, "").unwrap();
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        let elsewhere = Path::new("/nowhere");
        let find =
            |name: &str| find_command(name, [folder.path().to_owned()].into_iter(), elsewhere);
        assert_eq!(find("tool"), None, "not executable");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find("tool"), Some(path));
        assert_eq!(find("folder"), None);
        assert_eq!(find("./tool"), None);
        assert_eq!(find(""), None);
        let relative = || [PathBuf::from(".")].into_iter();
        assert_eq!(find_command("Cargo.toml", relative(), elsewhere), None);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_that_the_workspace_could_put_there_is_taken() {
        use std::os::unix::fs::PermissionsExt;
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        for folder in ["ws/bin", "bin"] {
            let folder = top.join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("cargo"), "").unwrap();
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(folder.join("cargo"), mode).unwrap();
        }
        std::os::unix::fs::symlink(top.join("ws/bin"), top.join("link")).unwrap();
        let ws = top.join("ws");
        let planted =
            [top.join("ws/bin"), top.join("link"), top.join("bin/../ws/bin"), "bin".into()];
        for folder in planted {
            let folders = || [folder.clone(), top.join("bin")].into_iter();
            let found = find_command("cargo", folders(), &ws);
            assert_eq!(found, Some(top.join("bin/cargo")), "{}", folder.display());
            let said = passed_over("cargo", folders(), &ws).unwrap();
            assert!(said.contains("is passed over: its folder in PATH is "), "{said}");
            assert_eq!(find_command("cargo", folders().take(1), &ws), None);
        }
        assert_eq!(passed_over("cargo", [top.join("bin")].into_iter(), &ws), None);
    }
}
