//! Writes one file in an open folder atomically (SPEC §4, `file_write`).
//!
//! The new content is written to a temporary file. To replace a file, the names of the two files are exchanged,
//! as in a batch. The old file then still exists under the temporary name, and is compared before it is removed:
//! a write by another process between the last check and the exchange is detected, and its content is restored.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use uuid::Uuid;

use super::{
    Access, Disk, Existing, WorkspaceError, check_cancelled, check_state, file, temporary_name,
};
use crate::authorization::FileState;
use crate::run::{Modes, StopSignal};

/// One name in an open folder.
pub(crate) struct Target<'a> {
    pub(crate) disk: Disk<'a>,
    pub(crate) folder: &'a Dir,
    pub(crate) name: &'a Path,
    /// The path as the plan writes it, for messages.
    pub(crate) path: &'a str,
    pub(crate) existing: Existing,
}

/// The replaced content, and problems that occurred although the write took effect.
pub(crate) struct Published {
    pub(crate) before: Option<Vec<u8>>,
    pub(crate) modes: Modes,
    /// Set if the content was written but may not survive a power failure.
    pub(crate) not_flushed: Option<WorkspaceError>,
    /// Metadata of the old file that could not be copied.
    pub(crate) lost: Vec<String>,
}

impl Target<'_> {
    /// Writes `contents` to the target.
    pub(crate) fn publish(
        &self,
        contents: &str,
        approved: Option<FileState>,
        execution_id: Uuid,
        stop: &StopSignal,
    ) -> Result<Published, WorkspaceError> {
        let failed = |source| self.failed(source);
        let (mut before, mut modes, mut lost) = (None, Modes::default(), Vec::new());
        let old = self.open()?;
        let mut temporary = TemporaryFile::create(self, execution_id, old.is_some())?;
        self.disk.write(&mut temporary.file, contents.as_bytes()).map_err(failed)?;
        if let Some((file, metadata)) = old {
            lost = self.disk.set_attributes(&file, &temporary.file).map_err(failed)?;
            before = Some(file::read(file, self.path, Access::Write)?);
            modes.before = Some(file::mode(&metadata));
        }
        modes.after = Some(file::mode(&temporary.file.metadata().map_err(failed)?));
        self.disk.flush_file(&temporary.file).map_err(failed)?;
        check_cancelled(stop)?;
        // This is the last check, made as late as possible.
        check_state(self.path, approved, self.state(self.name)?)?;
        match &before {
            None => self.publish_new(&mut temporary)?,
            Some(bytes) => {
                self.replace(&mut temporary, file::state_of_bytes(Some(bytes)), contents)?
            }
        }
        let not_flushed = self.disk.flush_folder(self.folder).map_err(failed).err();
        Ok(Published { before, modes, not_flushed, lost })
    }

    fn publish_new(&self, temporary: &mut TemporaryFile<'_>) -> Result<(), WorkspaceError> {
        let moved = self.disk.move_to_new(self.folder, &temporary.name, self.name);
        moved.map_err(|source| match (source.kind(), self.existing) {
            (io::ErrorKind::AlreadyExists, Existing::Refuse) => {
                WorkspaceError::AlreadyExists { path: self.path.to_owned() }
            }
            _ => self.failed(source),
        })?;
        temporary.is_released = true;
        Ok(())
    }

    /// Exchanges the old file and the temporary one. If the old file was not in the state `was`, exchanges them
    /// back and fails. If another process has written again meanwhile, the temporary file is kept too.
    fn replace(
        &self,
        temporary: &mut TemporaryFile<'_>,
        was: FileState,
        contents: &str,
    ) -> Result<(), WorkspaceError> {
        let spare = temporary.spare();
        let exchange = |temporary: &TemporaryFile<'_>| {
            self.disk.exchange(self.folder, &temporary.name, self.name, &spare)
        };
        let ours = file::state_of_bytes(Some(contents.as_bytes()));
        let kept_beside = |temporary: &mut TemporaryFile<'_>, source: WorkspaceError| {
            temporary.is_released = true;
            let other = Path::new(self.path).with_file_name(&temporary.name);
            WorkspaceError::KeptBeside {
                path: self.path.to_owned(),
                other: other.to_string_lossy().into_owned(),
                why: source.to_string(),
            }
        };
        if let Err(source) = exchange(temporary) {
            let source = self.failed(source);
            // Some file systems report a failure for an exchange that took effect.
            if self.state(self.name).ok() != Some(ours) {
                let is_untouched = self.state(&temporary.name).ok() == Some(ours);
                return Err(if is_untouched { source } else { kept_beside(temporary, source) });
            }
        }
        let found = self.state(&temporary.name);
        if found.as_ref().is_ok_and(|found| *found == was) {
            if self.disk.remove_file(self.folder, &temporary.name).is_ok() {
                temporary.is_released = true;
            }
            return Ok(());
        }
        // Another process wrote before the exchange: restore its content, unless it has written again since.
        let now = match self.state(self.name) {
            Ok(now) if now == ours => now,
            Ok(now) => return Err(kept_beside(temporary, self.stale(ours, now))),
            Err(error) => return Err(kept_beside(temporary, error)),
        };
        if let Err(source) = exchange(temporary) {
            return Err(kept_beside(temporary, self.failed(source)));
        }
        // The temporary file must have the new content now. If not, another process wrote to the file between
        // the check and the exchange.
        if self.state(&temporary.name).ok() != Some(now) {
            return Err(kept_beside(temporary, self.stale(was, now)));
        }
        Err(found.map_or_else(|error| error, |now| self.stale(was, now)))
    }

    fn stale(&self, approved: FileState, now: FileState) -> WorkspaceError {
        WorkspaceError::Stale { path: self.path.to_owned(), approved: Some(approved), now }
    }

    fn open(&self) -> Result<Option<(File, cap_std::fs::Metadata)>, WorkspaceError> {
        file::open(self.folder, self.name, self.path, Access::Write)
    }

    fn state(&self, name: &Path) -> Result<FileState, WorkspaceError> {
        let opened = file::open(self.folder, name, self.path, Access::Write)?;
        file::state(opened.map(|(file, _)| file), self.path)
    }

    fn failed(&self, source: io::Error) -> WorkspaceError {
        WorkspaceError::WriteFailed { path: self.path.to_owned(), source }
    }
}

/// The temporary file with the new content.
struct TemporaryFile<'a> {
    target: &'a Target<'a>,
    name: PathBuf,
    file: cap_std::fs::File,
    /// Whether the file has its final name, is removed already, or must be kept. Otherwise it is removed on drop.
    is_released: bool,
}

impl<'a> TemporaryFile<'a> {
    /// Creates the temporary file. If it replaces a file, only its owner may read it until it has that file's
    /// mode.
    fn create(
        target: &'a Target<'a>,
        execution_id: Uuid,
        private: bool,
    ) -> Result<Self, WorkspaceError> {
        let name = PathBuf::from(temporary_name(execution_id));
        let file = target.disk.create_file(target.folder, &name, private);
        let file = file.map_err(|source| target.failed(source))?;
        Ok(Self { target, name, file, is_released: false })
    }

    /// A third name, for file systems without an atomic exchange.
    fn spare(&self) -> PathBuf {
        let mut spare = self.name.clone().into_os_string();
        spare.push("-");
        spare.into()
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        if !self.is_released {
            let _ = self.target.disk.remove_file(self.target.folder, &self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use cap_std::ambient_authority;
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    use rustix::io::Errno;

    use super::super::DiskOp;
    use super::*;
    use crate::plan::Code;
    use crate::run::ErrorInfo as _;

    /// Replaces the content "was" of the file `f` by "ours". Calls `act` before each disk operation, with the
    /// folder, the operation and how often that operation was called.
    fn replace(
        act: impl Fn(&Path, DiskOp, usize) -> io::Result<()>,
    ) -> (Result<Published, WorkspaceError>, tempfile::TempDir) {
        let temporary = tempfile::tempdir().unwrap();
        fs::write(temporary.path().join("f"), "was").unwrap();
        let result = replace_in(temporary.path(), act);
        (result, temporary)
    }

    fn replace_in(
        top: &Path,
        act: impl Fn(&Path, DiskOp, usize) -> io::Result<()>,
    ) -> Result<Published, WorkspaceError> {
        let seen = RefCell::new(Vec::new());
        let gate = |next: DiskOp| {
            seen.borrow_mut().push(next);
            let turn = seen.borrow().iter().filter(|it| **it == next).count();
            act(top, next, turn)
        };
        let folder = Dir::open_ambient_dir(top, ambient_authority()).unwrap();
        let (name, existing) = (Path::new("f"), Existing::Replace);
        let (disk, folder) = (Disk { gate: &gate }, &folder);
        let target = Target { disk, folder, name, path: "f", existing };
        let was = Some(file::state_of_bytes(Some(&fs::read(top.join("f")).unwrap())));
        target.publish("ours", was, Uuid::nil(), &StopSignal::default())
    }

    fn contents(folder: &tempfile::TempDir) -> Vec<(String, String)> {
        let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
        let mut all: Vec<_> = entries
            .map(|it| {
                let text = fs::read_to_string(it.path()).unwrap();
                (it.file_name().into_string().unwrap(), text)
            })
            .collect();
        all.sort();
        all
    }

    fn only(text: &str) -> Vec<(String, String)> {
        vec![("f".to_owned(), text.to_owned())]
    }

    /// Simulates a file system with or without an atomic exchange.
    fn exchange(known: bool, act: DiskOp) -> io::Result<()> {
        if act == DiskOp::Exchange && !known { Err(Errno::INVAL.into()) } else { Ok(()) }
    }

    #[test]
    fn new_content_replaces_the_old_one() {
        for known in [true, false] {
            let (result, folder) = replace(|_, act, _| exchange(known, act));
            assert_eq!(result.unwrap().before.as_deref(), Some(&b"was"[..]));
            assert_eq!(contents(&folder), only("ours"), "{known}");
        }
    }

    #[test]
    fn write_after_the_last_check_is_kept() {
        // A write in place, and a rename of another file to this name.
        let writers: [fn(&Path); 2] = [
            |top| fs::write(top.join("f"), "theirs").unwrap(),
            |top| {
                fs::write(top.join("new"), "theirs").unwrap();
                fs::rename(top.join("new"), top.join("f")).unwrap();
            },
        ];
        for write in writers {
            let (result, folder) = replace(|top, act, turn| {
                if (act, turn) == (DiskOp::Exchange, 1) {
                    write(top);
                }
                Ok(())
            });
            assert_eq!(result.err().unwrap().code(), Code::Stale);
            assert_eq!(contents(&folder), only("theirs"));
        }
        // Without an atomic exchange, the file already has its spare name too when the other process writes.
        let (result, folder) = replace(|top, act, turn| {
            if (act, turn) == (DiskOp::Rename, 1) {
                fs::write(top.join("f"), "theirs").unwrap();
            }
            exchange(false, act)
        });
        assert_eq!(result.err().unwrap().code(), Code::Stale);
        assert_eq!(contents(&folder), only("theirs"));
    }

    #[test]
    fn two_foreign_writes_are_both_kept() {
        let (result, folder) = replace(|top, act, turn| {
            if act == DiskOp::Exchange {
                fs::write(top.join("f"), format!("theirs {turn}")).unwrap();
            }
            Ok(())
        });
        let error = result.err().unwrap();
        assert_eq!(error.code(), Code::Conflict, "{error}");
        let temporary = temporary_name(Uuid::nil());
        assert!(error.to_string().contains(&temporary), "{error}");
        let expected =
            [(temporary, "theirs 2".to_owned()), ("f".to_owned(), "theirs 1".to_owned())];
        assert_eq!(contents(&folder), expected);
    }

    #[test]
    fn disk_failure_keeps_the_old_content() {
        for fails in [
            DiskOp::CreateFile,
            DiskOp::Write,
            DiskOp::SetMode,
            DiskOp::FlushFile,
            DiskOp::Exchange,
            DiskOp::Rename,
        ] {
            let (result, folder) = replace(|_, act, _| match act {
                act if act == fails => Err(Errno::IO.into()),
                act => exchange(fails != DiskOp::Rename, act),
            });
            assert!(result.is_err(), "{fails:?}");
            assert_eq!(contents(&folder), only("was"), "{fails:?}");
        }
    }

    #[test]
    fn owner_mode_and_attributes_are_kept() {
        let temporary = tempfile::tempdir().unwrap();
        let file = temporary.path().join("f");
        fs::write(&file, "was").unwrap();
        setxattr(&file, "user.note", b"kept", XattrFlags::empty()).unwrap();
        let is_root = rustix::process::geteuid().is_root();
        if is_root {
            std::os::unix::fs::chown(&file, Some(1234), Some(2345)).unwrap();
        }
        fs::set_permissions(&file, fs::Permissions::from_mode(0o6751)).unwrap();
        let before = fs::metadata(&file).unwrap();
        let published = replace_in(temporary.path(), |_, _, _| Ok(())).unwrap();
        assert_eq!(published.lost, Vec::<String>::new());
        let after = fs::metadata(&file).unwrap();
        assert_ne!(before.ino(), after.ino(), "it is another file");
        assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
        // The set-user-ID and set-group-ID bits are dropped.
        assert_eq!(after.mode() & 0o7777, 0o751);
        let mut value = [0; 16];
        let length = getxattr(&file, "user.note", &mut value[..]).unwrap();
        assert_eq!(&value[..length], b"kept");
    }
}
