//! From a plan's path to the Cargo project that it belongs to.

use std::path::PathBuf;

use super::Scope;
use crate::tools::place::{Last, Place};
use crate::tools::{Access, Kind, Overlay, ToolError, Toolbox, file};

/// Largest manifest that is read, in bytes: 1 MiB.
const MANIFEST_BYTES: u64 = 1 << 20;

/// A Cargo project of the workspace.
pub(in crate::tools) struct Project {
    /// The canonical path that it was found from.
    pub(in crate::tools) path: String,
    /// Its folder, by its canonical path.
    pub(in crate::tools) key: String,
    /// Its folder, absolute and without links.
    pub(in crate::tools) folder: PathBuf,
    /// Whether its manifest is that of a Cargo workspace.
    pub(in crate::tools) is_workspace: bool,
}

impl Project {
    /// The root of a Cargo workspace stands for all of it, any other folder for its package.
    pub(super) fn scope(&self) -> Scope {
        if self.is_workspace { Scope::Workspace } else { Scope::Package }
    }
}

/// The project whose `Cargo.toml` is in `path`, in the folder of the file `path`, or in the nearest
/// parent inside the workspace; after the earlier steps.
///
/// # Errors
/// A path that cannot be used, or where there is nothing; E102 without a manifest.
pub(in crate::tools) fn find(
    toolbox: &Toolbox,
    path: &str,
    overlay: &Overlay,
) -> Result<Project, ToolError> {
    let roots = &toolbox.roots;
    let place = roots.resolve(path, Last::Follow)?;
    match overlay.kind(&place) {
        Kind::File | Kind::Folder => {}
        Kind::Absent => return Err(ToolError::NotFound { path: path.to_owned() }),
        kind => {
            return Err(ToolError::NotAFile { path: path.to_owned(), kind, access: Access::Read });
        }
    }
    for folder in place.relative.ancestors() {
        let text = place.root.key(&folder.join("Cargo.toml"));
        let Ok(manifest) = roots.resolve(&text, Last::Follow) else { continue };
        if overlay.kind(&manifest) != Kind::File {
            continue;
        }
        let content = manifest_of(&manifest, overlay, &text)?;
        return Ok(Project {
            key: place.root.key(folder),
            folder: place.root.path.join(folder),
            is_workspace: content.is_some_and(|content| has_workspace(&content)),
            path: place.key,
        });
    }
    Err(ToolError::NoCargoProject { path: path.to_owned() })
}

/// The content of a manifest, which is read into memory many times its size.
fn manifest_of(
    place: &Place<'_>,
    overlay: &Overlay,
    text: &str,
) -> Result<Option<Vec<u8>>, ToolError> {
    let access = Access::Read;
    if let Some(content) = overlay.get(&place.key) {
        let fits = |bytes: &&std::sync::Arc<[u8]>| bytes.len() as u64 <= MANIFEST_BYTES;
        let too_large =
            || ToolError::TooLarge { path: text.to_owned(), limit: MANIFEST_BYTES, access };
        return content
            .map(|bytes| Some(bytes).filter(fits).map(|it| it.to_vec()).ok_or_else(too_large))
            .transpose();
    }
    let opened = place.open(text, access)?;
    opened.map(|(file, _)| file::read_up_to(file, text, access, MANIFEST_BYTES)).transpose()
}

/// Whether a manifest is that of a workspace. A faulty one is not: cargo says what is wrong with it.
fn has_workspace(manifest: &[u8]) -> bool {
    std::str::from_utf8(manifest)
        .ok()
        .and_then(|text| text.parse::<toml::Table>().ok())
        .is_some_and(|manifest| manifest.contains_key("workspace"))
}
