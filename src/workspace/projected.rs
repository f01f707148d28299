//! The workspace as the earlier steps of a plan would leave it, for approvals, previews and preconditions of
//! a later step (SPEC §2, §5). This module executes and changes nothing.

use std::sync::Arc;

use super::{
    Access, Existing, Kind, Last, Overlay, Place, Workspace, WorkspaceError, diff, file, write,
};
use crate::authorization::FileState;
use crate::run::{FileChange, FileMode};

/// A workspace after the steps in an overlay; an empty overlay means the present state.
#[derive(Clone, Copy)]
pub struct Projected<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) overlay: &'a Overlay,
}

/// A write that would succeed: its target and the content there after the earlier steps.
pub(crate) struct Prepared<'a> {
    pub(crate) place: Place<'a>,
    pub(crate) before: Option<Arc<[u8]>>,
    /// The mode of the file; `None` if the file is absent or an earlier step writes it.
    pub(crate) mode: Option<FileMode>,
    /// Whether the folder of the file exists after the earlier steps.
    pub(crate) has_folder: bool,
}

/// The content and the mode of a file. An absent file has neither, and a file that an earlier step writes has
/// no mode.
pub(crate) type ContentAndMode = (Option<Arc<[u8]>>, Option<FileMode>);

impl Workspace {
    /// The workspace as the steps in `overlay` would leave it.
    pub(crate) fn projected<'a>(&'a self, overlay: &'a Overlay) -> Projected<'a> {
        Projected { workspace: self, overlay }
    }

    /// The workspace in its present state.
    pub fn unchanged(&self) -> Projected<'_> {
        self.projected(Overlay::empty())
    }
}

impl<'a> Projected<'a> {
    /// Resolves `path`, with its kind and that of its parent after the earlier steps.
    pub(crate) fn place(self, path: &str) -> Result<Place<'a>, WorkspaceError> {
        let mut place = self.workspace.resolve(path, Last::Follow)?;
        place.kind = self.overlay.kind(&place);
        if let Some((folder, _)) = place.key.rsplit_once('/') {
            place.parent = match self.overlay.get(folder) {
                Some(Some(_)) => Kind::File,
                _ if place.parent == Kind::Absent && self.overlay.has_below(folder) => Kind::Folder,
                _ => place.parent,
            };
        }
        Ok(place)
    }

    /// The kind of the file at `path`.
    ///
    /// # Errors
    /// The path is not usable, leads outside, or cannot be examined.
    pub fn kind_of(self, path: &str) -> Result<Kind, WorkspaceError> {
        Ok(self.place(path)?.kind)
    }

    /// The kind of the file at the parent of `path`.
    ///
    /// # Errors
    /// As [`Self::kind_of`].
    pub fn parent_kind(self, path: &str) -> Result<Kind, WorkspaceError> {
        Ok(self.place(path)?.parent)
    }

    /// The state of the file at `path`.
    ///
    /// # Errors
    /// As [`Self::kind_of`]; also if it is not a file or cannot be read.
    pub fn digest_of(self, path: &str) -> Result<FileState, WorkspaceError> {
        let place = self.place(path)?;
        match self.overlay.get(&place.key) {
            Some(content) => Ok(file::state_of_bytes(content.map(|bytes| &**bytes))),
            None => file::state(place.open(path, Access::Read)?.map(|(file, _)| file), path),
        }
    }

    /// As [`Self::digest_of`], and subtracts the size of the file from `remaining`, the number of bytes that may
    /// still be read.
    ///
    /// # Errors
    /// As [`Self::digest_of`]; also if the file is larger than `remaining`.
    pub fn digest_within(
        self,
        path: &str,
        remaining: &mut u64,
    ) -> Result<FileState, WorkspaceError> {
        let place = self.place(path)?;
        let bytes = match self.overlay.get(&place.key) {
            Some(content) => content.map_or(0, |bytes| bytes.len() as u64),
            None => place.open(path, Access::Read)?.map_or(0, |(_, data)| data.len()),
        };
        // A file over the limit for one file fails with its own error below.
        if bytes <= file::FILE_BYTES {
            *remaining = remaining
                .checked_sub(bytes)
                .ok_or_else(|| WorkspaceError::TooMuchInput { path: path.to_owned() })?;
        }
        self.digest_of(path)
    }

    /// The canonical path of the nearest `Cargo.toml` at or above `path` (a folder or a file) inside its root;
    /// `None` if there is none.
    ///
    /// # Errors
    /// As [`Self::kind_of`].
    pub fn cargo_manifest_for(self, path: &str) -> Result<Option<String>, WorkspaceError> {
        let place = self.place(path)?;
        Ok(place.relative.ancestors().find_map(|folder| {
            let manifest = place.root.key(&folder.join("Cargo.toml"));
            let found = self.place(&manifest).ok()?;
            (found.kind == Kind::File).then_some(found.key)
        }))
    }

    /// The canonical path that a write to `path` changes, and whether the file there is executable: to write
    /// such a file is dangerous (SPEC §4).
    ///
    /// # Errors
    /// As [`Self::kind_of`].
    pub fn key_and_is_executable(self, path: &str) -> Result<(String, bool), WorkspaceError> {
        let place = self.place(path)?;
        let opened = match place.kind {
            Kind::File => place.open(path, Access::Read).ok().flatten(),
            _ => None,
        };
        let is_executable = opened.is_some_and(|(_, data)| file::is_executable(&data));
        Ok((place.key, is_executable))
    }

    /// The content and the mode of a file after the earlier steps.
    pub(crate) fn content_and_mode(
        self,
        place: &Place<'_>,
        path: &str,
        access: Access,
    ) -> Result<ContentAndMode, WorkspaceError> {
        if let Some(content) = self.overlay.get(&place.key) {
            return Ok((content.cloned(), None));
        }
        let Some((file, metadata)) = place.open(path, access)? else { return Ok((None, None)) };
        let content = file::read(file, path, access)?;
        Ok((Some(Arc::from(content)), Some(file::mode(&metadata))))
    }

    /// The files that the earlier steps change, sorted by path, each compared with its state after the steps in
    /// `before`.
    ///
    /// # Errors
    /// A file that can no longer be resolved or read.
    pub fn changes_since(self, before: &Overlay) -> Result<Vec<FileChange>, WorkspaceError> {
        let then = self.workspace.projected(before);
        let change = |(key, after): (&str, Option<&[u8]>)| {
            let place = self.workspace.resolve(key, Last::Follow)?;
            let (before, _) = then.content_and_mode(&place, key, Access::Read)?;
            Ok(FileChange {
                path: key.to_owned(),
                before: file::state_of_bytes(before.as_deref()),
                after: file::state_of_bytes(after),
                diff: diff::diff(before.as_deref(), after),
            })
        };
        self.overlay.files().map(change).collect()
    }
}

impl Workspace {
    /// The kind of the file at `path`.
    ///
    /// # Errors
    /// The path is not usable, leads outside, or cannot be examined.
    pub fn kind_of(&self, path: &str) -> Result<Kind, WorkspaceError> {
        self.unchanged().kind_of(path)
    }

    /// The canonical path of `path`, by which files are compared.
    ///
    /// # Errors
    /// As [`Self::kind_of`].
    pub fn key_of(&self, path: &str) -> Result<String, WorkspaceError> {
        Ok(self.resolve(path, Last::Follow)?.key)
    }

    /// The state of the file at `path`.
    ///
    /// # Errors
    /// As [`Self::kind_of`]; also if it is not a file or cannot be read.
    pub fn digest_of(&self, path: &str) -> Result<FileState, WorkspaceError> {
        self.unchanged().digest_of(path)
    }

    /// The content of the file at `path`; `None` if it does not exist.
    ///
    /// # Errors
    /// As [`Self::digest_of`].
    pub fn content_of(&self, path: &str) -> Result<Option<Vec<u8>>, WorkspaceError> {
        let place = self.unchanged().place(path)?;
        let opened = place.open(path, Access::Read)?;
        opened.map(|(file, _)| file::read(file, path, Access::Read)).transpose()
    }

    /// Checks that a write to `path` would succeed after the earlier steps, and reads the content of its target.
    pub(crate) fn prepare(
        &self,
        overlay: &Overlay,
        path: &str,
        existing: Existing,
    ) -> Result<Prepared<'_>, WorkspaceError> {
        let mut place = write::target(self, path, existing)?;
        place.kind = overlay.kind(&place);
        place.blocked |= overlay.blocks(&place.key);
        let folder = place.key.rsplit_once('/').map(|(folder, _)| folder);
        if place.parent == Kind::Absent && folder.is_some_and(|folder| overlay.has_below(folder)) {
            place.parent = Kind::Folder;
        }
        write::check_kind(place.kind, path, existing)?;
        write::check(&place, path, existing)?;
        let projected = self.projected(overlay);
        let (before, mode) = projected.content_and_mode(&place, path, Access::Write)?;
        Ok(Prepared { has_folder: place.parent == Kind::Folder, place, before, mode })
    }
}
