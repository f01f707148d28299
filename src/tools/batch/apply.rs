//! Applies a set of file changes as a whole or not at all (SPEC §9).
//!
//! Every new content is written to a temporary file beside its target and flushed before the first target
//! changes. A replaced file is then exchanged with its temporary file, and a deleted file is renamed. The old
//! files remain, with their mode and attributes, until every change is in place and flushed. Until then rolling
//! a batch back needs no disk space and writes no content.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use cap_std::fs::{File, Permissions};
use uuid::Uuid;

use super::{BatchError, RolledBack};
use crate::authorization::FileState;
use crate::plan::Digest;
use crate::run::{FileEffect, FileMode, Modes};
use crate::tools::ToolError;
use crate::workspace::{
    Access, Disk, FolderId, Folders, Last, Workspace, WorkspaceError, WriteContext,
    check_cancelled, check_state, file, temporary_name,
};

/// Maximum number of temporary files that are open at once. All of them are written before they are flushed, together if
/// the system can.
const OPEN_FILES: usize = 128;

/// A batch of changes that was applied.
#[derive(Debug)]
pub(in super::super) struct Applied {
    /// The changes, with the actual modes before and after.
    pub(in super::super) effects: Vec<FileEffect>,
    /// The folders that were created, by canonical path.
    pub(in super::super) created_folders: Vec<String>,
    /// File attributes that could not be kept.
    pub(in super::super) warnings: Vec<String>,
}

/// Where a file that does not keep its present mode gets its mode from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum NewMode {
    /// Another file, by canonical path; its owner and its extended attributes are copied, too.
    Of(String),
    /// A mode from the recorded history.
    Recorded(FileMode),
}

/// Brings each file from `before` to `after`: creates, replaces or deletes it, and creates missing folders.
/// A path may occur only once in `effects`. After an error all files are as before, or [`RolledBack`] lists
/// those that are not. The keys of `modes` are canonical paths.
///
/// # Errors
/// A file that differs from `before` just before it would change (E004), a link or a folder in its place, a
/// missing content, a disk that cannot be written to, a stop.
pub(in super::super) fn apply(
    workspace: &Workspace,
    effects: &[FileEffect],
    modes: &BTreeMap<String, NewMode>,
    context: &WriteContext<'_>,
) -> Result<Applied, Box<RolledBack>> {
    apply_on(Disk::REAL, workspace, effects, modes, context)
}

/// [`apply`] on a disk whose operations a test can make fail.
pub(super) fn apply_on(
    disk: Disk<'_>,
    workspace: &Workspace,
    effects: &[FileEffect],
    modes: &BTreeMap<String, NewMode>,
    context: &WriteContext<'_>,
) -> Result<Applied, Box<RolledBack>> {
    let mut transaction = Transaction::new(disk, workspace, modes, context);
    match transaction.apply_all(effects) {
        Ok(()) => {
            transaction.is_finished = true;
            Ok(Applied {
                effects: transaction.slots.iter().map(Slot::actual_effect).collect(),
                created_folders: transaction.folders.keep(),
                warnings: std::mem::take(&mut transaction.warnings),
            })
        }
        Err(error) => Err(Box::new(transaction.roll_back(error))),
    }
}

/// The modes for created files whose content is that of a deleted file: such a pair is a rename, so the
/// created file gets the mode, the owner and the extended attributes of the deleted one.
pub(in super::super) fn rename_modes(effects: &[FileEffect]) -> BTreeMap<String, NewMode> {
    let mut deleted = BTreeMap::new();
    for effect in effects {
        if let (FileState::Content(content), FileState::Absent) = (effect.before, effect.after) {
            deleted.insert(content.to_string(), &effect.path);
        }
    }
    let mode_source = |effect: &FileEffect| match (effect.before, effect.after) {
        (FileState::Absent, FileState::Content(content)) => {
            let from = deleted.get(&content.to_string())?;
            Some((effect.path.clone(), NewMode::Of((*from).clone())))
        }
        _ => None,
    };
    effects.iter().filter_map(mode_source).collect()
}

/// The two temporary names beside a file. The file under the first name holds the new content and, after the
/// exchange, the old one. The second name is for file systems that cannot exchange two names atomically. Both
/// are hidden, so that no search finds them, and are derived from the id of the execution and the file name.
pub(in super::super) fn temporary_names(execution_id: Uuid, name: &OsStr) -> [PathBuf; 2] {
    let digest = Digest::of(name.as_encoded_bytes()).to_string();
    let short: String = digest.trim_start_matches("sha256:").chars().take(16).collect();
    let first = format!("{}-{short}", temporary_name(execution_id));
    let spare = format!("{first}-");
    [first.into(), spare.into()]
}

/// The progress of one file of the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The file is unchanged; its temporary file may hold the new content.
    Pending,
    /// The file has changed, or an attempt to change it failed and may still have taken effect.
    Changed,
    /// The old content is no longer in the temporary file.
    Discarded,
}

/// One file of the batch.
pub(super) struct Slot<'a> {
    pub(super) effect: &'a FileEffect,
    pub(super) folder: FolderId,
    pub(super) name: PathBuf,
    /// The first of the [`temporary_names`].
    pub(super) temporary: PathBuf,
    /// The second of the [`temporary_names`].
    pub(super) spare: PathBuf,
    /// The mode before the change, without the set-user-ID, set-group-ID and sticky bits; `None` if the file is absent.
    pub(super) mode: Option<Permissions>,
    /// The actual modes before and after the change.
    modes: Modes,
    pub(super) stage: Stage,
}

impl Slot<'_> {
    /// The change, with the actual modes before and after.
    pub(super) fn actual_effect(&self) -> FileEffect {
        FileEffect { modes: self.modes, ..self.effect.clone() }
    }
}

/// A batch in progress. Dropping it before `is_finished` is set, as a panic does, rolls it back.
pub(super) struct Transaction<'a> {
    pub(super) disk: Disk<'a>,
    workspace: &'a Workspace,
    modes: &'a BTreeMap<String, NewMode>,
    context: &'a WriteContext<'a>,
    pub(super) folders: Folders<'a>,
    pub(super) slots: Vec<Slot<'a>>,
    /// File attributes that could not be kept.
    warnings: Vec<String>,
    pub(super) is_finished: bool,
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            // During a panic there is no caller to report to; the recorded intent names the files to check.
            let _ = self.restore_all();
        }
    }
}

impl<'a> Transaction<'a> {
    fn new(
        disk: Disk<'a>,
        workspace: &'a Workspace,
        modes: &'a BTreeMap<String, NewMode>,
        context: &'a WriteContext<'a>,
    ) -> Self {
        let folders = Folders::new(disk);
        let (slots, warnings) = (Vec::new(), Vec::new());
        Self { disk, workspace, modes, context, folders, slots, warnings, is_finished: false }
    }

    fn apply_all(&mut self, effects: &'a [FileEffect]) -> Result<(), ToolError> {
        let changes = effects.iter().filter(|effect| effect.before != effect.after);
        let changes: Vec<&FileEffect> = changes.collect();
        for chunk in changes.chunks(OPEN_FILES) {
            self.prepare(chunk)?;
        }
        for index in 0..self.slots.len() {
            check_cancelled(self.context.stop)?;
            self.change(index)?;
        }
        if let Some((folder, source)) = self.folders.flush(None).next() {
            let path = folder.to_owned();
            return Err(WorkspaceError::WriteFailed { path, source }.into());
        }
        self.discard()
    }

    /// Writes and flushes the temporary files with the new contents of these files.
    fn prepare(&mut self, effects: &[&'a FileEffect]) -> Result<(), ToolError> {
        let mut written = Vec::new();
        for effect in effects {
            check_cancelled(self.context.stop)?;
            let file = self.prepare_file(effect)?;
            written.extend(file.map(|file| (file, &effect.path)));
        }
        let Some((_, path)) = written.first() else { return Ok(()) };
        check_cancelled(self.context.stop)?;
        let files: Vec<_> = written.iter().map(|(file, _)| file).collect();
        if self.disk.flush_together(&files).map_err(write_failed(path))? {
            return Ok(());
        }
        for (file, path) in &written {
            check_cancelled(self.context.stop)?;
            self.disk.flush_file(file).map_err(write_failed(path))?;
        }
        Ok(())
    }

    /// Adds a file to the batch, and writes its new content to its temporary file. Returns that file, which is not
    /// flushed yet; `None` for a file that is deleted.
    fn prepare_file(&mut self, effect: &'a FileEffect) -> Result<Option<File>, ToolError> {
        let path = &effect.path;
        let place = self.workspace.resolve(path, Last::Keep)?;
        let Some(name) = place.relative.file_name().filter(|_| place.key == *path) else {
            let now = FileState::Absent;
            let (path, approved) = (path.clone(), Some(effect.before));
            return Err(WorkspaceError::Stale { path, approved, now }.into());
        };
        let name = PathBuf::from(name);
        let above = place.relative.parent().unwrap_or(Path::new(""));
        let is_new = effect.before == FileState::Absent;
        let folder = self.folders.enter(place.root, above, is_new).map_err(write_failed(path))?;
        let [temporary, spare] = temporary_names(self.context.execution_id, name.as_os_str());
        let (stage, modes) = (Stage::Pending, Modes::default());
        let mut slot = Slot { effect, folder, name, temporary, spare, mode: None, modes, stage };
        let mut attributes_from = None;
        if let Some((file, metadata)) = self.open(&slot, &slot.name)? {
            let mode = file::mode(&metadata);
            slot.modes.before = Some(mode);
            slot.mode = Some(file::permissions(mode.plain()));
            attributes_from = Some(file);
        }
        // A renamed file keeps its attributes like a file that is changed in place.
        let mut mode = None;
        match self.modes.get(path) {
            Some(NewMode::Of(from)) => attributes_from = self.open_file(from)?,
            Some(NewMode::Recorded(recorded)) => mode = Some(file::permissions(*recorded)),
            None => {}
        }
        let contents = effect.after_bytes.as_deref();
        if contents.is_none() && effect.after != FileState::Absent {
            return Err(BatchError::NoContent { path: path.clone() }.into());
        }
        let Some(contents) = contents else {
            self.slots.push(slot);
            return Ok(None);
        };
        let dir = self.folders.dir(folder).map_err(write_failed(path))?;
        let mut file = self
            .disk
            .create_file(dir, &slot.temporary, attributes_from.is_some() || mode.is_some())
            .map_err(write_failed(path))?;
        // From here on a temporary file exists that must be removed.
        self.slots.push(slot);
        self.disk.write(&mut file, contents).map_err(write_failed(path))?;
        if let Some(source) = attributes_from {
            let lost = self.disk.set_attributes(&source, &file).map_err(write_failed(path))?;
            self.warnings.extend(lost.into_iter().map(|lost| format!("{path}: {lost}")));
        }
        if let Some(mode) = mode {
            self.disk.set_mode(&file, &mode).map_err(write_failed(path))?;
        }
        let after = file::mode(&file.metadata().map_err(write_failed(path))?);
        if let Some(slot) = self.slots.last_mut() {
            slot.modes.after = Some(after);
        }
        Ok(Some(file))
    }

    fn open_file(&self, path: &str) -> Result<Option<std::fs::File>, ToolError> {
        let place = self.workspace.resolve(path, Last::Follow)?;
        Ok(place.open(path, Access::Write)?.map(|(file, _)| file))
    }

    /// Changes one file if it still has the content from which the change was computed.
    fn change(&mut self, index: usize) -> Result<(), ToolError> {
        let Some(slot) = self.slots.get(index) else { return Ok(()) };
        let effect = slot.effect;
        let path = &effect.path;
        check_state(path, Some(effect.before), self.state(slot, &slot.name)?)?;
        if let Some(slot) = self.slots.get_mut(index) {
            // Set before the operation, because some file systems report an error for an operation that took
            // effect.
            slot.stage = Stage::Changed;
        }
        let Some(Slot { folder, name, temporary, spare, .. }) = self.slots.get(index) else {
            return Ok(());
        };
        let dir = self.folders.dir(*folder).map_err(write_failed(path))?;
        match (effect.before, effect.after) {
            (_, FileState::Absent) => self.disk.move_to_new(dir, name, temporary),
            (FileState::Absent, _) => self.disk.move_to_new(dir, temporary, name),
            _ => self.disk.exchange(dir, temporary, name, spare),
        }
        .map_err(write_failed(path))?;
        Ok(())
    }

    /// Removes the old files. Fails before the first removal if another process wrote to one of them since
    /// the check in [`Self::change`].
    fn discard(&mut self) -> Result<(), ToolError> {
        for slot in self.slots.iter().filter(|slot| slot.effect.before != FileState::Absent) {
            let old = self.state(slot, &slot.temporary)?;
            check_state(&slot.effect.path, Some(slot.effect.before), old)?;
        }
        for slot in &mut self.slots {
            if slot.effect.before != FileState::Absent {
                let dir = self.folders.dir(slot.folder).map_err(write_failed(&slot.effect.path))?;
                let removed = self.disk.remove_file(dir, &slot.temporary);
                removed.map_err(write_failed(&slot.effect.path))?;
                slot.stage = Stage::Discarded;
            }
        }
        Ok(())
    }

    fn open(
        &self,
        slot: &Slot<'_>,
        name: &Path,
    ) -> Result<Option<(std::fs::File, cap_std::fs::Metadata)>, WorkspaceError> {
        let path = &slot.effect.path;
        let dir = self.folders.dir(slot.folder).map_err(write_failed(path))?;
        file::open(dir, name, path, Access::Write)
    }

    /// The state of the file with this name in the folder of `slot`.
    pub(super) fn state(&self, slot: &Slot<'_>, name: &Path) -> Result<FileState, WorkspaceError> {
        file::state(self.open(slot, name)?.map(|(file, _)| file), &slot.effect.path)
    }
}

pub(super) fn write_failed(path: &str) -> impl Fn(std::io::Error) -> WorkspaceError {
    |source| WorkspaceError::WriteFailed { path: path.to_owned(), source }
}
