//! Detects changes of `Cargo.lock` files, which cargo may write as a side effect.

use crate::run::{FileEffect, Modes};
use crate::workspace::{Access, ContentAndMode, Last, Workspace, WorkspaceError, effect};

/// The lock files that cargo may write for a project, with their contents and modes before cargo runs.
pub(crate) struct LockFiles(Vec<(String, Result<ContentAndMode, WorkspaceError>)>);

impl LockFiles {
    /// The lock files beside a manifest and in every parent folder within the workspace, because the root
    /// of the Cargo workspace may be any of them. Empty without a manifest.
    ///
    /// # Errors
    /// The path of the manifest cannot be used.
    pub(crate) fn around(
        workspace: &Workspace,
        manifest: Option<&str>,
    ) -> Result<Self, WorkspaceError> {
        let Some(manifest) = manifest else { return Ok(Self(Vec::new())) };
        let place = workspace.resolve(manifest, Last::Follow)?;
        let locks = place.relative.ancestors().skip(1).map(|folder| {
            let key = place.root.key(&folder.join("Cargo.lock"));
            let content = content(workspace, &key);
            (key, content)
        });
        Ok(Self(locks.collect()))
    }

    /// The changes of their contents since they were read, and a warning for each file that cannot be compared.
    pub(crate) fn changed(self, workspace: &Workspace) -> (Vec<FileEffect>, Vec<String>) {
        let (mut changed, mut warnings) = (Vec::new(), Vec::new());
        for (path, before) in self.0 {
            match before.and_then(|before| Ok((before, content(workspace, &path)?))) {
                Ok(((before, mode), (after, mode_after))) if before != after => {
                    let modes = Modes { before: mode, after: mode_after };
                    changed.push(effect(path, before, after, modes));
                }
                Ok(_) => {}
                Err(error) => {
                    warnings.push(format!("it is unknown whether cargo changed {path}: {error}"));
                }
            }
        }
        (changed, warnings)
    }
}

fn content(workspace: &Workspace, key: &str) -> Result<ContentAndMode, WorkspaceError> {
    let place = workspace.resolve(key, Last::Follow)?;
    workspace.unchanged().content_and_mode(&place, key, Access::Read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Root;

    #[test]
    fn unreadable_lock_files_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let workspace =
            Workspace::new(Root::open(folder.path(), true).unwrap(), Vec::new(), Vec::new());
        std::fs::create_dir(folder.path().join("member")).unwrap();
        // A link that leads outside cannot be read, before or after.
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("Cargo.lock")).unwrap();
        let locks = LockFiles::around(&workspace, Some("member/Cargo.toml")).unwrap();
        let member = folder.path().join("member/Cargo.lock");
        std::fs::write(&member, "new").unwrap();
        let (changed, warnings) = locks.changed(&workspace);
        assert_eq!(changed.len(), 1);
        assert_eq!(changed[0].path, "member/Cargo.lock");
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("Cargo.lock leads outside"), "{warnings:?}");

        std::fs::remove_file(folder.path().join("Cargo.lock")).unwrap();
        let locks = LockFiles::around(&workspace, Some("member/Cargo.toml")).unwrap();
        std::fs::remove_file(&member).unwrap();
        std::fs::create_dir(&member).unwrap();
        let (changed, warnings) = locks.changed(&workspace);
        assert!(changed.is_empty());
        assert!(warnings[0].contains("member/Cargo.lock is a folder"), "{warnings:?}");
        assert!(LockFiles::around(&workspace, Some("../Cargo.toml")).is_err());
    }
}
