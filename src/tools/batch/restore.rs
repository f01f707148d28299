//! Rolls a batch back. Every file is then as before, or reported as not restored.

use std::path::Path;

use crate::authorization::FileState;
use crate::tools::ToolError;
use crate::workspace::{WorkspaceError, check_state};

use super::apply::{Slot, Stage, Work, failed};
use super::error::BatchError;
use super::undone::{NotRestored, Undone};

impl Work<'_> {
    /// Rolls the whole batch back because of `error`.
    pub(super) fn restore(mut self, error: ToolError) -> Undone {
        let (not_restored, warnings) = self.put_all_back();
        self.is_over = true;
        let error = match not_restored.as_slice() {
            [] => error,
            files => {
                let files = files.iter().map(|it| it.effect.path.clone()).collect();
                BatchError::NotRestored { files, why: error.to_string() }.into()
            }
        };
        Undone { error, not_restored, warnings }
    }

    pub(super) fn put_all_back(&mut self) -> (Vec<NotRestored>, Vec<String>) {
        let mut not_restored = Vec::new();
        let mut warnings = Vec::new();
        for slot in self.slots.iter().rev() {
            let back = match slot.stage {
                Stage::Waiting => Ok(()),
                Stage::Changed | Stage::Discarded => self.put_back(slot),
            };
            match back {
                Ok(()) => warnings.extend(self.tidy(slot)),
                Err(error) => {
                    let it = self.not_restored(slot, &error);
                    if it.original.is_none() {
                        warnings.extend(self.tidy_unless_it_is_theirs(slot));
                    }
                    not_restored.push(it);
                }
            }
        }
        for (folder, error) in self.folders.remove_created() {
            warnings.push(format!("the folder {folder} was made and stays: {error}"));
        }
        for (folder, error) in self.folders.flush(None) {
            // A folder that no longer exists needs no flush.
            if error.kind() != std::io::ErrorKind::NotFound {
                warnings.push(format!(
                    "what was put back in {folder} may not survive a power cut: {error}"
                ));
            }
        }
        not_restored.reverse();
        (not_restored, warnings)
    }

    /// Restores one file. If another process wrote to it just before the batch changed it, the content that
    /// it wrote is restored.
    fn put_back(&self, slot: &Slot<'_>) -> Result<(), ToolError> {
        let Slot { effect, name, waiting, spare, .. } = slot;
        let path = &effect.path;
        let now = self.state(slot, name)?;
        if now == effect.before {
            return Ok(());
        }
        // An absent file can be restored without overwriting anything.
        if now != effect.after && now != FileState::Absent {
            let approved = Some(effect.after);
            return Err(WorkspaceError::Stale { path: path.clone(), approved, now }.into());
        }
        let was = match self.state(slot, waiting)? {
            FileState::Absent if effect.before != FileState::Absent => {
                self.write_again(slot)?;
                effect.before
            }
            _ if effect.before == FileState::Absent => FileState::Absent,
            waits => waits,
        };
        let dir = self.folders.dir(slot.folder).map_err(failed(path))?;
        match (was, now) {
            (FileState::Absent, _) => self.disk.move_to_new(dir, name, waiting),
            (_, FileState::Absent) => self.disk.move_to_new(dir, waiting, name),
            _ => self.disk.exchange(dir, waiting, name, spare),
        }
        .map_err(failed(path))?;
        Ok(check_state(path, Some(was), self.state(slot, name)?)?)
    }

    /// Writes the old content to the temporary file again after that file was removed.
    fn write_again(&self, slot: &Slot<'_>) -> Result<(), ToolError> {
        let Slot { effect, waiting, mode, .. } = slot;
        let path = &effect.path;
        let Some(contents) = effect.before_bytes.as_deref() else {
            return Err(BatchError::NoContent { path: path.clone() }.into());
        };
        let dir = self.folders.dir(slot.folder).map_err(failed(path))?;
        let write = || {
            let mut file = self.disk.create_file(dir, waiting, true)?;
            self.disk.write(&mut file, contents)?;
            if let Some(mode) = mode {
                self.disk.set_mode(&file, mode)?;
            }
            self.disk.flush_file(&file)
        };
        write().map_err(|error| {
            // A partly written file is useless.
            let _ = self.disk.remove_file(dir, waiting);
            failed(path)(error).into()
        })
    }

    /// Removes the temporary file of a file that was not restored if it still holds the new content. Any
    /// other content may come from another process and stays.
    fn tidy_unless_it_is_theirs(&self, slot: &Slot<'_>) -> Option<String> {
        match self.state(slot, &slot.waiting) {
            Ok(FileState::Absent) => None,
            Ok(waits) if waits == slot.effect.after => self.tidy(slot),
            _ => Some(format!("{} stays", beside(&slot.effect.path, &slot.waiting))),
        }
    }

    /// Removes the temporary files of a file; returns a warning for one that stays.
    fn tidy(&self, slot: &Slot<'_>) -> Option<String> {
        let dir = self.folders.dir(slot.folder).ok()?;
        let names = [&slot.waiting, &slot.spare];
        let there = names.into_iter().filter(|name| dir.symlink_metadata(name).is_ok());
        let stay = there.filter_map(|name| {
            let error = self.disk.remove_file(dir, name).err()?;
            Some(format!("the temporary file {} stays: {error}", beside(&slot.effect.path, name)))
        });
        let stay: Vec<String> = stay.collect();
        (!stay.is_empty()).then(|| stay.join("; "))
    }

    fn not_restored(&self, slot: &Slot<'_>, error: &ToolError) -> NotRestored {
        let effect = slot.done();
        let was = self.state(slot, &slot.waiting);
        let is_kept = effect.before != FileState::Absent && was.is_ok_and(|it| it == effect.before);
        NotRestored {
            now: self.state(slot, &slot.name).ok(),
            why: error.to_string(),
            original: is_kept.then(|| beside(&effect.path, &slot.waiting)),
            effect,
        }
    }
}

/// The canonical path of a name in the same folder.
fn beside(path: &str, name: &Path) -> String {
    Path::new(path).with_file_name(name).to_string_lossy().into_owned()
}
