//! What preconditions and approvals look at (SPEC §2, §5). Nothing here is executed or changed.

use std::fmt;
use std::path::{Path, PathBuf};

use cap_std::fs::Metadata;

use crate::authorization::FileState;

use super::place::Last;
use super::{Access, SpliceError, ToolError, Toolbox, file};

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
        Ok(self.roots.resolve(path, Last::Follow)?.kind)
    }

    /// What the folder that `path` stands in is.
    ///
    /// # Errors
    /// As [`Self::kind_of`].
    pub fn parent_kind(&self, path: &str) -> Result<Kind, ToolError> {
        Ok(self.roots.resolve(path, Last::Follow)?.parent)
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
        let place = self.roots.resolve(path, Last::Follow)?;
        file::state(place.open(path, Access::Read)?.map(|(file, _)| file), path)
    }

    /// The canonical path of what is written at `path`, and whether it is a file with its execute bit
    /// set: writing that is dangerous (SPEC §4).
    ///
    /// # Errors
    /// As [`Self::kind_of`].
    pub fn key_and_is_program(&self, path: &str) -> Result<(String, bool), ToolError> {
        let place = self.roots.resolve(path, Last::Follow)?;
        let opened = match place.kind {
            Kind::File => place.open(path, Access::Read).ok().flatten(),
            _ => None,
        };
        let is_program = opened.is_some_and(|(_, data)| file::is_executable(&data));
        Ok((place.key, is_program))
    }

    /// The `Cargo.toml` in `path`, in the folder of the file `path`, or in the nearest parent inside
    /// the workspace; by its canonical path.
    ///
    /// # Errors
    /// As [`Self::kind_of`].
    pub fn cargo_manifest_for(&self, path: &str) -> Result<Option<String>, ToolError> {
        let place = self.roots.resolve(path, Last::Follow)?;
        Ok(place.relative.ancestors().find_map(|folder| {
            let manifest = place.root.key(&folder.join("Cargo.toml"));
            let found = self.roots.resolve(&manifest, Last::Follow).ok()?;
            (found.kind == Kind::File).then_some(found.key)
        }))
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
            let path = self.splice.as_ref().map(|path| path.display().to_string());
            SpliceError::NoProgram { path }.into()
        })
    }

    /// Where the command `name` would be found through `PATH`. A name with a slash is never found.
    pub fn command_available(&self, name: &str) -> Option<PathBuf> {
        command_on_path(name)
    }

    /// The nearest thing with this name in the workspace or above it. Only its being there is looked
    /// at, so this is no way for a plan to reach outside.
    fn above(&self, name: &str) -> Option<PathBuf> {
        self.workspace().ancestors().map(|folder| folder.join(name)).find(|path| path.exists())
    }
}

/// Where the command `name` would be found through `PATH`, whatever the workspace is.
pub(super) fn command_on_path(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    find_command(name, std::env::split_paths(&paths))
}

fn find_command(name: &str, mut folders: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    if name.is_empty() || name.contains(['/', '\\', '\0']) {
        return None;
    }
    // A relative folder in PATH depends on where the command is run from.
    folders.find_map(|folder| {
        let path = folder.join(name);
        (folder.is_absolute() && is_executable(&path)).then_some(path)
    })
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
        let find = |name: &str| find_command(name, [folder.path().to_owned()].into_iter());
        assert_eq!(find("tool"), None, "not executable");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find("tool"), Some(path));
        assert_eq!(find("folder"), None);
        assert_eq!(find("./tool"), None);
        assert_eq!(find(""), None);
        assert_eq!(find_command("Cargo.toml", [PathBuf::from(".")].into_iter()), None);
    }
}
