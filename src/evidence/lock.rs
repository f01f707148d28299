//! Who is alive (SPEC §8): each run holds an advisory lock on a file of its own, which the system
//! releases when its process ends, however it ends.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use uuid::Uuid;

use super::error::{EvidenceError, PATIENCE, Result};
use super::permissions;

const FOLDER: &str = "locks";

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    /// Held open, because the lock goes with it.
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Waits until no other process sets up this evidence folder, within limits.
    pub(super) fn setup(dir: &Path) -> Result<Self> {
        Self::take(dir, "setup", PATIENCE)
    }

    /// Marks a run, or a loop, as alive. Waits only for readers that look at the lock at this moment.
    pub(super) fn run(dir: &Path, run_id: Uuid) -> Result<Self> {
        Self::take(dir, &run_id.to_string(), PATIENCE)
    }

    /// Waits until no other process writes the search index of this evidence folder, within limits.
    pub(super) fn index(dir: &Path) -> Result<Self> {
        Self::take(dir, "index", PATIENCE)
    }

    /// Waits until no other process keeps heads in this state folder, within limits.
    pub(super) fn heads(state: &Path) -> Result<Self> {
        Self::take(state, "heads", PATIENCE)
    }

    fn take(dir: &Path, name: &str, patience: Duration) -> Result<Self> {
        let path = lock_path(dir, name);
        let folder = |source| EvidenceError::Folder { source, path: path.clone() };
        let open = || {
            permissions::own_folder(&dir.join(FOLDER))?;
            permissions::mend_file(&path)?;
            permissions::append(&path).map_err(folder)
        };
        let file = open()?;
        let file = match file.try_lock() {
            Ok(()) => file,
            Err(TryLockError::WouldBlock) => {
                wait_for(file, patience).map_err(folder)?.ok_or(EvidenceError::Locked)?
            }
            Err(TryLockError::Error(source)) => return Err(folder(source)),
        };
        Ok(Self { file, path })
    }

    /// Releases the lock and removes its file: an ended run needs neither.
    pub(super) fn end(self) {
        // The row of the run's end is what counts; a file that stays behind is only untidy.
        let _ = fs::remove_file(&self.path);
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A child that is being started at this moment still has a copy of the file, and with it the lock,
        // unless that is given back in so many words.
        let _ = self.file.unlock();
    }
}

/// The file with its lock, when it is free in time. The system has no wait for a lock that ends by
/// itself, so a thread waits; when it is too late, it gives the lock back as soon as it has it.
fn wait_for(file: File, patience: Duration) -> io::Result<Option<File>> {
    let (sender, locked) = sync_channel(1);
    thread::Builder::new().name("evidence-lock".to_owned()).spawn(move || {
        let _ = sender.send(file.lock().map(|()| file));
    })?;
    match locked.recv_timeout(patience) {
        Ok(file) => file.map(Some),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

/// Whether a living process holds the lock of this run.
pub(super) fn is_alive(dir: &Path, run_id: Uuid) -> bool {
    let Ok(file) = File::open(lock_path(dir, &run_id.to_string())) else { return false };
    // Shared, so that two readers do not take each other for the run.
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn lock_path(dir: &Path, name: &str) -> PathBuf {
    dir.join(FOLDER).join(format!("{name}.lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_a_held_lock_is_alive() {
        let dir = tempfile::tempdir().unwrap();
        let run = Uuid::new_v4();
        assert!(!is_alive(dir.path(), run));
        let lock = Lock::run(dir.path(), run).unwrap();
        assert!(is_alive(dir.path(), run));
        assert!(!is_alive(dir.path(), Uuid::new_v4()));
        // As in a child between its birth and its program.
        let copy = lock.file.try_clone().unwrap();
        drop(lock);
        assert!(!is_alive(dir.path(), run));
        drop(copy);
        Lock::run(dir.path(), run).unwrap().end();
        assert!(!lock_path(dir.path(), &run.to_string()).exists());
    }

    #[test]
    fn waiting_for_a_held_lock_has_a_limit() {
        let dir = tempfile::tempdir().unwrap();
        let held = Lock::setup(dir.path()).unwrap();
        let late = Lock::take(dir.path(), "setup", Duration::from_millis(20));
        assert!(matches!(late, Err(EvidenceError::Locked)), "{late:?}");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| Lock::setup(dir.path()));
            drop(held);
            assert!(waiting.join().unwrap().is_ok());
        });
        // Nor does the one that gave up keep it for itself.
        assert!(Lock::take(dir.path(), "setup", PATIENCE).is_ok());
    }
}
