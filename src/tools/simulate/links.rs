//! Rewrites the targets of links of the workspace for the copy.

use std::path::{Component, Path, PathBuf};

use crate::workspace::{Last, Workspace, WorkspaceError};

/// The target to write into the copy for the link at `path` with target `text`, both below the workspace:
/// the same place in the copy.
///
/// # Errors
/// Why the link cannot be copied.
pub(super) fn on_copy(
    workspace: &Workspace,
    path: &Path,
    text: &Path,
) -> Result<PathBuf, &'static str> {
    let written = path.to_str().ok_or("its name is not UTF-8")?;
    let place = workspace.resolve(written, Last::Follow).map_err(|error| match error {
        WorkspaceError::Outside { .. } => "it leads outside the workspace",
        _ => "it leads nowhere",
    })?;
    if !std::ptr::eq(place.root, &workspace.root) {
        return Err("it leads outside the workspace");
    }
    if stays_inside(path, text) {
        return Ok(text.to_owned());
    }
    let folders = path.components().count().saturating_sub(1);
    let relative = PathBuf::from_iter(vec![".."; folders]).join(&place.relative);
    Ok(if relative.as_os_str().is_empty() { PathBuf::from(".") } else { relative })
}

/// Whether no prefix of the target leads above the top folder, judged by names alone.
fn stays_inside(path: &Path, text: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    text.components().all(|name| match name {
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
