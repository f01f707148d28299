//! Detects changes of `Cargo.lock` files, which cargo may write as a side effect.

use crate::run::{FileEffect, Modes};
use crate::workspace::{Access, ContentAndMode, Last, Workspace, WorkspaceError, effect};

/// The lock files that cargo may write for a project, with their contents and modes before cargo runs.
pub(crate) struct LockFiles(Vec<(String, ContentAndMode)>);

impl LockFiles {
    /// The lock files beside a manifest and in every parent folder within the workspace, because the root
    /// of the Cargo workspace may be any of them. Empty without a manifest.
    pub(crate) fn around(workspace: &Workspace, manifest: Option<&str>) -> Self {
        let Some(manifest) = manifest else { return Self(Vec::new()) };
        let Ok(place) = workspace.resolve(manifest, Last::Follow) else {
            return Self(Vec::new());
        };
        let locks = place.relative.ancestors().skip(1).filter_map(|folder| {
            let key = place.root.key(&folder.join("Cargo.lock"));
            let content = content(workspace, &key).ok()?;
            Some((key, content))
        });
        Self(locks.collect())
    }

    /// The changes of their contents since they were read.
    pub(crate) fn changed(self, workspace: &Workspace) -> Vec<FileEffect> {
        let change = |(path, (before, mode)): (String, ContentAndMode)| {
            let (after, mode_after) = content(workspace, &path).ok()?;
            let modes = Modes { before: mode, after: mode_after };
            (before != after).then(|| effect(path, before, after, modes))
        };
        self.0.into_iter().filter_map(change).collect()
    }
}

fn content(workspace: &Workspace, key: &str) -> Result<ContentAndMode, WorkspaceError> {
    let place = workspace.resolve(key, Last::Follow)?;
    workspace.unchanged().content_and_mode(&place, key, Access::Read)
}
