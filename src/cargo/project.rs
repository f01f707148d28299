//! Finds the Cargo project of a path.

use std::path::PathBuf;

use super::CargoError;
use crate::workspace::{Access, Kind, Last, Place, Projected, WorkspaceError, file};

/// Maximum size of a manifest: 1 MiB.
const MANIFEST_BYTES: u64 = 1 << 20;

/// A Cargo project of the workspace.
pub(crate) struct Project {
    /// The canonical path from which the project was looked up.
    pub(crate) path: String,
    /// The canonical path of the project's folder.
    pub(crate) folder_key: String,
    /// The absolute path of the project's folder, without links.
    pub(crate) folder: PathBuf,
    /// Whether the manifest of the project defines a Cargo workspace.
    pub(crate) is_workspace: bool,
}

/// Finds the nearest `Cargo.toml` at or above `path` (a folder or a file) inside the workspace, as the earlier steps
/// leave it.
///
/// # Errors
/// The path cannot be used or does not exist, there is no manifest (E102), or the manifest cannot be read or is larger
/// than [`MANIFEST_BYTES`].
pub(crate) fn find(at: Projected<'_>, path: &str) -> Result<Project, CargoError> {
    let place = at.workspace.resolve(path, Last::Follow)?;
    at.overlay.kind(&place).check_exists(path)?;
    for folder in place.relative.ancestors() {
        let manifest_key = place.root.key(&folder.join("Cargo.toml"));
        let Ok(manifest) = at.workspace.resolve(&manifest_key, Last::Follow) else { continue };
        if at.overlay.kind(&manifest) != Kind::File {
            continue;
        }
        let content = read_manifest(at, &manifest, &manifest_key)?;
        return Ok(Project {
            folder_key: place.root.key(folder),
            folder: place.root.path.join(folder),
            is_workspace: content.is_some_and(|content| has_workspace(&content)),
            path: place.key,
        });
    }
    Err(CargoError::NoProject { path: path.to_owned() })
}

/// The content of a manifest as the earlier steps leave it. `None` if it has disappeared meanwhile. The size is
/// limited, because parsing a manifest takes many times its size in memory.
fn read_manifest(
    at: Projected<'_>,
    place: &Place<'_>,
    manifest_key: &str,
) -> Result<Option<Vec<u8>>, WorkspaceError> {
    let access = Access::Read;
    if let Some(content) = at.overlay.get(&place.key) {
        let fits = |bytes: &&std::sync::Arc<[u8]>| bytes.len() as u64 <= MANIFEST_BYTES;
        let too_large = || WorkspaceError::TooLarge {
            path: manifest_key.to_owned(),
            limit: MANIFEST_BYTES,
            access,
        };
        return content
            .map(|bytes| Some(bytes).filter(fits).map(|it| it.to_vec()).ok_or_else(too_large))
            .transpose();
    }
    let opened = place.open(manifest_key, access)?;
    opened.map(|(file, _)| file::read_up_to(file, manifest_key, access, MANIFEST_BYTES)).transpose()
}

/// Whether a manifest defines a workspace. False for a manifest that does not parse; cargo reports its errors.
fn has_workspace(manifest: &[u8]) -> bool {
    std::str::from_utf8(manifest)
        .ok()
        .and_then(|text| text.parse::<toml::Table>().ok())
        .is_some_and(|manifest| manifest.contains_key("workspace"))
}
