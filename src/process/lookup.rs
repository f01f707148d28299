//! Looks programs up in `PATH`, but never in the workspace, where a plan could have put a program.

use std::path::{Path, PathBuf};

/// Looks up programs for one workspace.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    /// The folder from which programs run, absolute and without symbolic links.
    pub(crate) workspace: PathBuf,
    /// When `workspace` is a copy, the workspace from which it was copied. Programs are not taken from that
    /// folder either.
    pub(crate) original: Option<PathBuf>,
}

impl Programs {
    /// The path of the command `name` according to `PATH`. A name with a slash is never found, and neither is
    /// a program in the workspace or in a relative folder.
    pub(crate) fn find(&self, name: &str) -> Option<PathBuf> {
        let paths = std::env::var_os("PATH")?;
        let original = self.original.as_deref();
        let folders = std::env::split_paths(&paths);
        let folders = folders.filter(|folder| {
            original.is_none_or(|original| untrusted_reason(folder, original).is_none())
        });
        find_command(name, folders, &self.workspace)
    }

    /// Where a command was looked up, for a message that it was not found: with the program that was ignored, if
    /// any.
    pub(crate) fn where_searched(&self, name: &str) -> String {
        let ignored = self.ignored_program(name).map(|it| format!(" ({it})"));
        format!("on PATH{}", ignored.unwrap_or_default())
    }

    /// A message about a program of this name that is in `PATH` but ignored, with the reason; `None` when there
    /// is no such program.
    pub(crate) fn ignored_program(&self, name: &str) -> Option<String> {
        let paths = std::env::var_os("PATH")?;
        ignored_program(name, std::env::split_paths(&paths), &self.workspace)
    }
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
        (untrusted_reason(&folder, workspace).is_none() && is_executable(&path)).then_some(path)
    })
}

fn ignored_program(
    name: &str,
    mut folders: impl Iterator<Item = PathBuf>,
    workspace: &Path,
) -> Option<String> {
    if !is_name(name) {
        return None;
    }
    folders.find_map(|folder| {
        // The operating system would resolve a relative folder from the workspace, where the program runs.
        let path = workspace.join(&folder).join(name);
        let why = untrusted_reason(&folder, workspace).filter(|_| is_executable(&path))?;
        Some(format!("{} is passed over: its folder in PATH {why}", path.display()))
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\', '\0'])
}

/// Why no program from this folder of `PATH` is used, as the end of a sentence; `None` for a trusted folder.
fn untrusted_reason(folder: &Path, workspace: &Path) -> Option<&'static str> {
    // A relative folder depends on the working directory, which is the workspace.
    if !folder.is_absolute() {
        return Some("is relative");
    }
    let real = std::fs::canonicalize(folder);
    real.is_ok_and(|real| real.starts_with(workspace)).then_some("is in the workspace")
}

pub(crate) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn only_executables_in_absolute_folders_are_found() {
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
    fn programs_of_the_workspace_are_passed_over() {
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
            let ignored = ignored_program("cargo", folders(), &ws).unwrap();
            assert!(ignored.contains("is passed over: its folder in PATH is "), "{ignored}");
            assert_eq!(find_command("cargo", folders().take(1), &ws), None);
        }
        assert_eq!(ignored_program("cargo", [top.join("bin")].into_iter(), &ws), None);
    }
}
