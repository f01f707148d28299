//! The `PATH` of a child process, without folders in which a workspace could have its own programs.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::Profile;

/// `PATH` without relative folders and without folders in a workspace, because a workspace could have its own
/// `ls` there. `None` when no folder is left: an empty `PATH` means the working directory.
pub(super) fn trusted_path(paths: &OsStr, workspaces: &[&Path]) -> Option<OsString> {
    let folders = std::env::split_paths(paths)
        .filter(|folder| folder.is_absolute() && !is_in(folder, workspaces));
    std::env::join_paths(folders).ok().filter(|paths| !paths.is_empty())
}

/// The absolute folders of `PATH` that a program of this profile does not get, because they are in its workspace.
pub(crate) fn excluded_folders(profile: Profile<'_>) -> Vec<PathBuf> {
    let workspaces = workspaces(profile);
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&paths)
        .filter(|folder| folder.is_absolute() && is_in(folder, &workspaces))
        .collect();
    folders.dedup();
    folders
}

/// The workspace of a step or a build, and its original if it is a copy; empty for all other profiles.
pub(super) fn workspaces(profile: Profile<'_>) -> Vec<&Path> {
    match profile {
        Profile::Step(walls) | Profile::Build(walls) => walls.run.workspaces().collect(),
        Profile::Planner(_) | Profile::Agent(_) | Profile::Client | Profile::Detached => Vec::new(),
    }
}

/// Whether a folder is in one of these workspaces, by its name or after resolving links.
fn is_in(folder: &Path, workspaces: &[&Path]) -> bool {
    let real = std::fs::canonicalize(folder);
    let contains = |workspace: &&Path| {
        folder.starts_with(workspace) || real.as_ref().is_ok_and(|real| real.starts_with(workspace))
    };
    workspaces.iter().any(contains)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn relative_and_workspace_folders_are_removed() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let workspace = base.join("space");
        std::fs::create_dir_all(workspace.join("bin")).unwrap();
        std::fs::create_dir(base.join("spaceship")).unwrap();
        std::os::unix::fs::symlink(workspace.join("bin"), base.join("link")).unwrap();
        let at = |name: &str| base.join(name).display().to_string();
        let paths = [
            ".".to_owned(),
            "bin".to_owned(),
            at("space/bin"),
            at("space/not/there"),
            at("spaceship"),
            at("link"),
            "/usr/bin".to_owned(),
        ];
        let paths = paths.join(":");
        let left = |workspaces: &[&Path]| trusted_path(OsStr::new(&paths), workspaces);
        assert_eq!(left(&[&workspace]), Some(format!("{}:/usr/bin", at("spaceship")).into()));
        assert!(left(&[]).unwrap().to_str().unwrap().contains("link"));
        assert_eq!(trusted_path(OsStr::new(&at("link")), &[&workspace]), None);
    }
}
