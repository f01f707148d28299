//! Locks that show which runs are active (SPEC §8). Each run holds an advisory lock on its own file; the system
//! releases the lock when the process ends for any reason.

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
    /// The open file, which carries the lock.
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Waits, with a time limit, until no other process sets up this evidence folder.
    pub(super) fn setup(dir: &Path) -> Result<Self> {
        Self::take(dir, "setup", PATIENCE)
    }

    /// Marks a run or a loop as active. Waits only for readers that check the lock at this moment.
    pub(super) fn run(dir: &Path, run_id: Uuid) -> Result<Self> {
        Self::take(dir, &run_id.to_string(), PATIENCE)
    }

    /// Waits, with a time limit, until no other process writes the search index of this evidence folder.
    pub(super) fn index(dir: &Path) -> Result<Self> {
        Self::take(dir, "index", PATIENCE)
    }

    /// Waits, with a time limit, until no other process writes heads in this state folder.
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

    /// Releases the lock and removes its file, which an ended run does not need.
    pub(super) fn end(self) {
        // The row of the run's end is decisive; a file that remains has no effect.
        let _ = fs::remove_file(&self.path);
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A child process that is being started has a copy of the file, and with it the lock, unless the lock is
        // released explicitly.
        let _ = self.file.unlock();
    }
}

/// Locks the file, or returns `None` after the time limit. The system has no wait with a time limit, so that a thread
/// waits; after the limit it releases the lock as soon as it gets it.
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

/// Whether an active process holds the lock of this run.
pub(super) fn is_alive(dir: &Path, run_id: Uuid) -> bool {
    let Ok(file) = File::open(lock_path(dir, &run_id.to_string())) else { return false };
    // A shared lock, so that two readers do not block each other.
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
        // As in a child process between fork and exec.
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
        // The thread that gave up does not keep the lock either.
        assert!(Lock::take(dir.path(), "setup", PATIENCE).is_ok());
    }
}
