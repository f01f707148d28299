//! Rolls a batch back. Every file is then as before, or reported as not restored.

use std::path::Path;

use super::apply::{Slot, Stage, Transaction, write_failed};
use super::{BatchError, NotRestored, RolledBack};
use crate::authorization::FileState;
use crate::tools::ToolError;
use crate::workspace::{WorkspaceError, check_state};

impl Transaction<'_> {
    /// Rolls the batch back because of `error`.
    pub(super) fn roll_back(mut self, error: ToolError) -> RolledBack {
        let (not_restored, warnings) = self.restore_all();
        self.is_finished = true;
        let error = match not_restored.as_slice() {
            [] => error,
            files => {
                let files = files.iter().map(|file| file.effect.path.clone()).collect();
                BatchError::NotRestored { files, why: error.to_string() }.into()
            }
        };
        RolledBack { error, not_restored, warnings }
    }

    /// Restores all files, the last one first, and removes the temporary files and the created folders. Returns
    /// the files that could not be restored, and warnings.
    pub(super) fn restore_all(&mut self) -> (Vec<NotRestored>, Vec<String>) {
        let mut not_restored = Vec::new();
        let mut warnings = Vec::new();
        for slot in self.slots.iter().rev() {
            let restored = match slot.stage {
                Stage::Pending => Ok(()),
                Stage::Changed | Stage::Discarded => self.restore_file(slot),
            };
            match restored {
                Ok(()) => warnings.extend(self.remove_temporaries(slot)),
                Err(error) => {
                    let file = self.not_restored(slot, &error);
                    if file.original.is_none() {
                        warnings.extend(self.remove_new_content(slot));
                    }
                    not_restored.push(file);
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

    /// Restores one file. If another process wrote to it just before the batch changed it, the content of that
    /// process is restored.
    fn restore_file(&self, slot: &Slot<'_>) -> Result<(), ToolError> {
        let Slot { effect, name, temporary, spare, .. } = slot;
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
        let old = match self.state(slot, temporary)? {
            FileState::Absent if effect.before != FileState::Absent => {
                self.rewrite_old_content(slot)?;
                effect.before
            }
            _ if effect.before == FileState::Absent => FileState::Absent,
            state => state,
        };
        let dir = self.folders.dir(slot.folder).map_err(write_failed(path))?;
        match (old, now) {
            (FileState::Absent, _) => self.disk.move_to_new(dir, name, temporary),
            (_, FileState::Absent) => self.disk.move_to_new(dir, temporary, name),
            _ => self.disk.exchange(dir, temporary, name, spare),
        }
        .map_err(write_failed(path))?;
        Ok(check_state(path, Some(old), self.state(slot, name)?)?)
    }

    /// Creates the removed temporary file again, with the old content.
    fn rewrite_old_content(&self, slot: &Slot<'_>) -> Result<(), ToolError> {
        let Slot { effect, temporary, mode, .. } = slot;
        let path = &effect.path;
        let Some(contents) = effect.before_bytes.as_deref() else {
            return Err(BatchError::NoContent { path: path.clone() }.into());
        };
        let dir = self.folders.dir(slot.folder).map_err(write_failed(path))?;
        let write = || {
            let mut file = self.disk.create_file(dir, temporary, true)?;
            self.disk.write(&mut file, contents)?;
            if let Some(mode) = mode {
                self.disk.set_mode(&file, mode)?;
            }
            self.disk.flush_file(&file)
        };
        write().map_err(|error| {
            // A partly written file is useless.
            let _ = self.disk.remove_file(dir, temporary);
            write_failed(path)(error).into()
        })
    }

    /// Removes the temporary files of a file that was not restored, if the first one still holds the new content.
    /// Any other content may come from another process and stays. Returns a warning for files that stay.
    fn remove_new_content(&self, slot: &Slot<'_>) -> Option<String> {
        match self.state(slot, &slot.temporary) {
            Ok(FileState::Absent) => None,
            Ok(state) if state == slot.effect.after => self.remove_temporaries(slot),
            _ => Some(format!("{} stays", sibling(&slot.effect.path, &slot.temporary))),
        }
    }

    /// Removes the temporary files of a file. Returns a warning for those that stay.
    fn remove_temporaries(&self, slot: &Slot<'_>) -> Option<String> {
        let dir = self.folders.dir(slot.folder).ok()?;
        let names = [&slot.temporary, &slot.spare];
        let existing = names.into_iter().filter(|name| dir.symlink_metadata(name).is_ok());
        let stay = existing.filter_map(|name| {
            let error = self.disk.remove_file(dir, name).err()?;
            Some(format!("the temporary file {} stays: {error}", sibling(&slot.effect.path, name)))
        });
        let stay: Vec<String> = stay.collect();
        (!stay.is_empty()).then(|| stay.join("; "))
    }

    fn not_restored(&self, slot: &Slot<'_>, error: &ToolError) -> NotRestored {
        let effect = slot.actual_effect();
        let old = self.state(slot, &slot.temporary);
        let is_kept =
            effect.before != FileState::Absent && old.is_ok_and(|state| state == effect.before);
        NotRestored {
            now: self.state(slot, &slot.name).ok(),
            why: error.to_string(),
            original: is_kept.then(|| sibling(&effect.path, &slot.temporary)),
            effect,
        }
    }
}

/// The canonical path of the file `name` in the folder of the file `path`.
fn sibling(path: &str, name: &Path) -> String {
    Path::new(path).with_file_name(name).to_string_lossy().into_owned()
}
