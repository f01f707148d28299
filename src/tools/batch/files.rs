//! The files of a batch in memory, after the edits applied so far.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::Fault;
use super::{BatchError, NewMode};
use crate::authorization::FileState;
use crate::plan::Digest;
use crate::run::{FileEffect, FileMode, Modes, StopSignal};
use crate::tools::{ToolError, Toolbox};
use crate::workspace::{
    Access, Existing, Last, Overlay, Place, Prepared, WorkspaceError, effect, file,
};

/// The computed result of a batch.
#[derive(Default)]
pub(in super::super) struct Computed {
    /// The files that change, in the order in which the edits first name them.
    pub(in super::super) effects: Vec<FileEffect>,
    /// The modes of files that do not keep their own; for a renamed file, that of the file under its old
    /// name.
    pub(in super::super) modes: BTreeMap<String, NewMode>,
    /// The state before the batch of every file that an edit or an expected hash names.
    pub(super) states: BTreeMap<String, FileState>,
    /// The symbols whose definitions are replaced.
    pub(super) symbols: Vec<String>,
    /// Notes for the preview.
    pub(super) notes: Vec<String>,
    /// The reasons why the batch cannot be applied; empty if it can.
    pub(super) faults: Vec<Fault>,
}

impl Computed {
    /// Removes and returns the error of the first fault that makes the plan itself invalid, whatever the state of
    /// the workspace.
    pub(super) fn take_plan_error(&mut self) -> Option<ToolError> {
        let index = self.faults.iter().position(|fault| fault.error.is_about_the_plan())?;
        Some(*self.faults.swap_remove(index).error)
    }
}

/// Maximum total size of the files before the batch, in bytes. All of them are held in memory, so the limit
/// is that of a single file.
const MAX_BYTES: u64 = if cfg!(test) { 1 << 20 } else { file::FILE_BYTES };

/// The files after the edits applied so far.
pub(super) struct Files<'a> {
    pub(super) toolbox: &'a Toolbox,
    pub(super) stop: &'a StopSignal,
    pub(super) overlay: Overlay,
    /// The canonical paths of the files that the edits name, in order.
    pub(super) named: Vec<String>,
    /// The content of each file in `named` before the batch; `None` for an absent file.
    pub(super) before: BTreeMap<String, Option<Arc<[u8]>>>,
    /// The mode before the batch of each file in `named` that existed.
    pub(super) modes: BTreeMap<String, FileMode>,
    /// The total size of `before`, in bytes.
    pub(super) bytes: u64,
    pub(super) computed: Computed,
}

impl<'a> Files<'a> {
    /// Checks that an edit may write the file, and records the file when an edit names it for the first time. The
    /// result has its content after the earlier edits.
    pub(super) fn writable(
        &mut self,
        path: &str,
        existing: Existing,
    ) -> Result<Prepared<'a>, ToolError> {
        let prepared = self.toolbox.prepare(&self.overlay, path, existing)?;
        self.record(&prepared)?;
        Ok(prepared)
    }

    /// As [`Self::writable`]. Returns the file and its content, and fails if the file does not exist.
    pub(super) fn existing(&mut self, path: &str) -> Result<(Place<'a>, Arc<[u8]>), ToolError> {
        let missing = || WorkspaceError::NotFound { path: path.to_owned() };
        match self.writable(path, Existing::Replace) {
            Ok(Prepared { place, before, .. }) => Ok((place, before.ok_or_else(missing)?)),
            Err(error) => match error.get() {
                Some(WorkspaceError::FolderMissing { .. }) => Err(missing().into()),
                _ => Err(error),
            },
        }
    }

    /// As [`Self::existing`], for a file that is deleted or renamed; refuses a link.
    pub(super) fn removable(&mut self, path: &str) -> Result<(Place<'a>, Arc<[u8]>), ToolError> {
        let found = self.existing(path)?;
        if found.0.through_link {
            return Err(BatchError::Link { path: path.to_owned() }.into());
        }
        Ok(found)
    }

    /// Sets the content of a file; `None` deletes it.
    pub(super) fn set_content(&mut self, key: &str, content: Option<Arc<[u8]>>) {
        if content.is_none() {
            self.computed.modes.remove(key);
        }
        self.overlay.insert(key.to_owned(), content);
    }

    /// Adds a note to the preview unless it is there already.
    pub(super) fn note_once(&mut self, note: String) {
        if !self.computed.notes.contains(&note) {
            self.computed.notes.push(note);
        }
    }

    /// Records the content and mode of a file when an edit names it for the first time.
    fn record(&mut self, prepared: &Prepared<'_>) -> Result<(), ToolError> {
        let (key, content) = (&prepared.place.key, &prepared.before);
        if !self.before.contains_key(key) {
            self.bytes += content.as_ref().map_or(0, |bytes| bytes.len() as u64);
            if self.bytes > MAX_BYTES {
                return Err(BatchError::TooMuch { limit: MAX_BYTES }.into());
            }
            self.computed.states.insert(key.to_owned(), file::state_of_bytes(content.as_deref()));
            self.before.insert(key.to_owned(), content.clone());
            self.modes.extend(prepared.mode.map(|mode| (key.to_owned(), mode)));
            self.named.push(key.to_owned());
        }
        Ok(())
    }

    /// Records the state of the file, and fails unless it has the expected content.
    pub(super) fn check_expected(&mut self, path: &str, expected: Digest) -> Result<(), ToolError> {
        let place = self.toolbox.resolve(path, Last::Follow)?;
        let projected = self.toolbox.projected(&self.overlay);
        let (content, _) = projected.content_and_mode(&place, path, Access::Read)?;
        let found = file::state_of_bytes(content.as_deref());
        self.computed.states.insert(place.key, found);
        if found == FileState::Content(expected) {
            return Ok(());
        }
        Err(BatchError::Conflict { path: path.to_owned(), expected, found }.into())
    }

    /// Computes the changes from the contents before and after all edits.
    pub(super) fn finish(mut self) -> Computed {
        for key in self.named {
            let before = self.before.remove(&key).flatten();
            // A file that no edit changed still has its first content.
            let after = match self.overlay.get(&key) {
                Some(after) => after.cloned(),
                None => before.clone(),
            };
            let mode_of = |key: &str| self.modes.get(key).copied();
            let mode = match self.computed.modes.get(&key) {
                Some(NewMode::Of(from)) => mode_of(from),
                Some(NewMode::Recorded(mode)) => Some(*mode),
                None => mode_of(&key),
            };
            let after_mode = after.as_ref().and(Modes::kept(mode).after);
            let modes = Modes { before: mode_of(&key), after: after_mode };
            let effect = effect(key, before, after, modes);
            if effect.before != effect.after {
                self.computed.effects.push(effect);
            }
        }
        self.computed
    }
}
