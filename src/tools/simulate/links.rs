//! Computes the targets of links on the copy.

use std::path::{Component, Path, PathBuf};

use crate::workspace::{Last, Workspace, WorkspaceError};

/// The target on the copy for the link `path` with this target in the workspace: the same file on the copy. `path` is
/// relative to the workspace.
///
/// # Errors
/// Why the link cannot be copied.
pub(super) fn target_on_copy(
    workspace: &Workspace,
    path: &Path,
    target: &Path,
) -> Result<PathBuf, &'static str> {
    let path_text = path.to_str().ok_or("its name is not UTF-8")?;
    let place = workspace.resolve(path_text, Last::Follow).map_err(|error| match error {
        WorkspaceError::Outside { .. } => "it leads outside the workspace",
        _ => "it leads nowhere",
    })?;
    if !std::ptr::eq(place.root, &workspace.root) {
        return Err("it leads outside the workspace");
    }
    if stays_inside(path, target) {
        return Ok(target.to_owned());
    }
    let folders = path.components().count().saturating_sub(1);
    let relative = PathBuf::from_iter(vec![".."; folders]).join(&place.relative);
    Ok(if relative.as_os_str().is_empty() { PathBuf::from(".") } else { relative })
}

/// Whether the target, judged by its names alone, never leads above the workspace folder.
fn stays_inside(path: &Path, target: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    target.components().all(|name| match name {
        Component::Normal(_) => {
            depth += 1;
            true
        }
        Component::CurDir => true,
        Component::ParentDir if depth > 0 => {
            depth -= 1;
            true
        }
        _ => false,
    })
}
